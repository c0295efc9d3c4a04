internal import Logging

extension ImageCoders {
    /// A coder for each format of this build: JPEG, PNG and APNG, GIF, WebP, BMP, ICO, and those of the package traits.
    ///
    /// The formats of ``IsolatedFormats/default`` are decoded in processes of their own wherever the program finds the helper
    /// `tintype-decoder` (see <doc:IsolatedDecoding>). Without the helper they are decoded in the program, and a warning in the log says
    /// so once.
    public static let `default`: ImageCoders = {
        let exposed = inProcess.decodableFormats.intersection(IsolatedFormats.default.formats)
        if !exposed.isEmpty, DecoderIsolation().helperPath == nil {
            let names = exposed.map(\.rawValue).sorted().joined(separator: ", ")
            Logger(label: "tintype.coders").warning(
                """
                tintype-decoder wasn't found, so images of these formats are decoded in the program, which a damaged file can end: \(names). \
                Install it beside the program, or set \(DecoderIsolation.helperVariable)
                """)
        }
        return inProcess.isolated()
    }()

    /// The coders of ``default``, which all decode in the program itself.
    public static let inProcess = ImageCoders(
        traitCoders + [ICOCoder(png: PNGCoder()), BMPCoder(), WebPCoder(), GIFCoder(), PNGCoder(), JPEGCoder()])

    /// The coders for a process that may end without harm.
    package static let contained = ImageCoders(
        inProcess.coders.map { coder in
            #if SVG
            if coder is SVGCoder { return SVGCoder(isContained: true) }
            #endif
            return coder
        })

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
