internal import ArgumentParser
internal import CommandSupport
internal import FoundationEssentials
internal import Tintype

/// `tintype show`
struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show images in the terminal.",
        discussion: """
            The command uses the best protocol that the terminal reports: Kitty's graphics, iTerm2's inline images, sixels, or \
            else half blocks. If the terminal doesn't answer within two seconds, environment variables decide. Inside tmux, \
            kitty and iterm2 need `set -g allow-passthrough on`; sixel needs a tmux that was built with sixels, and tmux draws \
            the images itself. Images are shrunk to fit into the terminal, even if it is resized while an animation plays. An \
            animation plays as often as its file says, or until Ctrl-C if it repeats forever; among several images, it plays once.

            If the output isn't a terminal, or TERM is dumb, only the first frame is shown, drawn with characters and without \
            escape sequences (text). If NO_COLOR is set, text also replaces half blocks. --protocol overrides the detected \
            protocol, and --loop plays all frames, except with text.

            Exit status: 0 if all images were shown, 1 if one failed (the others are shown), 64 for wrong usage, 130 after \
            Ctrl-C.
            """)

    @Argument(help: ArgumentHelp("Files or URLs; - is standard input.", valueName: "image"), completion: .file())
    var images: [String]

    @Option(
        name: .customLong("protocol"),
        help: ArgumentHelp(
            "The protocol: kitty, iterm2, sixel, blocks, or text. (default: detected)", valueName: "name"))
    var graphics: TerminalProtocol?

    @Option(help: ArgumentHelp("Play an animation this many times; 0 for forever.", valueName: "n"))
    var loop: Int?

    @Option(
        help: ArgumentHelp(
            """
            The space for an image, in columns and rows, such as 80x24. Smaller images are enlarged. The columns are limited to \
            the terminal's.
            """, valueName: "CxR")
    )
    var size: SizeArgument?

    @Flag(help: "Show only the first frame of an animation.")
    var firstFrame = false

    @OptionGroup var page: PageArguments

    @OptionGroup var isolation: IsolationArguments

    func validate() throws {
        if let loop, !(0...1_000_000).contains(loop) {
            throw ValidationError("--loop needs a number from 0 to 1000000.")
        }
        if let box = size?.box, max(box.width, box.height) > Self.mostCells {
            throw ValidationError("--size needs two numbers from 1 to \(Self.mostCells), such as 80x24.")
        }
    }

    private static let mostCells = 1_000

    func run() async throws {
        try await Interruption.handled {
            try await run(Console.standard, terminal: .current(asks: asksTerminal))
        }
    }

    /// True if the protocol, or the size of a cell, depends on the terminal.
    private var asksTerminal: Bool { graphics.map { ![.blocks, .text].contains($0) } ?? true }

    /// - Parameters:
    ///   - sizes: returns the sizes of the terminal's window, each when it changes.
    ///   - clock: the clock of animations.
    func run(
        _ console: Console, terminal: Terminal,
        sizes: @escaping @Sendable () -> AsyncStream<CellSize> = Terminal.sizes,
        clock: some Clock<Duration> = ContinuousClock()
    ) async throws {
        var failed = false
        for source in images where !Task.isCancelled {
            do throws(ImageError) {
                try await show(source, console, terminal, sizes, clock)
            } catch {
                guard !error.isCancellation || !Task.isCancelled else { break }
                failed = true
                console.error(error.withSource(ShownURL.text(source)))
            }
        }
        if failed { throw ExitCode(1) }
    }

    private func show(
        _ source: String, _ console: Console, _ terminal: Terminal,
        _ sizes: @Sendable () -> AsyncStream<CellSize>, _ clock: some Clock<Duration>
    ) async throws(ImageError) {
        let graphics = graphics ?? terminal.graphics
        let room = size.map { CellSize(columns: $0.box.width, rows: $0.box.height) }
        let layout = TerminalLayout(graphics, in: terminal, size: room)
        var options = DecodeOptions()
        options.thumbnailSize = layout.box
        options.allowsUpscaling = size != nil
        options.page = page.index ?? 0
        options.firstFrameOnly = firstFrame || graphics == .text || (!terminal.isInteractive && loop == nil)
        let image = try await image(source, options)
        var picture = TerminalPicture(graphics: graphics, terminal: terminal, layout: layout)
        if !image.isAnimated, let lines = try picture.lines(image.pixels) {
            return console.draw(lines.map { $0 + "\n" }.joined())
        }
        var cells = layout.cells(of: image.size)
        console.draw(picture.begin(cells))
        defer { console.draw(picture.end(cells)) }
        guard let animation = image.animation else {
            console.draw(try picture.frame(image.pixels))
            return
        }
        let player = AnimatedImagePlayer(animation, clock: clock)
        if let loop {
            player.loopCount = loop
        } else if images.count > 1, image.loopCount == 0 {
            player.loopCount = 1
        }
        let newSize = Lock<CellSize?>(nil)
        let resizing = Task { [sizes = sizes()] in
            for await size in sizes {
                newSize.withLock { $0 = size }
                // The frame is drawn anew.
                player.seek(toFrame: player.currentFrameIndex, loop: player.completedLoops)
            }
        }
        defer { resizing.cancel() }
        for await frame in player.frames {
            guard !console.isClosed else { break }
            if terminal.isInteractive, let size = newSize.withLock({ $0.take() }) {
                console.draw(picture.clear())
                picture = picture.resized(to: size, room: room)
                cells = picture.layout.cells(of: picture.layout.fitted(image.size))
                console.draw(picture.begin(cells))
            }
            let fitted = picture.layout.fitted(frame.pixels.size)
            let shown =
                fitted == frame.pixels.size
                ? frame.pixels
                : try Image(pixels: frame.pixels).transformed(
                    ImageTransformers.resize(width: fitted.width, height: fitted.height, mode: .fill)
                ).pixels
            console.draw(try picture.frame(shown))
        }
    }

    private func image(_ source: String, _ options: DecodeOptions) async throws(ImageError) -> Image {
        if source.contains("://") || source.hasPrefix("data:") {
            guard let url = URL(written: source) else {
                throw ImageError(.invalidURL, stage: .request, reason: "it isn't a URL")
            }
            var request = ImageRequest(url)
            request.decode = options
            return try await ImageStack(directory: nil, coders: isolation.coders).manager.image(for: request)
        }
        var options = options
        options.formatHint = ImageFormat.hint(fileName: source)
        let data = try InputFile.contents(of: source)
        return try Image(data: data, options: options, coders: isolation.coders)
    }
}
