internal import ArgumentParser
internal import CommandSupport
internal import Logging

/// The command `tintype-demo`, which shows the library at work and measures it.
@main
struct DemoTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tintype-demo",
        abstract: "Show Tintype at work.",
        subcommands: commands, defaultSubcommand: commands.first)

    static func main() async {
        StandardOutput.reserveDescriptors()
        // The command reports each error itself, once and on a single line.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        // Ends the process if the command fails.
        await main(nil)
        if StandardOutput.hasFailed { exit(withError: ExitCode(1)) }
    }

    private static var commands: [any ParsableCommand.Type] {
        #if HTTP
        [DemoCommand.self, TransformersCommand.self, BenchCommand.self]
        #else
        [TransformersCommand.self, BenchCommand.self]
        #endif
    }
}
