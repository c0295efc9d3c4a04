// swift-tools-version: 6.2
import PackageDescription

// A smoke run does without the network, whose libraries take most of a build.
let hasNetwork = Context.environment["BENCHMARK_SMOKE"] == nil

// A package of its own, so that who uses Tintype does not build a benchmark runner.
let package = Package(
    name: "tintype-benchmarks",
    dependencies: [
        .package(name: "tintype", path: "..", traits: hasNetwork ? [.defaults] : []),
        .package(url: "https://github.com/ordo-one/benchmark.git", from: "1.38.1", traits: []),
    ] + (hasNetwork ? [.package(url: "https://github.com/swift-server/async-http-client.git", from: "1.30.0")] : []),
    targets: [
        .executableTarget(
            name: "TintypeBenchmarks",
            dependencies: [
                "BenchmarkPictures",
                .product(name: "Tintype", package: "tintype"),
                .product(name: "TintypeTesting", package: "tintype"),
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Benchmarks/TintypeBenchmarks",
            exclude: hasNetwork ? [] : ["LoadBenchmarks.swift"],
            swiftSettings: hasNetwork ? [.define("NETWORK")] : [],
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
        // What scripts/download-speed runs. The plug-in takes each program in a folder right below one named Benchmarks for a benchmark of its own kind.
        .executableTarget(
            name: "DownloadSpeed",
            dependencies: [
                .product(name: "Tintype", package: "tintype"),
                .product(name: "TintypeTesting", package: "tintype"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ],
            path: "DownloadSpeed/Sources"),
        // What scripts/soak runs.
        .executableTarget(
            name: "Soak",
            dependencies: [
                .product(name: "Tintype", package: "tintype"),
                .product(name: "TintypeTesting", package: "tintype"),
            ],
            path: "Soak/Sources"),
        .target(
            name: "BenchmarkPictures", dependencies: [.product(name: "Tintype", package: "tintype")],
            path: "Pictures/Sources"),
        // What scripts/instruction-counts runs.
        .executableTarget(
            name: "InstructionCounts",
            dependencies: ["BenchmarkPictures", .product(name: "Tintype", package: "tintype")],
            path: "InstructionCounts/Sources"),
        // What scripts/cache-speed runs. Here too, so that a smoke run of it needs no other build of Tintype.
        .target(name: "CAllocations", path: "CachePolicies/Sources/CAllocations"),
        .executableTarget(
            name: "CacheSpeed", dependencies: [.product(name: "Tintype", package: "tintype"), "CAllocations"],
            path: "CachePolicies/Sources/CacheSpeed"),
        // What scripts/animation-speed runs.
        .executableTarget(
            name: "AnimationSpeed", dependencies: [.product(name: "Tintype", package: "tintype")],
            path: "CachePolicies/Sources/AnimationSpeed"),
    ]
)

if !hasNetwork {
    package.targets.removeAll { ["DownloadSpeed", "Soak"].contains($0.name) }
}
