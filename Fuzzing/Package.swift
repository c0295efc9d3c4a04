// swift-tools-version: 6.2
import PackageDescription

/// Feeds the coders with bytes that libFuzzer makes up. Built and run by `scripts/fuzz`, which has the flags that this takes.
let package = Package(
    name: "fuzzing",
    products: [.executable(name: "Fuzz", targets: ["Fuzz"])],
    dependencies: [
        .package(name: "tintype", path: "..", traits: ["AVIF", "HEIF", "JXL", "TIFF", "SVG", "PDF", "RAW"])
    ],
    targets: [
        .target(name: "CFuzzer"),
        // A link to the tests' own, as is ThumbnailCoefficients.swift.
        .target(name: "CJPEGCoefficients"),
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                "CFuzzer", "CJPEGCoefficients", .product(name: "Tintype", package: "tintype"),
                .product(name: "TintypeTesting", package: "tintype"),
            ]),
    ]
)
