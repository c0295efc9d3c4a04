internal import ArgumentParser
internal import CommandSupport
internal import Tintype

/// The value of an option that changes an image.
protocol TransformArgument: ExpressibleByArgument, Sendable {
    var step: TransformStep { get }
}

// MARK: Geometry

/// `400x300`, `1600x`, or `400x300:fill`.
struct ResizeArgument: TransformArgument {
    let step: TransformStep

    init?(argument: String) {
        let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let size = SizeArgument(argument: String(parts[0])) else { return nil }
        let box = size.box
        let isOpen = box.width == SizeArgument.openSide || box.height == SizeArgument.openSide
        switch parts.count == 1 ? "fit" : parts[1] {
        case "fit": step = .fit(box)
        case "fill" where !isOpen:
            step = .transformer(.resize(width: box.width, height: box.height, mode: .aspectFill))
        case "stretch" where !isOpen:
            step = .transformer(.resize(width: box.width, height: box.height, mode: .fill))
        default: return nil
        }
    }
}

/// `400x300+10+20`, `400x300`, or `16:9`; the last two with a position, such as `16:9:top`.
struct CropArgument: TransformArgument {
    let step: TransformStep

    init?(argument: String) {
        if argument.contains("+") {
            guard let rect = Self.rect(argument) else { return nil }
            step = .transformer(.crop(rect))
            return
        }
        var parts = argument.split(separator: ":", omittingEmptySubsequences: false)[...]
        let first = parts.removeFirst()
        if let size = SizeArgument(argument: String(first))?.box {
            guard size.width != SizeArgument.openSide, size.height != SizeArgument.openSide,
                let position = Self.position(parts)
            else { return nil }
            step = .transformer(.crop(width: size.width, height: size.height, position: position))
        } else {
            guard let width = Number.parse(first, in: 0.001...100_000), let second = parts.popFirst(),
                let height = Number.parse(second, in: 0.001...100_000), let position = Self.position(parts)
            else { return nil }
            step = .transformer(.crop(aspectRatio: width / height, position: position))
        }
    }

    private static func rect(_ text: String) -> PixelRect? {
        let parts = text.split(separator: "+", omittingEmptySubsequences: false)
        guard parts.count == 3, let size = SizeArgument(argument: String(parts[0]))?.box,
            size.width != SizeArgument.openSide, size.height != SizeArgument.openSide,
            let x = Number.whole(parts[1]), let y = Number.whole(parts[2])
        else { return nil }
        return PixelRect(x: x, y: y, width: size.width, height: size.height)
    }

    private static func position(_ parts: ArraySlice<Substring>) -> CropPosition? {
        guard let name = parts.first else { return .anchor(.center) }
        guard parts.count == 1 else { return nil }
        if name == "smart" { return .smart }
        if let anchor = ImageAnchor(name: name) { return .anchor(anchor) }
        let point = name.split(separator: ",", omittingEmptySubsequences: false)
        guard point.count == 2, let x = Number.parse(point[0], in: 0...1), let y = Number.parse(point[1], in: 0...1)
        else { return nil }
        return .focus(ImageAnchor(x: x, y: y))
    }
}

extension ImageAnchor {
    /// An anchor by its name: `center`, `top`, `bottom-right`, and so on.
    init?(name: some StringProtocol) {
        let names: [String: ImageAnchor] = [
            "center": .center, "top": .top, "bottom": .bottom, "left": .left, "right": .right, "top-left": .topLeft,
            "top-right": .topRight, "bottom-left": .bottomLeft, "bottom-right": .bottomRight,
        ]
        guard let anchor = names[String(name)] else { return nil }
        self = anchor
    }
}

struct RotateArgument: TransformArgument {
    let step: TransformStep

    init?(argument: String) {
        guard let degrees = Number.parse(argument, in: -1e6...1e6) else { return nil }
        step = .transformer(.rotate(degrees: degrees))
    }
}

struct FlipArgument: TransformArgument {
    let step: TransformStep

    static let allValueStrings = ["h", "v", "hv"]

    init?(argument: String) {
        guard Self.allValueStrings.contains(argument) else { return nil }
        step = .transformer(.flip(horizontally: argument.contains("h"), vertically: argument.contains("v")))
    }
}

