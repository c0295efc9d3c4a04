// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "thumbnail-server",
    dependencies: [
        .package(name: "tintype", path: "../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.0"),
    ],
    targets: [
        .executableTarget(
            name: "ThumbnailServer",
            dependencies: [
                .product(name: "Tintype", package: "tintype"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ])
    ]
)
