import CIsolation
import Foundation
import Glibc
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import TintypeIsolation

@Suite("Isolated decoding: messages", .timeLimited)
struct WireTests {
    private func sent<Message: Codable>(_ message: Message) throws -> Message {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        try WireSocket(descriptor: ends[0]).send(message) { _ throws(WireSocket.Failure) in throw .interrupted }
        return try WireSocket(descriptor: ends[1]).receive(Message.self) { _ throws(WireSocket.Failure) in
            throw .interrupted
        }
    }

    /// The names of the properties in which two values don't differ.
    private func equal<Value>(_ left: Value, _ right: Value) -> [String] {
        zip(Mirror(reflecting: left).children, Mirror(reflecting: right).children).compactMap { left, right in
            String(reflecting: left.value) == String(reflecting: right.value) ? left.label : nil
        }
    }

    private var metadata: ImageMetadata {
        var metadata = ImageMetadata(exif: Data([7]), xmp: Data([8, 9]), iptc: Data([10]))
        metadata.iptcDigest = Data(count: 16)
        return metadata
    }

    /// Options that all differ from the default.
    private var options: DecodeOptions {
        var options = DecodeOptions()
        options.thumbnailSize = PixelSize(width: 30, height: 40)
        options.preservesAspectRatio = false
        options.coversThumbnailSize = true
        options.allowsUpscaling = true
        options.prefersFastThumbnail = true
        options.maximumBytes = .megabytes(3)
        options.page = 4
        options.firstFrameOnly = true
        options.scale = 2.5
        options.allowsPartialImage = true
        options.keepsColorSpace = true
        options.decodeToHDR = true
        options.formatHint = .raw
        return options
    }

    private var limits: DecodeLimits {
        var limits = DecodeLimits(maximumPixels: 1, maximumBytes: .bytes(2), maximumFrames: 3)
        limits.maximumSide = 4
        limits.maximumAnimationPixels = 5
        return limits
    }

    /// A header whose properties all differ from those of another one.
    private var info: ImageInfo {
        var info = ImageInfo(
            format: .avif, size: PixelSize(width: 3, height: 4), orientation: .left, frameCount: 2, loopCount: 5,
            frameDurations: [.milliseconds(6), .nanoseconds(7)], hasAlpha: true, bitsPerComponent: 10,
            colorProfile: "Some RGB", isComplete: false, isHighDynamicRange: true)
        info.pageCount = 9
        info.metadata = metadata
        info.gainMap = ImageInfo.GainMap(size: PixelSize(width: 2, height: 1), components: 3)
        return info
    }

    /// Properties that all differ from the default.
    private var properties: Image.Properties {
        var properties = Image.Properties()
        properties.format = .jxl
        properties.scale = 3
        properties.loopCount = 4
        properties.colorSpace = ColorSpace(name: "Some RGB", profile: Data([1, 2, 3]))
        properties.bitsPerComponent = 12
        properties.isHighDynamicRange = true
        properties.hasAlpha = false
        properties.sourceSize = PixelSize(width: 5, height: 6)
        properties.sourceOrientation = .rightMirrored
        properties.metadata = metadata
        properties.isPartial = true
        properties.isTransformed = true
        properties.isVector = true
        properties.mayMove = true
        properties.decodeOptions.page = 1
        return properties
    }

    @Test("Every decode option reaches the helper but the settings of single formats", .capability("ISO-01"))
    func everyOption() throws {
        // A new property fails here until it is set above, and then below until it is written.
        #expect(equal(options, DecodeOptions()) == ["formatSettings"])
        #expect(try sent(options) == options)
    }

    @Test("Every limit reaches the helper", .capability("ISO-01"))
    func everyLimit() throws {
        #expect(equal(limits, DecodeLimits()).isEmpty)
        #expect(try sent(limits) == limits)
    }

    @Test("Every property of a header comes back", .capability("ISO-01"))
    func everyPropertyOfHeaders() throws {
        let other = ImageInfo(format: .png, size: .zero, hasAlpha: false)
        #expect(equal(info, other).isEmpty)
        #expect(try sent(info) == info)
    }

    @Test("Every property of an image comes back", .capability("ISO-01"))
    func everyProperty() throws {
        #expect(equal(properties, Image.Properties()).isEmpty)
        #expect(try sent(properties) == properties)
        for format in PixelFormat.allCases {
            let size = PixelSize(width: 7, height: 3)
            var header = ImageInfo(format: .jxl, size: size, frameCount: 2, hasAlpha: true)
            header.metadata = metadata
            let image = try sent(
                WireImage(size, format, duration: .milliseconds(5), properties: properties, animation: header))
            #expect(image.size == size && image.format == format && image.properties == properties)
            // The properties have the metadata.
            header.metadata = ImageMetadata()
            #expect(image.duration == .milliseconds(5) && image.animation == header)
        }
    }

