// swift-tools-version: 6.2
import PackageDescription

/// Formats and parts that a program may leave out, with what each of them brings in. A format whose trait is off is
/// still recognised, and the error names the trait.
let traits: Set<Trait> = [
    .trait(name: "HTTP", description: "Loading over http and https with AsyncHTTPClient"),
    .trait(name: "AVIF", description: "AVIF and its image sequences through libavif"),
    .trait(name: "HEIF", description: "HEIF, HEIC and their sequences through libde265, written through libheif"),
    .trait(name: "JXL", description: "JPEG XL through libjxl"),
    .trait(name: "TIFF", description: "TIFF through libtiff"),
    .trait(name: "SVG", description: "SVG through librsvg"),
    .trait(name: "PDF", description: "The first page of a PDF through Poppler"),
    .trait(name: "RAW", description: "Camera files through libraw"),
    .trait(name: "GTK", description: "Widgets for GTK 4"),
    .default(enabledTraits: ["HTTP"]),
]

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// - Parameter pkgConfig: only where the headers are outside the compiler's own search path.
func system(_ name: String, apt: String, pkgConfig: String? = nil) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt])])
}

/// A C library that only the coder of a trait needs. With the trait off its headers need not be there.
func library(_ name: String, for trait: String) -> Target.Dependency {
    .target(name: name, condition: .when(traits: [trait]))
}

let http: TargetDependencyCondition? = .when(traits: ["HTTP"])