struct PadArgument: TransformArgument {
    let step: TransformStep

    init?(argument: String) {
        guard let distance = Number.whole(argument[...]), distance <= SizeArgument.largestSide else { return nil }
        step = .transformer(.pad(top: distance, left: distance, bottom: distance, right: distance))
    }
}

// MARK: Shape

struct RoundArgument: TransformArgument {
    let step: TransformStep

    init?(argument: String) {
        guard let radius = Number.parse(argument, in: 0...1e6) else { return nil }
        step = .rounded(radius: radius, border: nil)
    }
}

/// `4:#ff8800`
struct BorderArgument: TransformArgument {
    let step: TransformStep

    init?(argument: String) {
        let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let width = Number.parse(parts[0], in: 0...1e6),
            let color = ColorArgument(argument: String(parts[1]))
        else { return nil }
        step = .border(.init(width: width, color: color.color))
    }
}

// MARK: Filters

struct BlurArgument: TransformArgument {
    let step: TransformStep

    init?(argument: String) {
        guard let radius = Number.parse(argument, in: 0...1e6) else { return nil }
        step = .transformer(.blur(radius: radius))
    }
}

struct SharpenArgument: TransformArgument {
    let step: TransformStep

    init?(argument: String) {
        guard let amount = Number.parse(argument, in: 0...1e3) else { return nil }
        step = .transformer(.sharpen(amount: amount))
    }
}

/// `logo.png:bottom-right:0.5`
struct OverlayArgument: TransformArgument {
    let step: TransformStep

    init?(argument: String) {
        var parts = argument.split(separator: ":", omittingEmptySubsequences: false)
        var opacity = 1.0
        var anchor = ImageAnchor.center
        // A file name may have colons.
        if parts.count > 2, let number = Number.parse(parts[parts.count - 1], in: 0...1),
            ImageAnchor(name: parts[parts.count - 2]) != nil
        {
            opacity = number
            parts.removeLast()
        }
        if parts.count > 1, let named = ImageAnchor(name: parts[parts.count - 1]) {
            anchor = named
            parts.removeLast()
        }
        let file = parts.joined(separator: ":")
        guard !file.isEmpty else { return nil }
        step = .overlay(file: file, anchor: anchor, opacity: opacity)
    }
}

// MARK: Color

struct BrightnessArgument: TransformArgument {
    let step: TransformStep

    init?(argument: String) {
        guard let amount = Number.parse(argument, in: 0...1e3) else { return nil }
        step = .transformer(.brightness(amount))
    }
}

struct ContrastArgument: TransformArgument {
    let step: TransformStep

    init?(argument: String) {
        guard let amount = Number.parse(argument, in: 0...1e3) else { return nil }
        step = .transformer(.contrast(amount))
    }
}

struct SaturationArgument: TransformArgument {
    let step: TransformStep

    init?(argument: String) {
        guard let amount = Number.parse(argument, in: 0...1e3) else { return nil }
        step = .transformer(.saturation(amount))
    }
}

struct HueArgument: TransformArgument {
    let step: TransformStep

    init?(argument: String) {
        guard let degrees = Number.parse(argument, in: -1e6...1e6) else { return nil }
        step = .transformer(.hueRotation(degrees: degrees))
    }
}

/// `#ff8800`, or with a mode, `#ff8800:multiply`.
struct TintArgument: TransformArgument {
    let step: TransformStep

    init?(argument: String) {
        let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let color = ColorArgument(argument: String(parts[0])) else { return nil }
        guard parts.count == 2 else {
            step = .transformer(.tint(color.color))
            return
        }
        guard let mode = BlendMode(rawValue: String(parts[1])) else { return nil }
        step = .transformer(.tint(color.color, mode: mode))
    }
}

extension ColorArgument: TransformArgument {
    var step: TransformStep { .transformer(.background(color)) }
}

/// Numbers on a command line.
private enum Number {
    /// A number within a range; neither NaN nor infinite.
    static func parse(_ text: some StringProtocol, in range: ClosedRange<Double>) -> Double? {
        guard let number = Double(text), range.contains(number) else { return nil }
        return number
    }

    /// A whole number, without a sign.
    static func whole(_ text: Substring) -> Int? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text), number <= 1 << 31 else {
            return nil
        }
        return number
    }
}
