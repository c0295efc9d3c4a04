internal import FoundationEssentials
internal import Glibc

/// The contents of a file, in memory that is freed with it or goes over into a `Data`.
struct FileBytes: ~Copyable {
    private let memory: UnsafeMutableRawPointer
    let count: Int

    /// - Parameter memory: `count` bytes from `malloc`.
    init(memory: UnsafeMutableRawPointer, count: Int) {
        self.memory = memory
        self.count = count
    }

    deinit { free(memory) }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(start: memory, count: count))
    }

    /// The first bytes, without a copy.
    consuming func data(prefix count: Int) -> Data {
        let data = Data(bytesNoCopy: memory, count: min(count, self.count), deallocator: .free)
        discard self
        return data
    }
}
