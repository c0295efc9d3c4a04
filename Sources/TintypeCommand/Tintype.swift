internal import ArgumentParser
internal import Logging

/// The command `tintype`: what the library does, from a shell.
@main
struct TintypeTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tintype",
        abstract: "Loads, inspects, converts and caches images.",
        discussion: """
            Exit status: 0 if all went well, 1 if an image failed (the others are done all the same), 64 for wrong \
            usage, 130 after Ctrl-C.
            """,
        version: "0.1.0",
        subcommands: commands)

    static func main() async {
        // The library logs what the command says itself, each error once and in one line.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        await main(nil)
    }

    private static var commands: [any ParsableCommand.Type] {
        var all: [any ParsableCommand.Type] = [
            FetchCommand.self, InfoCommand.self, ConvertCommand.self, CacheCommand.self, BenchCommand.self,
        ]
        #if HTTP
        all.insert(DemoCommand.self, at: 4)
        #endif
        return all
    }
}
