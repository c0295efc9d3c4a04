import Foundation

/// A kind of crafted file, small and expensive, with a harmless file of the same kind.
struct HostileFile: Sendable, CustomStringConvertible {
    let name: String
    /// The extension of files of its format.
    let format: String
    /// True if the file of scale 2 is over a default limit, in whole and as a small version of all frames.
    let isRefused: Bool
    /// Makes the file. Of a larger scale, it costs more.
    let data: @Sendable (_ scale: Int) -> Data
    /// Makes the harmless file.
    let twin: @Sendable () -> Data

    init(
        _ name: String, _ format: String, isRefused: Bool = true, data: @escaping @Sendable (_ scale: Int) -> Data,
        twin: @escaping @Sendable () -> Data
    ) {
        self.name = name
        self.format = format
        self.isRefused = isRefused
        self.data = data
        self.twin = twin
    }

    var description: String { name }
}

extension HostileFile {
    static let rasters: [HostileFile] = [
        HostileFile("gif-frames", "gif") {
            HostileRasters.gif(side: 16_000, frames: 5_000 * $0)
        } twin: {
            HostileRasters.gif(side: 40, frames: 200)
        },
        HostileFile("gif-canvas", "gif", isRefused: false) {
            HostileRasters.gif(side: 4_000, frames: 20 * $0)
        } twin: {
            HostileRasters.gif(side: 400, frames: 20)
        },
        HostileFile("apng-frames", "png") {
            HostileRasters.apng(side: 16_000, frames: 5_000 * $0)
        } twin: {
            HostileRasters.apng(side: 40, frames: 200)
        },
        HostileFile("apng-canvas", "png", isRefused: false) {
            HostileRasters.apng(side: 4_000, frames: 20 * $0)
        } twin: {
            HostileRasters.apng(side: 400, frames: 20)
        },
        HostileFile("webp-frames", "webp") {
            HostileRasters.webp(side: 16_000, frames: 50_000 * $0)
        } twin: {
            HostileRasters.webp(side: 40, frames: 200)
        },
        HostileFile("webp-canvas", "webp", isRefused: false) {
            HostileRasters.webp(side: 4_000, frames: 20 * $0)
        } twin: {
            HostileRasters.webp(side: 400, frames: 20)
        },
        HostileFile("webp-many", "webp", isRefused: false) {
            HostileRasters.webp(side: 40, frames: 4_500 * $0)
        } twin: {
            HostileRasters.webp(side: 40, frames: 200)
        },
        HostileFile("avif-frames", "avif", isRefused: false) {
            HostileRasters.avif(frames: 5_000 * $0)
        } twin: {
            HostileRasters.avif(frames: 100)
        },
        HostileFile("png-width", "png") {
            HostileRasters.png($0 << 26, 1)
        } twin: {
            HostileRasters.png(1 << 16, 1)
        },
        HostileFile("png-height", "png", isRefused: false) {
            HostileRasters.png(1, $0 << 21)
        } twin: {
            HostileRasters.png(1, 1 << 16)
        },
        HostileFile("tiff-samples", "tiff", isRefused: false) {
            HostileRasters.tiff(side: 2_000, samples: 50 * $0, rowsPerStrip: 2_000)
        } twin: {
            HostileRasters.tiff(side: 200, samples: 100, rowsPerStrip: 8)
        },
        HostileFile("tiff-shared", "tiff") {
            HostileRasters.tiff(side: 3_000 * $0, samples: 100, rowsPerStrip: 8)
        } twin: {
            HostileRasters.tiff(side: 200, samples: 20, rowsPerStrip: 8)
        },
    ]

    static let drawings: [HostileFile] = [
        HostileFile("svg-deep", "svg") {
            HostileDrawings.deep(255 * $0, side: 16_000)
        } twin: {
            HostileDrawings.deep(100, side: 20)
        },
        HostileFile("svg-newline", "svg") {
            HostileDrawings.split("da&#10;ta:", side: 16_000 * $0)
        } twin: {
            HostileDrawings.split("data:", side: 20)
        },
        HostileFile("svg-tab", "svg") {
            HostileDrawings.split("&#9; data&#9;:", side: 16_000 * $0)
        } twin: {
            HostileDrawings.split("&#9;data:", side: 20)
        },
        HostileFile("svg-unclosed", "svg", isRefused: false) {
            HostileDrawings.unclosed(40_000 * $0)
        } twin: {
            HostileDrawings.unclosed(1)
        },
        HostileFile("svg-patterns", "svg") {
            HostileDrawings.filledPatterns(6, 10 * $0)
        } twin: {
            HostileDrawings.filledPatterns(2, 3)
        },
        HostileFile("svg-turbulence", "svg", isRefused: false) {
            HostileDrawings.effect("<feTurbulence baseFrequency='.1' numOctaves='9'/>", 50 * $0, side: 1_000)
        } twin: {
            HostileDrawings.effect("<feTurbulence baseFrequency='.1' numOctaves='2'/>")
        },
        HostileFile("svg-morphology", "svg", isRefused: false) {
            HostileDrawings.effect("<feMorphology radius='\(100 * $0)'/>", 9, side: 1_000)
        } twin: {
            HostileDrawings.effect("<feMorphology radius='2'/>")
        },
        HostileFile("svg-matrix", "svg", isRefused: false) {
            let numbers = String(repeating: "1 ", count: 400 * $0 * $0)
            return HostileDrawings.effect(
                "<feConvolveMatrix order='\(20 * $0)' kernelMatrix='\(numbers)'/>", 9, side: 1_000)
        } twin: {
            HostileDrawings.effect("<feConvolveMatrix order='2' kernelMatrix='1 1 1 1'/>")
        },
        HostileFile("svg-results", "svg", isRefused: false) {
            HostileDrawings.results(200 * $0, side: 1_000)
        } twin: {
            HostileDrawings.results(2, side: 100)
        },
    ]

    static let pages: [HostileFile] = [
        HostileFile("pdf-forms", "pdf", isRefused: false) {
            HostilePages.forms(5 * $0, 20)
        } twin: {
            HostilePages.forms(2, 2)
        },
        HostileFile("pdf-shading", "pdf", isRefused: false) {
            HostilePages.shading(500 * $0)
        } twin: {
            HostilePages.shading(1)
        },
        HostileFile("pdf-picture", "pdf", isRefused: false) {
            HostilePages.picture(side: 16_000 * $0)
        } twin: {
            HostilePages.picture(side: 20)
        },
    ]

    static var all: [HostileFile] { rasters + drawings + pages }

    /// Writes all files into a folder: those of scale 1 and 2, and the harmless ones.
    static func write(to folder: URL) throws {
        for file in all {
            for scale in [1, 2] {
                try file.data(scale).write(to: folder.appending(path: "\(file.name).\(scale).\(file.format)"))
            }
            try file.twin().write(to: folder.appending(path: "\(file.name).twin.\(file.format)"))
        }
    }
}
