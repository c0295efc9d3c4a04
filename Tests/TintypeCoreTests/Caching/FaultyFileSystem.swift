import Foundation

@testable import TintypeCore

/// The real files, where a test can let any call fail.
final class FaultyFileSystem: CacheFileSystem {
    private let real = PosixFileSystem()
    private let fault = Lock<@Sendable (_ operation: String, _ path: String) -> Int32?>({ _, _ in nil })

    /// Lets calls fail for which the closure gives an error number.
    func fail(_ fault: @escaping @Sendable (_ operation: String, _ path: String) -> Int32?) {
        self.fault.withLock { $0 = fault }
    }

    private func check(_ operation: String, _ path: String) throws(FileError) {
        let fault = fault.withLock { $0 }
        if let code = fault(operation, path) { throw FileError(operation: operation, path: path, code: code) }
    }

    func create(_ path: String, parts: [Data]) throws(FileError) {
        try check("write", path)
        try real.create(path, parts: parts)
    }
    func read(_ path: String, count: Int, fileSize: Int) throws(FileError) -> Data {
        try check("read", path)
        return try real.read(path, count: count, fileSize: fileSize)
    }
    func contents(_ path: String, withoutWaiting limit: Int?) throws(FileError) -> FileBytes? {
        try check("read", path)
        return try real.contents(path, withoutWaiting: limit)
    }
    func read(_ path: String, from offset: Int, count: Int) throws(FileError) -> Data {
        try check("read", path)
        return try real.read(path, from: offset, count: count)
    }
    func foreignFile(_ path: String, limit: Int) throws(FileError) -> ForeignFile? {
        try check("read", path)
        return try real.foreignFile(path, limit: limit)
    }
    func remove(_ path: String) throws(FileError) {
        try check("remove", path)
        try real.remove(path)
    }
    func makeDirectory(_ path: String) throws(FileError) {
        try check("create directory", path)
        try real.makeDirectory(path)
    }
    func removeDirectory(_ path: String) throws(FileError) { try real.removeDirectory(path) }
    func rename(_ path: String, to newPath: String) throws(FileError) {
        try check("rename", path)
        try real.rename(path, to: newPath)
    }
    func list(_ path: String) throws(FileError) -> [String] { try real.list(path) }
    func status(_ path: String) throws(FileError) -> FileStatus { try real.status(path) }
    func linkStatus(_ path: String) throws(FileError) -> FileStatus { try real.linkStatus(path) }
    func freeSpace(_ path: String) throws(FileError) -> Int {
        // The number of a fault is the free space in bytes.
        if let space = fault.withLock({ $0 })("free space", path) { return Int(space) }
        return try real.freeSpace(path)
    }
    func isLocal(_ path: String) -> Bool { fault.withLock({ $0 })("is local", path) == nil && real.isLocal(path) }
}
