internal import ArgumentParser
internal import Tintype

/// The argument that chooses the formats to decode in separate processes.
struct IsolationArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Decode these formats in a process without network and files; the default is SVG, PDF, camera files, HEIC, and JPEG XL.",
            valueName: "formats"))
    var isolate = Choice.default

    enum Choice: String, ExpressibleByArgument, CaseIterable {
        case `default`, all, none
    }

    /// The coders of the command.
    var coders: ImageCoders {
        switch isolate {
        case .default: return .default
        case .none: return .inProcess
        case .all: return .default.isolated(.all)
        }
    }
}
