// swift-tools-version: 6.2
import PackageDescription

// What the caches are compared with: other policies, and the bare calls that their speed is measured by. Animations beside bare
// decoding, too. A package without HTTP, which is most of the build.
let package = Package(
    name: "tintype-cache-policies",
    dependencies: [.package(name: "tintype", path: "../..", traits: [])],
    targets: [
        .executableTarget(name: "CachePolicies", dependencies: [.product(name: "Tintype", package: "tintype")]),
        .testTarget(name: "CachePoliciesTests", dependencies: ["CachePolicies"]),
        // Counts what is taken from the heap.
        .target(name: "CAllocations"),
        .executableTarget(
            name: "CacheSpeed", dependencies: [.product(name: "Tintype", package: "tintype"), "CAllocations"]),
        .executableTarget(name: "AnimationSpeed", dependencies: [.product(name: "Tintype", package: "tintype")]),
    ]
)
