// swift-tools-version: 6.2
import PackageDescription

// What decoding costs beside bare loops in C around the same libraries. Takes Tintype without HTTP, with AVIF and JPEG XL.
let package = Package(
    name: "tintype-codec-ratios",
    dependencies: [.package(name: "tintype", path: "../..", traits: ["AVIF", "JXL"])],
    targets: [
        .target(
            name: "CLoops",
            linkerSettings: ["jpeg", "png16", "webp", "gif", "avif", "jxl"].map { .linkedLibrary($0) }),
        .executableTarget(
            name: "CodecRatios", dependencies: ["CLoops", .product(name: "Tintype", package: "tintype")]),
    ]
)
