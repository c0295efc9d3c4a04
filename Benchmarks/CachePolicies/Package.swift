// swift-tools-version: 6.2
import PackageDescription

// The policies that were compared, and what they are compared with. Only two of them are in the library, which this
// package takes without HTTP.
let package = Package(
    name: "tintype-cache-policies",
    dependencies: [.package(name: "tintype", path: "../..", traits: [])],
    targets: [
        .executableTarget(name: "CachePolicies", dependencies: [.product(name: "Tintype", package: "tintype")])
    ]
)