    /// A worker of another version is told by the number alone, before it reads a message.
    @Test("Messages have another version when they have another form")
    func version() throws {
        let settings = WorkerSettings(memoryLimit: 1, workingMemoryLimit: 2, variables: ["A": "b"], locale: "C")
        let request = WireRequest(byteCount: 1, formats: [.gif], options: options, limits: limits)
        let size = PixelSize(width: 7, height: 3)
        let image = WireImage(size, .rgba16, duration: .seconds(5), properties: properties, animation: info)
        let asked: [HostMessage] = [
            .begin(settings), .info(request), .decode(request), .open(request), .nextFrame, .seek(1),
            .keepSeekPoints(1), .close, .proceed, .stop, .memory,
        ]
        let answers: [WorkerMessage] = [
            .ready, .reserve(1), .info(info), .opened(info, size), .layout(image), .written, .done,
            .failed(.corruptImage, "a"),
        ]
        let texts = try asked.map { try WireContent($0).text } + answers.map { try WireContent($0).text }
        var sum: UInt64 = 0xCBF2_9CE4_8422_2325
        for text in texts {
            let sorted = try JSONSerialization.data(
                withJSONObject: JSONSerialization.jsonObject(with: text), options: .sortedKeys)
            // FNV-1a.
            for byte in sorted { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        #expect(
            TINTYPE_WIRE_VERSION == 5 && sum == 16_555_038_641_868_899_168,
            "if the form has changed, raise TINTYPE_WIRE_VERSION, and write it here with the sum \(sum)")
    }

    @Test("Numbers that aren't finite arrive")
    func infinity() throws {
        var options = self.options
        options.scale = .infinity
        #expect(try sent(options) == options)
    }

    @Test("Settings of single formats can't be sent")
    func settings() throws {
        var options = DecodeOptions()
        options[FormatDetail.self].level = 3
        #expect(throws: WireSocket.Failure.self) { try sent(options) }
    }

    @Test("No bytes can make a reader trap", .capability("ISO-02"))
    func randomBytes() throws {
        var random = SeededRandom(seed: 14)
        var info = ImageInfo(
            format: .avif, size: PixelSize(width: 3, height: 4), frameDurations: [.zero], hasAlpha: true)
        info.metadata = metadata
        let good = try WireContent(WorkerMessage.info(info))
        let pieces = ["[", "}", "\"", "\\ud800", "1e999", "-", "99999999999999999999", "null", "\0", ",", ":"]
        for round in 0..<2_000 {
            var (text, blocks) = (good.text, good.blocks)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<text.count, using: &random)
                switch round % 3 {
                case 0: text[place] = UInt8.random(in: 0...255, using: &random)
                case 1: text.insert(contentsOf: pieces.randomElement(using: &random)!.utf8, at: place)
                default: text.removeSubrange(place..<min(text.count, place + 3))
                }
            }
            if round % 2 == 0 { blocks.removeLast(Int.random(in: 0...blocks.count, using: &random)) }
            let content = WireContent(text: text, blocks: blocks)
            _ = try? content.message(WorkerMessage.self)
            _ = try? content.message(HostMessage.self)
        }
    }

    @Test(
        "Strings that would take long to compare are refused unread, whatever their place and encoding",
        .capability("ISO-02"))
    func longStrings() throws {
        let marks = String(repeating: "\u{316}\u{301}", count: 8_000)
        let escaped = String(repeating: #"\u0316\u0301"#, count: 1_000)
        // A quotation mark in a string doesn't end it, and neither does half of a character of two bytes.
        let hidden = String(repeating: #"\"∢"#, count: 4_000)
        for long in [marks, escaped, hidden] {
            for text in [#"{"reserve":{"_0":1,"\#(long)":0}}"#, #"{"failed":{"_0":"\#(long)","_1":""}}"#] {
                for encoding in [String.Encoding.utf8, .utf16, .utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian]
                {
                    let content = WireContent(text: try #require(text.data(using: encoding)), blocks: Data())
                    #expect(throws: WireSocket.Failure.self) { try content.message(WorkerMessage.self) }
                }
            }
        }
        let short = WireContent(
            text: Data(#"{"reserve":{"_0":1,"\\\"\#(String(marks.unicodeScalars.prefix(100)))":0}}"#.utf8),
            blocks: Data())
        guard case .reserve(1) = try short.message(WorkerMessage.self) else {
            Issue.record("another message")
            return
        }
    }

    @Test(
        "Data that a message says it has, and hasn't, is nonsense; so is data that it doesn't mention",
        .capability("ISO-02"))
    func blocks() throws {
        let good = try WireContent(metadata)
        #expect(try good.message(ImageMetadata.self) == metadata)
        for blocks in [good.blocks.dropLast(), good.blocks + [1], Data()] {
            let content = WireContent(text: good.text, blocks: blocks)
            #expect(throws: WireSocket.Failure.self) { try content.message(ImageMetadata.self) }
        }
        let negative = WireContent(text: Data(#"{"exif":-1}"#.utf8), blocks: Data())
        #expect(throws: WireSocket.Failure.self) { try negative.message(ImageMetadata.self) }
    }

    @Test("A file arrives with its message")
    func files() throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let memory = try SharedMemory(Data("bytes".utf8))
        try WireSocket(descriptor: ends[0]).send(HostMessage.memory, file: memory.descriptor) {
            _ throws(WireSocket.Failure) in
            throw .interrupted
        }
        var file: Int32 = -1
        _ = try WireSocket(descriptor: ends[1]).receive(HostMessage.self, file: &file) {
            _ throws(WireSocket.Failure) in throw .interrupted
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 5)
        #expect(file != memory.descriptor && pread(file, &bytes, 5, 0) == 5)
        #expect(String(decoding: bytes, as: UTF8.self) == "bytes")
        // Its size can't change.
        #expect(ftruncate(file, 3) != 0 && ftruncate(file, 100) != 0)
    }
}

/// Settings of a format.
private struct FormatDetail: FormatOptions {
    var level = 0
}
