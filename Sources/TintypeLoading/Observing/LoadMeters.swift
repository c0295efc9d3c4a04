internal import CoreMetrics

/// The counters and timers of loads: ``ImageManager/Configuration-swift.struct/metrics``.
final class LoadMeters: Sendable {
    /// The end of a load.
    enum LoadResult: String, CaseIterable { case memory, disk, network, notCached = "not-cached", failed, cancelled }
    /// The end of a transfer.
    enum DownloadResult: String, CaseIterable { case loaded, current, failed }

    private let loads: [LoadResult: Counter]
    private let memoryHits: Counter
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
        memoryHits = counter("loads", ("result", LoadResult.memory.rawValue))
        var loads = [LoadResult.memory: memoryHits]
        for result in LoadResult.allCases where result != .memory {
            loads[result] = counter("loads", ("result", result.rawValue))
        }
        self.loads = loads
        shared = counter("loads.shared")
        duration = timer("load.duration")
        var downloads: [DownloadResult: Counter] = [:]
        for result in DownloadResult.allCases { downloads[result] = counter("downloads", ("result", result.rawValue)) }
        self.downloads = downloads
        bytes = counter("download.bytes")
        var stages: [LoadStage: (duration: Timer, queued: Timer)] = [:]
        for stage in LoadStage.allCases {
            stages[stage] = (
                timer("stage.duration", ("stage", stage.rawValue)), timer("stage.queued", ("stage", stage.rawValue))
            )
        }
        self.stages = stages
    }

    func countMemoryHit() { memoryHits.increment() }

    func record(_ result: LoadResult, after time: Duration, isShared: Bool) {
        loads[result]?.increment()
        if isShared { shared.increment() }
        duration.recordNanoseconds(time.inNanoseconds)
    }

    func record(_ result: DownloadResult, bytes count: Int = 0) {
        downloads[result]?.increment()
        if count > 0 { bytes.increment(by: count) }
    }

    func record(_ stage: LoadStage, _ time: StageTime) {
        stages[stage]?.duration.recordNanoseconds(time.total.inNanoseconds)
        stages[stage]?.queued.recordNanoseconds(time.queued.inNanoseconds)
    }
}
