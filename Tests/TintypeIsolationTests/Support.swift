import Foundation
import Glibc
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import TintypeIsolation

/// The helper whose decoder misbehaves as its file says.
enum Helper {
    static var path: String {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(filePath: program).deletingLastPathComponent().appending(path: "TestDecoder").path
    }
}

extension DecoderIsolation {
    /// Tests may have little of the processor.
    static func patient(_ change: (inout DecoderIsolation) -> Void = { _ in }) -> DecoderIsolation {
        var isolation = DecoderIsolation()
        isolation.timeLimit = .seconds(300)
        isolation.smallFileTimeLimit = .seconds(300)
        isolation.startLimit = .seconds(300)
        change(&isolation)
        return isolation
    }
}

/// An isolated coder of SVG in front of ``Helper``.
struct IsolatedBench {
    let pool: WorkerPool
    let coder: IsolatedCoder<StandInCoder>

    init(longestUse: Duration = .seconds(300), _ change: (inout DecoderIsolation) -> Void = { _ in }) {
        let isolation = DecoderIsolation.patient {
            $0.helper = Helper.path
            change(&$0)
        }
        pool = WorkerPool(isolation, longestUse: longestUse)
        coder = IsolatedCoder(base: StandInCoder(), pool: pool)
    }

    /// Decodes a "file", which is the name of a misdeed.
    func decode(
        _ misdeed: String, options: DecodeOptions = DecodeOptions(), context: ProcessingContext = ProcessingContext()
    ) throws(ImageError) -> Image {
        try coder.decode(Data(misdeed.utf8), options: options, context: context)
    }

    func failure(
        _ misdeed: String, options: DecodeOptions = DecodeOptions(), context: ProcessingContext = ProcessingContext()
    ) -> ImageError? {
        do throws(ImageError) {
            _ = try decode(misdeed, options: options, context: context)
            return nil
        } catch {
            return error
        }
    }
}

/// Stands for SVG in this process, where it must not decode.
struct StandInCoder: AnimatedImageCoder {
    var decodableFormats: Set<ImageFormat> { [.svg] }

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { true }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo { throw Self.failure }

    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        throw Self.failure
    }

    func frameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any FrameDecoder { throw Self.failure }

    private static let failure = ImageError(.corruptImage, stage: .decode, reason: "decoded in this process")
}

/// What the system knows about this process.
enum ThisProcess {
    static var descriptors: Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0 }

    static func state(of process: Int32) -> String? {
        try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    }

    /// True unless a process has ended.
    static func isRunning(_ process: Int32) -> Bool { state(of: process).map { !$0.contains(") Z ") } ?? false }

    static func threads(of process: Int32) -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task").count) ?? 0
    }

    static var residentBytes: Int {
        let numbers = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        return numbers.count > 1 ? (Int(numbers[1]) ?? 0) * Int(getpagesize()) : 0
    }
}
