import Foundation
import Tintype

/// Prints how much processor time thumbnails of 400 px take, as lines of
/// `FILE<tab>KIND<tab>bare loop<tab>dB<tab>Tintype<tab>dB`. `scripts/lib/thumbnail_peers.py` makes the same ones of these files with other libraries.
enum ThumbnailLines {
    /// - Parameter folder: receives the files.
    static func print(_ photographs: [Photograph], rounds: Int, context: ProcessingContext, to folder: URL) throws {
        for photograph in photographs {
            for (kind, data) in [("baseline", photograph.baseline), ("progressive", photograph.progressive)] {
                let file = folder.appendingPathComponent("\(kind)-\(photograph.name)")
                try data.write(to: file)
                var options = DecodeOptions(thumbnailSize: PixelSize(width: 400, height: 400))
                options.keepsColorSpace = true
                let thumbnail = try ImageCoders.inProcess.decode(data, options: options, context: context)
                options.thumbnailSize = nil
                let full = try ImageCoders.inProcess.decode(data, options: options, context: context)
                let reference = Fidelity.reduction(of: full.pixels, to: thumbnail.size)
                options.thumbnailSize = PixelSize(width: 400, height: 400)
                let thumbnailOptions = options
                // What is stored lies on its side where it is shown upright: the bare loop has the same work, and turns nothing.
                let stored = try ImageCoders.inProcess.info(of: data, context: context).size
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
                    file.path, kind, "\(times[0].median)",
                    bare.map { "\(Fidelity.decibels($0, to: reference))" } ?? "",
                    "\(times[1].median)", "\(Fidelity.decibels(thumbnail.pixels, to: reference))",
                ]
                Swift.print(fields.joined(separator: "\t"))
            }
        }
    }
}
