internal import CommandSupport
internal import Tintype

/// A photograph, as every transformer changes it.
struct TransformerGallery {
    static let cell = PixelSize(width: 200, height: 150)
    static let columns = 6

    private typealias Item = (name: String, transformer: ImageTransformers)

    private static let white = PixelColor(red: 1, green: 1, blue: 1)
    private static let orange = PixelColor(red: 1, green: 0.55, blue: 0.1)
    private static let blue = PixelColor(red: 0.25, green: 0.5, blue: 0.95)

    private let photograph: Image

    /// - Throws: an error if the photograph can't be cropped to a cell.
    init(photograph: Image) throws(ImageError) {
        let cell = Self.cell
        self.photograph = try photograph.transformed(
            .resize(width: cell.width, height: cell.height, mode: .aspectFill))
    }

    /// The photograph, and each transformer's result.
    func entries() throws(ImageError) -> [ContactSheet.Entry] {
        let items = Self.geometry + Self.shapes + Self.colors + (try filters())
        var entries = [ContactSheet.Entry(name: "original", image: photograph)]
        for item in items {
            entries.append(.init(name: item.name, image: try photograph.transformed(item.transformer)))
        }
        return entries
    }

    private static let geometry: [Item] = [
        ("resize(width: 120)", .resize(width: 120)),
        ("resize .fill", .resize(width: 120, height: 150, mode: .fill)),
        ("resize .aspectFill", .resize(width: 120, height: 150, mode: .aspectFill)),
        ("resize .letterbox", .resize(width: 120, height: 150, mode: .letterbox)),
        ("crop .anchor(.left)", .crop(aspectRatio: 1, position: .anchor(.left))),
        ("crop .smart", .crop(width: 100, height: 75, position: .smart)),
        ("pad", .pad(top: 12, left: 12, bottom: 12, right: 12, color: orange)),
        ("pad, trim", .pad(top: 12, left: 12, bottom: 12, right: 12, color: orange).then(.trim())),
        ("flip", .flip(horizontally: true)),
        ("rotate(degrees: 90)", .rotate(degrees: 90)),
        ("rotate(degrees: 12)", .rotate(degrees: 12)),
    ]

    private static let shapes: [Item] = [
        ("rounded(radius: 24)", .rounded(radius: 24)),
        (
            "two corners, border",
            .rounded(radius: 48, corners: [.topLeft, .bottomRight], borderWidth: 5, borderColor: white)
        ),
        ("circle, border", .circle(borderWidth: 6, borderColor: orange)),
        ("circle, background", .circle().then(.background(blue))),
    ]

    private static let colors: [Item] = [
        ("grayscale()", .grayscale()),
        ("sepia()", .sepia()),
        ("invert()", .invert()),
        ("brightness(1.4)", .brightness(1.4)),
        ("contrast(1.6)", .contrast(1.6)),
        ("saturation(2)", .saturation(2)),
        ("hueRotation(120)", .hueRotation(degrees: 120)),
        ("colorMatrix", .colorMatrix(swappedRedAndBlue)),
        ("tint .multiply", .tint(orange, mode: .multiply)),
        ("tint .color", .tint(blue, mode: .color)),
    ]

    private static let swappedRedAndBlue: [Double] = [
        0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0,
    ]

    private func filters() throws(ImageError) -> [Item] {
        let badge = try photograph.transformed(
            .resize(width: 64, height: 64, mode: .aspectFill).then(.circle(borderWidth: 4, borderColor: Self.white)))
        return [
            ("blur(radius: 5)", .blur(radius: 5)),
            ("sharpen(amount: 2)", .sharpen(amount: 2)),
            ("overlay", .overlay(badge, anchor: .bottomRight, offsetX: -8, offsetY: -8)),
            (
                "blur, tint, rounded",
                .blur(radius: 3).then(.tint(Self.orange, mode: .softLight)).then(.rounded(radius: 30))
            ),
        ]
    }
}
