import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

private struct Layers: FormatOptions {
    var top = 0
}

private struct Page: FormatOptions {
    var number = 1
}

@Suite("Decode options", .timeLimited)
struct DecodeOptionsTests {
    @Test("Settings of a program's own coder are kept by their type", .capability("CTX-09"))
    func settings() {
        var options = DecodeOptions()
        #expect(options[Layers.self].top == 0)
        options[Layers.self].top = 3
        options[Page.self].number = 2
        #expect(options[Layers.self].top == 3 && options[Page.self].number == 2)
        var other = DecodeOptions()
        other[Page.self].number = 2
        #expect(options != other)
        other[Layers.self].top = 3
        #expect(options == other && options.hashValue == other.hashValue)
        options[Layers.self].top = 0
        options[Page.self] = Page()
        #expect(options == DecodeOptions() && options.hashValue == DecodeOptions().hashValue)
    }
}
