internal import Glibc
internal import TintypeIsolation

/// Decodes for a copy of this program, which started this process as its worker. Called instead of `main`. It is in this file because
/// whoever isolates coders has linked the file.
@_cdecl("tintype_worker_main")
package func tintypeWorkerMain() -> Int32 {
    DecoderWorker(coders: .inProcess).run {
        // Loads the libraries of text, and the fonts that text has by default.
        let text = """
            <svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">
            <text y="8">a<tspan font-family="serif">b</tspan><tspan font-family="monospace">c</tspan></text></svg>
            """
        _ = try? ImageCoders.inProcess.decode(Data(text.utf8))
    }
}

extension ImageCoders {
    /// A coder for each format of this build: JPEG, PNG and APNG, GIF, WebP, BMP, ICO, and the formats of the package traits.
    ///
    /// The formats of ``IsolatedFormats/default`` are decoded in processes of their own (see <doc:IsolatedDecoding>).
    public static let `default` = inProcess.isolated()

    /// The coders of ``default`` without isolation: all of them decode in the program itself. A file that crashes a library ends the
    /// program, and the time for drawing a vector image is unlimited.
    public static let inProcess = ImageCoders(
        traitCoders + [ICOCoder(png: PNGCoder()), BMPCoder(), WebPCoder(), GIFCoder(), PNGCoder(), JPEGCoder()])

    private static var traitCoders: [any ImageCoder] {
        var coders: [any ImageCoder] = []
        #if AVIF
        coders.append(AVIFCoder())
        #endif
        #if HEIF
        coders.append(HEIFCoder())
        #endif
        #if JXL
        coders.append(JXLCoder())
        #endif
        #if TIFF
        coders.append(TIFFCoder())
        #endif
        #if SVG
        coders.append(SVGCoder())
        #endif
        #if PDF
        coders.append(PDFCoder())
        #endif
        #if RAW
        coders.append(RAWCoder())
        #endif
        return coders
    }
}
