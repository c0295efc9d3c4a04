// swift-tools-version: 6.2
import PackageDescription

// What transformers cost beside Pillow, libvips and OpenCV, and how good their results are. Takes Tintype without HTTP and optional
// formats.
let package = Package(
    name: "tintype-transform-ratios",
    dependencies: [.package(name: "tintype", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "TransformRatios", dependencies: [.product(name: "Tintype", package: "tintype")]),
        .executableTarget(
            name: "TransformFidelity", dependencies: [.product(name: "Tintype", package: "tintype")]),
    ]
)
