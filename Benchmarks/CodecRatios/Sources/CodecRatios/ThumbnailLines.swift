import Foundation
import Tintype

/// Prints how much processor time thumbnails take, as lines of
/// `FILE<tab>KIND<tab>longer side<tab>bare loop<tab>dB<tab>Tintype<tab>dB`. `scripts/lib/thumbnail_peers.py` makes the same ones of these files
/// with other libraries.
enum ThumbnailLines {
    /// The longer side of a thumbnail, from `SIZE`: a number of pixels, or a part of the picture, such as 1/7. 400 px without it.
    private static func side(of picture: PixelSize) -> Int {
        let parts = (ProcessInfo.processInfo.environment["SIZE"] ?? "400").split(separator: "/").compactMap { Int($0) }
        guard parts.count == 2 else { return parts.first ?? 400 }
        return max(1, max(picture.width, picture.height) * parts[0] / parts[1])
    }

    /// - Parameter folder: receives the files.
    static func print(_ photographs: [Photograph], rounds: Int, context: ProcessingContext, to folder: URL) throws {
        for photograph in photographs {
            for (kind, data) in [("baseline", photograph.baseline), ("progressive", photograph.progressive)] {
                let file = folder.appendingPathComponent("\(kind)-\(photograph.name)")
                try data.write(to: file)
                // What is stored lies on its side where it is shown upright: the bare loop has the same work, and turns nothing.
                let stored = try ImageCoders.inProcess.info(of: data, context: context).size
                let side = side(of: stored)
                let box = PixelSize(width: side, height: side)
                var options = DecodeOptions(thumbnailSize: box)
                options.keepsColorSpace = true
                let thumbnail = try ImageCoders.inProcess.decode(data, options: options, context: context)
                options.thumbnailSize = nil
                let full = try ImageCoders.inProcess.decode(data, options: options, context: context)
                let reference = Fidelity.reduction(of: full.pixels, to: thumbnail.size)
                options.thumbnailSize = box
                let thumbnailOptions = options
                let isTurned = stored != full.size
                let size = thumbnail.size
                let target = isTurned ? PixelSize(width: size.height, height: size.width) : size
                let loops = BareLoops(size: PixelSize(width: 1, height: 1))
                let times = try compare(
                    rounds: rounds,
                    [
                        { _ = try loops.thumbnail(data, of: stored, to: target) },
                        { _ = try ImageCoders.inProcess.decode(data, options: thumbnailOptions, context: context) },
                    ])
                let bare = isTurned ? nil : try loops.thumbnail(data, of: stored, to: target)
                let fields = [
                    file.path, kind, "\(side)", "\(times[0].median)",
                    bare.map { "\(Fidelity.decibels($0, to: reference))" } ?? "",
                    "\(times[1].median)", "\(Fidelity.decibels(thumbnail.pixels, to: reference))",
                ]
                Swift.print(fields.joined(separator: "\t"))
            }
        }
    }
}
