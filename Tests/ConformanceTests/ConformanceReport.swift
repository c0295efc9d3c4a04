import Foundation
import Tintype

/// Writes a line for each file that was checked into the file that `TINTYPE_CONFORMANCE_REPORT` names, for a table: format,
/// `passed`, `decided`, `failed` or `refused`, path, and what is not as expected, with tabs between.
enum ConformanceReport {
    private static let lock = NSLock()
    private static let output: FileHandle? = ProcessInfo.processInfo.environment["TINTYPE_CONFORMANCE_REPORT"].flatMap {
        FileHandle(forWritingAtPath: $0)
    }

    static func add(_ file: CorpusFile, _ outcome: String, _ problems: [String] = []) {
        let problem = problems.joined(separator: "; ").map { $0 == "\t" || $0.isNewline ? " " : String($0) }.joined()
        let line = "\(file["format"])\t\(outcome)\t\(file.path)\t\(problem)\n"
        lock.withLock {
            _ = try? output?.seekToEnd()
            try? output?.write(contentsOf: Data(line.utf8))
        }
    }
}
