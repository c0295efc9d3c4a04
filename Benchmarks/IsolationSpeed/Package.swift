// swift-tools-version: 6.2
import PackageDescription

// A package of its own, because it needs the traits of what it measures.
let package = Package(
    name: "isolation-speed",
    dependencies: [.package(name: "tintype", path: "../..", traits: ["AVIF", "HEIF", "JXL", "SVG"])],
    targets: [
        .executableTarget(
            name: "IsolationSpeed",
            dependencies: [
                .product(name: "Tintype", package: "tintype"), .product(name: "TintypeTesting", package: "tintype"),
            ])
    ]
)
