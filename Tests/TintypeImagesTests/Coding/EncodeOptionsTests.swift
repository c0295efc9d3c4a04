import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

private struct Ink: FormatOptions {
    var drops = 3
}

private struct Paper: FormatOptions {
    var isGlossy = false
}

@Suite("Encode options", .timeLimited)
struct EncodeOptionsTests {
    @Test("Settings of a format are kept by their type, also those of formats that the core does not know")
    func settings() {
        var options = EncodeOptions()
        #expect(options[Ink.self].drops == 3)
        options[Ink.self].drops = 7
        options[Paper.self].isGlossy = true
        #expect(options[Ink.self].drops == 7 && options[Paper.self].isGlossy)
        let copy = options
        options[Ink.self].drops = 9
        #expect(copy[Ink.self].drops == 7)
    }

    @Test("Options that mean the same are equal, and others are not")
    func identity() {
        var options = EncodeOptions()
        let plain = options
        options[Ink.self].drops = 7
        #expect(options != plain)
        var other = EncodeOptions()
        other[Ink.self].drops = 7
        #expect(options == other && options.hashValue == other.hashValue)
        other[Paper.self].isGlossy = true
        #expect(options != other)
        options[Ink.self] = Ink()
        #expect(options == plain && options.hashValue == plain.hashValue)
    }

    @Test("Metadata stay out unless they are asked for")
    func metadata() {
        #expect(!EncodeOptions().keepsMetadata && !EncodeOptions().embedsThumbnail)
    }
}
