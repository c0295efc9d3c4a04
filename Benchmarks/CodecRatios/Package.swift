// swift-tools-version: 6.2
import PackageDescription

// What decoding costs beside bare loops in C around the same libraries. Takes Tintype without HTTP.
let package = Package(
    name: "tintype-codec-ratios",
    dependencies: [.package(name: "tintype", path: "../..", traits: [])],
    targets: [
        .target(name: "CLoops", linkerSettings: [.linkedLibrary("jpeg"), .linkedLibrary("png16")]),
        .executableTarget(
            name: "CodecRatios", dependencies: ["CLoops", .product(name: "Tintype", package: "tintype")]),
    ]
)
