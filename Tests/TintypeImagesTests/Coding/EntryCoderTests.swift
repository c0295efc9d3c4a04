import Foundation
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

@Suite("Coding of cached entries", .timeLimited)
struct EntryCoderTests {
    /// An image, the formats that can be written, and the format that it is stored in.
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var source: ImageFormat?
        var features: ImageFormat.Features = []
        var encodable: Set<ImageFormat> = [.jpeg, .png, .gif, .webp, .avif, .heic]
        var stored: ImageFormat
        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "an opaque JPEG", source: .jpeg, stored: .jpeg),
        Case(name: "an opaque PNG", source: .png, stored: .png),
        Case(name: "an opaque drawing", stored: .jpeg),
        Case(name: "a JPEG with round corners", source: .jpeg, features: .alpha, stored: .png),
        Case(name: "a drawing with alpha", features: .alpha, stored: .png),
        Case(name: "a WebP with alpha", source: .webp, features: .alpha, stored: .webp),
        Case(name: "a still HEIC", source: .heic, stored: .heic),
        Case(name: "a HEIC sequence", source: .heic, features: .animation, stored: .webp),
        Case(
            name: "a HEIC sequence without WebP", source: .heic, features: .animation, encodable: [.heic, .png, .gif],
            stored: .png),
        Case(
            name: "a HEIC sequence with GIF alone", source: .heic, features: .animation, encodable: [.heic, .gif],
            stored: .gif),
        Case(name: "a GIF animation", source: .gif, features: [.animation, .alpha], stored: .gif),
        Case(name: "an animation from JPEG frames", source: .jpeg, features: .animation, stored: .webp),
        Case(name: "16 bits from TIFF", source: .tiff, features: .depth, stored: .png),
        Case(name: "16 bits from JPEG", source: .jpeg, features: .depth, stored: .png),
        Case(name: "16 bits from WebP", source: .webp, features: [.depth, .alpha], stored: .png),
        Case(name: "10 bits from AVIF", source: .avif, features: .depth, stored: .avif),
        Case(
            name: "high dynamic range from AVIF", source: .avif, features: [.depth, .highDynamicRange], stored: .avif),
        Case(name: "high dynamic range from PNG", source: .png, features: [.depth, .highDynamicRange], stored: .avif),
        Case(
            name: "high dynamic range without such a format", source: .avif, features: [.depth, .highDynamicRange],
            encodable: [.jpeg, .png], stored: .png),
        Case(name: "alpha with JPEG alone", source: .png, features: .alpha, encodable: [.jpeg], stored: .jpeg),
        Case(
            name: "a format of the program", source: .dot, features: [.animation, .alpha], encodable: [.dot, .png],
            stored: .dot),
        Case(name: "no coder at all", features: .alpha, encodable: [], stored: .png),
    ]

    @Test(
        "An image is stored in its source's format only if that keeps what it has", .capability("CST-05", "CST-06"),
        arguments: cases)
    func storageFormat(_ one: Case) throws {
        let format: PixelFormat = one.features.contains(.depth) ? .rgba16 : .rgba8
        let pixels = try MutablePixelBuffer(size: PixelSize(width: 2, height: 2), format: format, cleared: true)
            .freeze()
        var properties = Image.Properties()
        properties.format = one.source
        properties.hasAlpha = one.features.contains(.alpha)
        properties.isHighDynamicRange = one.features.contains(.highDynamicRange)
        let frames = [ImageFrame](
            repeating: ImageFrame(pixels: pixels, duration: .seconds(1)),
            count: one.features.contains(.animation) ? 2 : 1)
        let image = try #require(Image(frames: frames, properties: properties))
        #expect(EntryCoder.storageFormat(for: image, encodable: one.encodable) == one.stored)
    }

    @Test("An entry is discarded only if it is damaged for certain")
    func discarding() {
        func discards(_ code: ImageError.Code) -> Bool {
            EntryCoder.shouldDiscardEntry(after: ImageError(code, stage: .decode, reason: ""))
        }
        for code in [ImageError.Code.corruptImage, .truncatedImage, .emptyBody] { #expect(discards(code)) }
        let harmless: [ImageError.Code] = [
            .limitExceeded, .outOfMemory, .overBudget, .cancelled, .formatNotEnabled, .unknownFormat, .notAnimated,
            ImageError.Code(rawValue: "a program's own"),
        ]
        for code in harmless { #expect(!discards(code), "\(code)") }
    }

    @Test("Decoding keeps to the limits")
    func limits() async throws {
        let coder = EntryCoder(coders: ImageCoders(), limits: DecodeLimits(maximumPixels: 3))
        let limit = try await coder.perform { context throws(ImageError) in context.limits.maximumPixels }
        #expect(limit == 3)
    }
}
