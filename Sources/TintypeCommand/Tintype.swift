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
            written, 64 for wrong usage, and 128 plus the number of the signal that ended the command, such as 130 after \
            Ctrl-C.
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
        // Ends the process if the command fails.
        await main(HeaderFields.separated(Array(CommandLine.arguments.dropFirst())))
        if StandardOutput.hasFailed { exit(withError: ExitCode(1)) }
    }
}
