import ArgumentParser
import Foundation
import Tintype

@testable import CommandSupport
@testable import TintypeCommand
@testable import TintypeDemo

/// A console that keeps what is written.
final class Transcript: Sendable {
    private let written = Lock((output: "", errors: ""))

    var output: [String] { Self.lines(written.withLock { $0.output }) }
    var errors: [String] { Self.lines(written.withLock { $0.errors }) }
    var rawErrors: String { written.withLock { $0.errors } }

    func console(isInteractive: Bool = false, width: Int = 80) -> Console {
        Console(
            isInteractive: isInteractive, width: width,
            output: { [written] text in written.withLock { $0.output += text } },
            errors: { [written] text in written.withLock { $0.errors += text } })
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
    }
}

/// The command that arguments ask for.
func command<Command: ParsableCommand>(_ type: Command.Type, _ arguments: String...) throws -> Command {
    try required(TintypeTool.parseAsRoot(arguments) as? Command)
}

/// The command of `tintype-demo` that arguments ask for.
func demo<Command: ParsableCommand>(_ type: Command.Type, _ arguments: String...) throws -> Command {
    try required(DemoTool.parseAsRoot(arguments) as? Command)
}

/// The exit status with which arguments are refused; 0 if they are taken.
func refusal(_ arguments: [String], by root: any ParsableCommand.Type = TintypeTool.self) -> Int32 {
    do {
        _ = try root.parseAsRoot(arguments)
        return 0
    } catch {
        return root.exitCode(for: error).rawValue
    }
}

/// The exit status that a command ends with.
func status(_ body: () async throws -> Void) async -> Int32 {
    do {
        try await body()
        return 0
    } catch {
        return TintypeTool.exitCode(for: error).rawValue
    }
}

struct WrongCommand: Error {}

func required<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw WrongCommand() }
    return value
}

/// One line of JSON as a dictionary.
func object(_ line: String) throws -> [String: Any] {
    try required(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
}

/// A small picture of many colors.
func picture(width: Int = 48, height: Int = 32, alpha: Bool = false) throws -> Image {
    let buffer = try MutablePixelBuffer(size: PixelSize(width: width, height: height))
    for y in 0..<height {
        let row = buffer.row(y).assumingMemoryBound(to: UInt8.self)
        for x in 0..<width {
            row[x * 4] = UInt8(x * 255 / width)
            row[x * 4 + 1] = UInt8(y * 255 / height)
            row[x * 4 + 2] = 0
            row[x * 4 + 3] = 255
            if alpha, x < width / 2 { for component in 0..<4 { row[x * 4 + component] = 0 } }
        }
    }
    return Image(pixels: buffer.freeze()).with { $0.hasAlpha = alpha }
}

/// Frames that differ.
func animation(frames count: Int = 4) throws -> Image {
    var frames: [ImageFrame] = []
    for index in 0..<count {
        let buffer = try MutablePixelBuffer(size: PixelSize(width: 24, height: 16))
        for y in 0..<16 {
            for x in 0..<24 {
                let color = SIMD4<UInt8>(x / 6 == index ? 250 : 20, UInt8(y * 15), 90, 255)
                buffer.row(y).storeBytes(of: color, toByteOffset: x * 4, as: SIMD4<UInt8>.self)
            }
        }
        frames.append(ImageFrame(pixels: buffer.freeze(), duration: .milliseconds(40 + index * 10)))
    }
    return try required(Image(frames: frames)).with { $0.hasAlpha = false }
}

/// Files, to see that nothing else was left.
func names(in directory: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
}
