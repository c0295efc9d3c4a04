// swift-tools-version: 6.2
import PackageDescription

// A package of its own, because it needs the trait SVG.
let package = Package(
    name: "isolation-speed",
    dependencies: [.package(name: "tintype", path: "../..", traits: ["SVG"])],
    targets: [
        .executableTarget(
            name: "IsolationSpeed",
            dependencies: [
                .product(name: "Tintype", package: "tintype"), .product(name: "TintypeTesting", package: "tintype"),
            ])
    ]
)
