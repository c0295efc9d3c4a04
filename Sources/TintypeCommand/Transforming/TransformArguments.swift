internal import ArgumentParser
internal import CommandSupport
internal import FoundationEssentials
internal import Tintype

/// The options that change an image. They are applied in the given order.
struct TransformArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Resize to this box, with sides of 1 to 100000 pixels. One side may be open: 1600x, x900. fit, the default, \
            preserves the proportions, fill also crops to exactly the box, stretch does not preserve them.
            """, valueName: "WxH[:fit|fill|stretch]"))
    var resize: [ResizeArgument] = []

    @Option(
        help: ArgumentHelp(
            """
            Keep a part: 400x300+10+20, or a size or proportions, such as 16:9, with a position: center, top, left, \
            bottom-right, …, smart for the part with the most detail, or the fractions X,Y of a point that stays inside.
            """, valueName: "WxH+X+Y|W:H[:position]"))
    var crop: [CropArgument] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Rotate clockwise by any angle. The image grows to hold its corners.", valueName: "degrees"))
    var rotate: [RotateArgument] = []

    @Option(help: "Flip horizontally, vertically, or both.")
    var flip: [FlipArgument] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Round the corners with this radius, in pixels from 0.", valueName: "radius"))
    var round: [RoundArgument] = []

    @Flag(help: "Crop to a circle.")
    var circle = false

    @Option(
        help: ArgumentHelp(
            "Draw a border inside the edges; directly after --round or --circle, along their shape.",
            valueName: "width:#rrggbb"))
    var border: [BorderArgument] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Blur with a Gaussian filter of this standard deviation, 0 to 1000000 pixels.", valueName: "sigma"))
    var blur: [BlurArgument] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Sharpen edges, from 0 to 1000; 0.5 is usual.", valueName: "amount"))
    var sharpen: [SharpenArgument] = []

    @Flag(help: "Remove color.")
    var gray = false

    @Flag(help: "Give brown tones.")
    var sepia = false

    @Flag(help: "Invert colors.")
    var invert = false

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Multiply brightness, from 0 to 1000; 1 changes nothing.", valueName: "amount"))
    var brightness: [BrightnessArgument] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Multiply contrast, from 0 to 1000; 1 changes nothing.", valueName: "amount"))
    var contrast: [ContrastArgument] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Multiply saturation, from 0 to 1000; 0 is gray, 1 changes nothing.", valueName: "amount"))
    var saturation: [SaturationArgument] = []

    @Option(
        parsing: .unconditionalSingleValue, help: ArgumentHelp("Rotate hues by this angle.", valueName: "degrees"))
    var hue: [HueArgument] = []

    @Option(
        help: ArgumentHelp(
            "Color everything that isn't transparent, or combine with a mode: multiply, screen, softLight, sourceAtop, ….",
            valueName: "#rrggbb[:mode]"))
    var tint: [TintArgument] = []

    @Option(
        help: ArgumentHelp(
            "Draw another image on top, with its opacity from 0 to 1.", valueName: "file[:position[:opacity]]"),
        completion: .file())
    var overlay: [OverlayArgument] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Add this number of transparent pixels at all edges, 0 to 100000.", valueName: "pixels"))
    var pad: [PadArgument] = []

    @Option(
        help: ArgumentHelp("Fill transparent areas: white, black, or #rrggbb.", valueName: "color"))
    var background: [ColorArgument] = []

    @Flag(help: "Remove borders of one color.")
    var trim = false

    /// The steps, in the given order.
    /// - Parameter arguments: the command line, which alone tells the order of different options.
    func steps(in arguments: [String] = CommandLineOrder.arguments) -> [TransformStep] {
        let order = CommandLineOrder(arguments)
        let flags: [(String, Bool, TransformStep)] = [
            ("circle", circle, .circle(border: nil)), ("gray", gray, .transformer(.grayscale())),
            ("sepia", sepia, .transformer(.sepia())), ("invert", invert, .transformer(.invert())),
            ("trim", trim, .transformer(.trim())),
        ]
        let options: [(String, [any TransformArgument])] = [
            ("resize", resize), ("crop", crop), ("rotate", rotate), ("flip", flip), ("round", round),
            ("border", border), ("blur", blur), ("sharpen", sharpen), ("brightness", brightness),
            ("contrast", contrast), ("saturation", saturation), ("hue", hue), ("tint", tint), ("overlay", overlay),
            ("pad", pad), ("background", background),
        ]
        var placed = flags.filter(\.1).map { (order.place(of: $0.0, occurrence: 0), $0.2) }
        for (name, values) in options {
            placed += values.enumerated().map { (order.place(of: name, occurrence: $0.offset), $0.element.step) }
        }
        let steps = placed.enumerated().sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }
        return steps.map(\.element.1).reduce(into: []) { steps, step in
            if case .border(let border) = step, let last = steps.last, let bordered = last.with(border) {
                steps[steps.count - 1] = bordered
            } else {
                steps.append(step)
            }
        }
    }
}

/// The places of options on a command line.
struct CommandLineOrder {
    /// The command line of the program, without its name. Tests set another.
    @TaskLocal static var arguments = Array(ProcessInfo.processInfo.arguments.dropFirst())

    private var places: [String: [Int]] = [:]

    init(_ arguments: [String]) {
        for (place, argument) in arguments.enumerated() {
            if argument == "--" { break }
            guard argument.hasPrefix("--") else { continue }
            let name = argument.dropFirst(2).prefix { $0 != "=" }
            places[String(name), default: []].append(place)
        }
    }

    /// The place of an option that is given several times; after all others if it isn't there.
    func place(of name: String, occurrence: Int) -> Int {
        guard let places = places[name], places.indices.contains(occurrence) else { return .max }
        return places[occurrence]
    }
}
