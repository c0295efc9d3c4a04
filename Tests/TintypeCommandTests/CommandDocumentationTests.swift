import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TintypeCommand

/// Runs `scripts/generate-cli-docs` with the command that was built beside the tests.
@Suite(
    "Completions and the man page", .timeLimited,
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "Python 3 is not installed"))
struct CommandDocumentationTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private static let subcommands = ["fetch", "prefetch", "info", "convert", "hash", "unhash", "cache"]

    private static func tintype() throws -> String {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("tintype").path
    }

    /// Runs a program and waits for its end.
    private func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        return try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { process in
                let output = pipe.fileHandleForReading.readDataToEndOfFile()
                continuation.resume(returning: (process.terminationStatus, String(decoding: output, as: UTF8.self)))
            }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
    }

    private func generate(_ arguments: String...) async throws -> (status: Int32, output: String) {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let script = root.appendingPathComponent("scripts/generate-cli-docs").path
        return try await run("/bin/bash", [script] + arguments, environment: ["TINTYPE": Self.tintype()])
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/share/\(name)")), as: UTF8.self)
    }

    @Test("The script writes completions of three shells and a man page with every subcommand and option")
    func files() async throws {
        let result = try await generate(folder.path)
        #expect(result.status == 0, "\(result.output)")
        let names = [
            "bash-completion/completions/tintype", "zsh/site-functions/_tintype",
            "fish/vendor_completions.d/tintype.fish", "man/man1/tintype.1",
        ]
        for name in names {
            let text = try text(name).replacing("\\-", with: "-")
            for word in Self.subcommands + ["--header", "--jobs", "--resize", "--max-age"] where !name.hasSuffix("fish")
            {
                #expect(text.contains(word), "\(name) \(word)")
            }
        }
        #expect(try text(names[2]).contains("prefetch") && text(names[2]).contains("max-age"))

        let manual = try text(names[3])
        #expect(manual.hasPrefix(".TH TINTYPE 1 \"\" \"tintype 0.1.0\""))
        for line in [
            "tintype \\- load, inspect, convert, and cache images", ".SS \"\\fBtintype convert\\fR \\fI<in>\\fR",
            "\\fB\\-H\\fR, \\fB\\-\\-header\\fR \\fI<name: value>\\fR", ".SS \"\\fBtintype cache clean\\fR",
        ] {
            #expect(manual.contains(line), "\(line)")
        }
        // Every other character is an escape of groff, and no line is taken for a macro by mistake.
        #expect(manual.utf8.allSatisfy { $0 < 128 })
        let macros: Set = [".TH", ".SH", ".SS", ".PP", ".TP"]
        for line in manual.split(separator: "\n") where line.hasPrefix(".") || line.hasPrefix("'") {
            #expect(macros.contains(String(line.prefix { $0 != " " })), "\(line)")
        }
    }

    @Test("Bash completes subcommands and options")
    func bash() async throws {
        _ = try await generate(folder.path)
        let script = """
            source '\(folder.path)/share/bash-completion/completions/tintype'
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
            _tintype tintype "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        func completions(_ words: String...) async throws -> [String] {
            try await run("/bin/bash", ["-c", script, "bash"] + words).output.split(separator: "\n").map {
                String($0).trimmed
            }
        }
        #expect(try await Set(completions("tintype", "pre")).contains("prefetch"))
        #expect(try await completions("tintype", "prefetch", "--he").contains("--header"))
        #expect(try await completions("tintype", "convert", "--fli").contains("--flip"))
    }

    @Test("Without a folder, the script explains itself and writes nothing")
    func wrongUsage() async throws {
        for arguments in ["", "--help"] {
            let result = try await generate(arguments)
            #expect(result.status == 64 && result.output.contains("scripts/generate-cli-docs PREFIX"))
        }
    }
}
