internal import ArgumentParser
internal import CommandSupport
internal import Logging

/// The command `tintype`, which makes the library usable from a shell.
@main
struct TintypeTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tintype",
        abstract: "Load, inspect, convert, and cache images.",
        discussion: """
            Exit status: 0 for success, 1 if an image failed (the others are still processed) or if results could not be \
            written, and 64 for wrong usage. If a signal ends the command, it tidies up first, and shells report 128 plus the \
            signal's number, such as 130 after Ctrl-C.
            """,
        version: "0.1.0",
        subcommands: [
            FetchCommand.self, PrefetchCommand.self, InfoCommand.self, ShowCommand.self, ConvertCommand.self,
            HashCommand.self, UnhashCommand.self, CacheCommand.self,
        ])

    static func main() async {
        StandardOutput.reserveDescriptors()
        // The command reports each error itself, once and on a single line.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        await run(arguments: HeaderFields.separated(Array(CommandLine.arguments.dropFirst())))
        if StandardOutput.hasFailed { exit(withError: ExitCode(1)) }
    }

    /// Runs the command that arguments ask for. Ends the process if it fails, or if help was asked for.
    static func run(arguments: [String]) async {
        do {
            var command = try await asyncParseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            var (status, error) = (exitCode(for: error), error)
            if status.isSuccess {
                guard let name = HeaderFields.mistakenForHelp(arguments) else { exit(withError: error) }
                (status, error) = (.validationFailure, ValidationError("Unknown option '\(name)'"))
            }
            // The parser repeats arguments as they are: names of files with control characters, too.
            let message = fullMessage(for: error)
            if !message.isEmpty {
                let lines = message.split(separator: "\n", omittingEmptySubsequences: false)
                for line in lines { Console.standard.note(String(line)) }
            }
            exit(withError: status)
        }
    }
}
