internal import CoreMetrics

/// The counters and timers of loads: ``ImageManager/Configuration-swift.struct/metrics``.
final class LoadMeters: Sendable {
    /// The end of a load.
    enum LoadResult: String, CaseIterable { case memory, disk, network, notCached = "not-cached", failed, cancelled }
    /// The end of a transfer.
    enum DownloadResult: String, CaseIterable { case loaded, current, failed }

    private let loads: [LoadResult: Counter]
    private let shared: Counter
    private let duration: Timer
    private let downloads: [DownloadResult: Counter]
    private let bytes: Counter
    private let stages: [LoadStage: (duration: Timer, queued: Timer)]

    init(factory: any MetricsFactory) {
        func counter(_ name: String, _ dimensions: (String, String)...) -> Counter {
            Counter(label: "tintype." + name, dimensions: dimensions, factory: factory)
        }
        func timer(_ name: String, _ dimensions: (String, String)...) -> Timer {
            Timer(label: "tintype." + name, dimensions: dimensions, factory: factory)
        }
        loads = Dictionary(
            uniqueKeysWithValues: LoadResult.allCases.map { ($0, counter("loads", ("result", $0.rawValue))) })
        shared = counter("loads.shared")
        duration = timer("load.duration")
        downloads = Dictionary(
            uniqueKeysWithValues: DownloadResult.allCases.map { ($0, counter("downloads", ("result", $0.rawValue))) })
        bytes = counter("download.bytes")
        stages = Dictionary(
            uniqueKeysWithValues: LoadStage.allCases.map { stage in
                let dimension = ("stage", stage.rawValue)
                return (stage, (timer("stage.duration", dimension), timer("stage.queued", dimension)))
            })
    }

    func countMemoryHit() { loads[.memory]?.increment() }

    func record(_ result: LoadResult, after time: Duration, isShared: Bool) {
        loads[result]?.increment()
        if isShared { shared.increment() }
        duration.recordNanoseconds(time.inNanoseconds)
    }

    func record(_ result: DownloadResult, bytes count: Int) {
        downloads[result]?.increment()
        if count > 0 { bytes.increment(by: count) }
    }

    func record(_ stage: LoadStage, _ time: StageTime) {
        stages[stage]?.duration.recordNanoseconds(time.total.inNanoseconds)
        stages[stage]?.queued.recordNanoseconds(time.queued.inNanoseconds)
    }
}
