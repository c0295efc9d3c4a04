extension ImageCoders {
    /// A coder for each format of this build: JPEG, PNG and APNG, GIF, WebP, BMP, ICO, and those of the package traits.
    public static let `default` = ImageCoders(
        traitCoders + [ICOCoder(png: PNGCoder()), BMPCoder(), WebPCoder(), GIFCoder(), PNGCoder(), JPEGCoder()])

    /// The coders for a process that may end without harm.
    package static let contained = ImageCoders(
        `default`.coders.map { coder in
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