let package = Package(
    name: "tintype",
    products: [
        .library(name: "Tintype", targets: ["Tintype"]),
        // Decoding, transforming and encoding, without loading: no logging and no network.
        .library(name: "TintypeImaging", targets: ["TintypeImages", "TintypeCodecs"]),
        .library(name: "TintypeTesting", targets: ["TintypeTesting"]),
        .library(name: "TintypeGTK", targets: ["TintypeGTK"]),
        // The functions of GTK itself.
        .library(name: "CGTK", targets: ["CGTK"]),
        .executable(name: "tintype", targets: ["TintypeCommand"]),
        .executable(name: "tintype-demo", targets: ["TintypeDemo"]),
        .executable(name: "tintype-gallery", targets: ["TintypeGallery"]),
    ],
    traits: traits,
    dependencies: [
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.90.0"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.38.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.30.0"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.30.0"),
        .package(url: "https://github.com/swiftlang/swift-docc-plugin.git", from: "1.4.0"),
    ],
    targets: [
        // C libraries, and the few lines of C that Swift cannot say.
        system("CJPEG", apt: "libjpeg62-turbo-dev"),
        system("CPNG", apt: "libpng-dev"),
        system("CZlib", apt: "zlib1g-dev"),
        system("CBrotli", apt: "libbrotli-dev"),
        system("CZstd", apt: "libzstd-dev"),
        system("CDeflate", apt: "libdeflate-dev"),
        system("CGIF", apt: "libgif-dev"),
        system("CWebP", apt: "libwebp-dev"),
        system("CLCMS2", apt: "liblcms2-dev"),
        system("CXXHash", apt: "libxxhash-dev"),
        system("CAVIF", apt: "libavif-dev"),
        system("CHEIF", apt: "libheif-dev"),
        system("CDE265", apt: "libde265-dev"),
        system("CJXL", apt: "libjxl-dev"),
        system("CTIFF", apt: "libtiff-dev"),
        system("CCairo", apt: "libcairo2-dev", pkgConfig: "cairo"),
        system("CRSVG", apt: "librsvg2-dev", pkgConfig: "librsvg-2.0"),
        system("CXML", apt: "libxml2-dev", pkgConfig: "libxml-2.0"),
        system("CPoppler", apt: "libpoppler-glib-dev", pkgConfig: "poppler-glib"),
        system("CLibRaw", apt: "libraw-dev"),
        system("CGTK", apt: "libgtk-4-dev", pkgConfig: "gtk4"),
        .systemLibrary(name: "CLinux"),
        .target(name: "CJPEGShim", dependencies: ["CJPEG"]),
        .target(name: "CPNGShim", dependencies: ["CPNG"]),
        .target(
            name: "CGTKShim", dependencies: [library("CGTK", for: "GTK")],
            cSettings: [.define("TINTYPE_GTK", .when(traits: ["GTK"]))]),
        .target(name: "CKernels"),
        .target(name: "CUnfilter"),
        .target(name: "CIsolation"),

        // The library, lowest first.
        .target(
            name: "TintypeImages", dependencies: ["CLinux", "CKernels", "CXXHash"], swiftSettings: settings),
        .target(
            name: "TintypeCaching",
            dependencies: [
                "TintypeImages", "CLinux", "CXXHash", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "TintypeLoading",
            dependencies: [
                "TintypeCaching",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings),
        .target(name: "TintypeDisplay", dependencies: ["TintypeLoading"], swiftSettings: settings),
        .target(
            name: "TintypeCodecs",
            dependencies: [
                "TintypeImages", "CKernels", "CJPEG", "CJPEGShim", "CPNG", "CPNGShim", "CZlib", "CDeflate", "CUnfilter",
                "CGIF",
                "CWebP", "CLCMS2",
                library("CAVIF", for: "AVIF"), library("CHEIF", for: "HEIF"), library("CDE265", for: "HEIF"),
                library("CJXL", for: "JXL"), library("CBrotli", for: "JXL"), library("CTIFF", for: "TIFF"),
                library("CRSVG", for: "SVG"),
                library("CXML", for: "SVG"),
                library("CPoppler", for: "PDF"), library("CLibRaw", for: "RAW"),
                .target(name: "CCairo", condition: .when(traits: ["SVG", "PDF"])),
            ],
            swiftSettings: settings),
        .target(
            name: "TintypeHTTP",
            dependencies: [
                "TintypeLoading", "CLinux", library("CZlib", for: "HTTP"), library("CBrotli", for: "HTTP"),
                library("CZstd", for: "HTTP"),
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: http),
                .product(name: "NIOCore", package: "swift-nio", condition: http),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: http),
                .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: http),
                .product(name: "NIOHPACK", package: "swift-nio-http2", condition: http),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: http),
            ],
            swiftSettings: settings),
        .target(
            name: "TintypeIsolation", dependencies: ["TintypeImages", "CIsolation"], swiftSettings: settings),
        .target(
            name: "Tintype",
            dependencies: [
                "TintypeDisplay", "TintypeCodecs", "TintypeIsolation", .target(name: "TintypeHTTP", condition: http),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "TintypeGTK",
            dependencies: ["Tintype", library("CGTK", for: "GTK"), library("CGTKShim", for: "GTK")],
            swiftSettings: settings),
        .target(
            name: "TintypeTesting",
            dependencies: [
                "Tintype",
                .product(name: "NIOCore", package: "swift-nio", condition: http),
                .product(name: "NIOPosix", package: "swift-nio", condition: http),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: http),
                .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: http),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: http),
            ],
            swiftSettings: settings),
        .target(
            name: "CommandSupport",
            dependencies: ["Tintype", .product(name: "ArgumentParser", package: "swift-argument-parser")],
            swiftSettings: settings),
        .executableTarget(
            name: "TintypeCommand",
            dependencies: [
                "Tintype", "CommandSupport", "CLinux",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        // A target of its own, so that the command doesn't link the test server.
        .executableTarget(
            name: "TintypeDemo",
            dependencies: [
                "Tintype", "TintypeTesting", "CommandSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "TintypeGallery",
            dependencies: [
                "Tintype", "TintypeGTK", "TintypeTesting", library("CGTK", for: "GTK"),
            ],
            path: "Examples/Gallery"),
        // The program of the tutorial.
        .executableTarget(
            name: "PictureBrowser", dependencies: ["Tintype", "TintypeGTK", library("CGTK", for: "GTK")],
            path: "Examples/PictureBrowser"),
        .executableTarget(
            name: "FirstWindow", dependencies: ["Tintype", "TintypeGTK", library("CGTK", for: "GTK")],
            path: "Examples/FirstWindow"),

        // Traits of tests: capability ids and the time limit.
        .target(
            name: "TestSupport", dependencies: ["TintypeImages"], path: "Tests/TestSupport", swiftSettings: settings),
        // A process that tests of the disk cache kill.
        .executableTarget(
            name: "CacheWriter", dependencies: ["TintypeCaching", "TintypeTesting"], path: "Tests/CacheWriter"),
        // Loaders, coders, and caches that tests of several targets use.
        .target(
            name: "TestDoubles", dependencies: ["TintypeLoading", "TintypeTesting"], path: "Tests/TestDoubles",
            swiftSettings: settings),
        .testTarget(
            name: "TintypeImagesTests",
            dependencies: ["TintypeImages", "TintypeTesting", "TestDoubles", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "TintypeCachingTests",
            dependencies: [
                "TintypeCaching", "TintypeTesting", "TestDoubles", "TestSupport", "CacheWriter",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "TintypeLoadingTests",
            dependencies: [
                "TintypeLoading", "TintypeTesting", "TestDoubles", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "TintypeDisplayTests",
            dependencies: ["TintypeDisplay", "TintypeTesting", "TestDoubles", "TestSupport"],
            swiftSettings: settings),
        // A process that tests of downloads kill, and whose memory they measure.
        .executableTarget(
            name: "DownloadHelper", dependencies: ["TintypeHTTP", "TintypeTesting"], path: "Tests/DownloadHelper",
            swiftSettings: settings),
        // Encodes the sequences that tests of HEIF read.
        .systemLibrary(name: "CX265", path: "Tests/CX265", providers: [.apt(["libx265-dev"])]),
        // Reads the coefficients of JPEG files with libjpeg.
        .target(name: "CJPEGCoefficients", dependencies: ["CJPEG"], path: "Tests/CJPEGCoefficients"),
        .testTarget(
            name: "TintypeCodecsTests",
            dependencies: [
                "TintypeCodecs", "CKernels", "CJPEGCoefficients", "TintypeTesting", "TestSupport",
                library("CX265", for: "HEIF"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "TintypeHTTPTests",
            dependencies: [
                "TintypeHTTP", "TintypeTesting", "TestSupport", "DownloadHelper",
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: http),
                .product(name: "NIOCore", package: "swift-nio", condition: http),
                .product(name: "NIOPosix", package: "swift-nio", condition: http),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: http),
                .product(name: "NIOEmbedded", package: "swift-nio", condition: http),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: http),
                .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: http),
                .product(name: "NIOHPACK", package: "swift-nio-http2", condition: http),
            ],
            swiftSettings: settings),
        // A helper of isolated decoding whose decoder misbehaves as its file says.
        .executableTarget(
            name: "TestDecoder", dependencies: ["TintypeImages", "TintypeIsolation"], path: "Tests/TestDecoder",
            swiftSettings: settings),
        // Changes of the process that runs a test.
        .target(name: "CTestProcess", path: "Tests/CTestProcess"),
        .testTarget(
            name: "TintypeIsolationTests",
            dependencies: [
                "Tintype", "TintypeIsolation", "CIsolation", "TintypeTesting", "TestSupport", "TestDecoder",
                "CTestProcess",
            ],
            swiftSettings: settings),
        // A program of its own: the main actor of Swift Testing is not on the first thread, which GTK needs.
        .executableTarget(
            name: "TintypeGTKTests",
            dependencies: [
                "Tintype", "TintypeGTK", "TintypeTesting", library("CGTK", for: "GTK"),
                library("CGTKShim", for: "GTK"),
            ],
            path: "Tests/TintypeGTKTests", swiftSettings: settings),
        .testTarget(
            name: "ConformanceTests", dependencies: ["Tintype", "TestSupport", "CLinux"], swiftSettings: settings),
        .testTarget(
            name: "TintypeTests",
            dependencies: [
                "Tintype", "TintypeTesting", "TestSupport", .product(name: "Logging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings),
        // The code of the documentation, which sees what a user's does.
        .testTarget(
            name: "SnippetTests",
            dependencies: [
                "Tintype", "TintypeTesting", "TestSupport", .product(name: "Logging", package: "swift-log"),
            ],
            packageAccess: false, swiftSettings: settings),
        .testTarget(
            name: "TintypeCommandTests",
            dependencies: ["TintypeCommand", "TintypeDemo", "CommandSupport", "TintypeTesting", "TestSupport"],
            swiftSettings: settings),
    ]
)

// The sanitizers build and link only what they test: the names of targets of tests and of programs, separated by commas.
if let names = Context.environment["TINTYPE_ONLY_TESTS"]?.split(separator: ",") {
    package.targets.removeAll { [.test, .executable].contains($0.type) && !names.contains($0.name[...]) }
    package.products.removeAll { $0 is Product.Executable }
}

// CI tests optimized libraries, as users run them, in less than half of the time.
if Context.environment["TINTYPE_OPTIMIZED"] != nil {
    for target in package.targets where target.type == .regular {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-O"])]
        target.cSettings = (target.cSettings ?? []) + [.unsafeFlags(["-O2"])]
    }
}
