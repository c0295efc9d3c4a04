#if HTTP
internal import ArgumentParser
internal import CommandSupport
internal import FoundationEssentials
internal import Glibc
internal import Tintype
internal import TintypeTesting

/// `tintype-demo show`
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Load images from the network, disk, and memory, and make a contact sheet.",
        discussion: """
            Without arguments, the command draws sample images in every format and serves them over HTTP on this computer. \
            With a folder, it serves the images in the folder and its subfolders, and no other files. All images are \
            loaded as thumbnails: cold from the network, warm from disk with a new manager, and hot from memory. The \
            contact sheet is written as a PNG and as a page that opens without a server. Nothing else is left behind.

            Exit status: 0 if all images loaded, 1 if one failed, 64 for wrong usage, 130 after Ctrl-C.
            """)

    @Argument(help: ArgumentHelp("A folder of images, or URLs.", valueName: "dir | url"), completion: .directory)
    var sources: [String] = []

    @Option(
        help: ArgumentHelp(
            "The folder for the contact sheet, which is created if it doesn't exist.", valueName: "dir"),
        completion: .directory)
    var out = "demo-out"

    @Option(help: ArgumentHelp("The box of the thumbnails.", valueName: "WxH"))
    var thumbnail = SizeArgument(PixelSize(width: 320, height: 240))

    private var areURLs: Bool { !sources.isEmpty && sources.allSatisfy { $0.contains("://") || $0.hasPrefix("data:") } }

    func validate() throws {
        guard !out.isEmpty else { throw ValidationError("--out needs the path of a directory.") }
        guard sources.count <= 1 || areURLs else {
            throw ValidationError("Give one folder or URLs, not several folders and not both.")
        }
    }

    func run() async throws {
        try await Interruption.handled { try await run(Console.standard) }
    }

    func run(_ console: Console) async throws {
        do {
            try OutputFile.makeDirectory(out)
            let source = try await source(console)
            // Whatever still holds it when a signal ends the process.
            defer {
                if let directory = source.directory { try? FileManager.default.removeItem(atPath: directory.path) }
            }
            let isComplete: Bool
            do {
                isComplete = try await show(source, console)
            } catch {
                await source.server?.stop()
                throw error
            }
            await source.server?.stop()
            if !isComplete { throw ExitCode(1) }
        } catch let error as ImageError {
            console.error(error)
            throw ExitCode(1)
        }
    }

    private func source(_ console: Console) async throws -> DemoSource {
        if areURLs { return try DemoSource.web(sources) }
        guard let folder = sources.first else {
            console.note("drawing sample images …")
            return try await DemoSource.samples()
        }
        var status = stat()
        guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw ImageError(.fileUnreadable, stage: .load, source: folder, reason: "it is neither a folder nor a URL")
        }
        return try await DemoSource.folder(folder)
    }

    /// Loads all images three times.
    /// - Returns: true if every image loaded.
    private func show(_ source: DemoSource, _ console: Console) async throws -> Bool {
        for note in source.notes { console.note(note) }
        if let server = source.server { console.note("serving them on 127.0.0.1, port \(server.port)") }
        guard !source.items.isEmpty else {
            throw ImageError(.fileUnreadable, stage: .load, source: sources.first, reason: "the folder has no images")
        }
        let cacheDirectory = try TemporaryDirectory(prefix: "tintype-demo-cache")
        defer { try? FileManager.default.removeItem(atPath: cacheDirectory.path) }
        let box = thumbnail.box
        let first = try ImageStack(directory: cacheDirectory.path, jobs: 12)
        let cold = await DemoPass("cold", source.items, manager: first.manager, thumbnail: box, console: console)
        try Task.checkCancellation()
        await first.manager.flush()
        let second = try ImageStack(directory: cacheDirectory.path, jobs: 12)
        let warm = await DemoPass("warm", source.items, manager: second.manager, thumbnail: box, console: console)
        try Task.checkCancellation()
        let hot = await DemoPass("hot", source.items, manager: second.manager, thumbnail: box, console: console)
        try Task.checkCancellation()
        await second.manager.flush()

        var table = Table(DemoPass.columns)
        for pass in [cold, warm, hot] { table.add(pass.row) }
        console.print("")
        table.lines.forEach(console.print)
        console.print("")
        for error in cold.failures { console.error(error) }
        try await writeSheet(source, [cold, warm, hot], console)
        return cold.failures.isEmpty && warm.failures.isEmpty && hot.failures.isEmpty
    }

    private func writeSheet(_ source: DemoSource, _ passes: [DemoPass], _ console: Console) async throws(ImageError) {
        let entries = source.items.indices.prefix(DemoPass.keptImages).compactMap { index -> ContactSheet.Entry? in
            let outcomes = passes.map { try? $0.results[index]?.get() }
            guard let image = outcomes[0]?.image else { return nil }
            var entry = ContactSheet.Entry(name: source.items[index].name, image: image, bytes: outcomes[0]?.bytes ?? 0)
            for (pass, outcome) in zip(passes, outcomes) {
                if let outcome { entry.times.append((pass.name, outcome.time)) }
            }
            return entry
        }
        guard !entries.isEmpty else { return }
        let count = passes[0].outcomes.count
        let times = passes.map { "\($0.name) \(($0.duration / max(1, $0.results.count)).short)" }
        let sheet = ContactSheet(
            title: source.title, subtitle: "\(counted(count, "image")) · per image: \(times.joined(separator: ", "))",
            entries: entries, omitted: count - entries.count)
        let folder = out == "/" ? "" : out
        let (png, page) = try await WorkQueue.processing.perform { _ throws(ImageError) in
            (try sheet.picture().encoded(as: .png), try sheet.page())
        }
        try OutputFile.replace("\(folder)/contact-sheet.png", with: png)
        try OutputFile.replace("\(folder)/contact-sheet.html", with: Data(page.utf8))
        console.print("contact sheet: \(folder)/contact-sheet.png")
        console.print("as a page:     \(folder)/contact-sheet.html")
    }
}
#endif
