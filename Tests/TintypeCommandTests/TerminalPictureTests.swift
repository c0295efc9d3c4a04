import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import CommandSupport
@testable import TintypeCommand

/// Pixels from rows of text: R, G, B, W, or a space for a transparent one.
func pixels(_ rows: String...) throws -> PixelBuffer {
    let colors: [Character: SIMD4<UInt8>] = [
        "R": [255, 0, 0, 255], "G": [0, 255, 0, 255], "B": [0, 0, 255, 255], "W": [255, 255, 255, 255],
    ]
    let buffer = try MutablePixelBuffer(size: PixelSize(width: rows[0].count, height: rows.count))
    for (y, row) in rows.enumerated() {
        for (x, character) in row.enumerated() {
            buffer.row(y).storeBytes(of: colors[character] ?? .zero, toByteOffset: x * 4, as: SIMD4<UInt8>.self)
        }
    }
    return buffer.freeze()
}

@Suite("Pictures for terminals", .timeLimited)
struct TerminalPictureTests {
    @Test("Half blocks have the colors of two pixels, and the background where both are transparent")
    func halfBlocks() throws {
        let lines = try HalfBlocks().lines(pixels("RRG ", "RB  ", "W  R"))
        #expect(
            lines == [
                "\u{1B}[38;2;255;0;0m\u{1B}[48;2;255;0;0m▀\u{1B}[48;2;0;0;255m▀\u{1B}[38;2;0;255;0m\u{1B}[49m▀ \u{1B}[0m",
                "\u{1B}[38;2;255;255;255m▀  \u{1B}[38;2;255;0;0m▀\u{1B}[0m",
            ])
        #expect(try HalfBlocks().lines(pixels(" ", "R")) == ["\u{1B}[38;2;255;0;0m▄\u{1B}[0m"])
        #expect(try HalfBlocks(hasTrueColor: false).lines(pixels("R")) == ["\u{1B}[38;5;196m▀\u{1B}[0m"])
    }

    @Test("Inside tmux, sixels are short enough for it, and no question is about pictures")
    func limitsOfTmux() throws {
        var generator = SeededRandom(seed: 7)
        var noise = try MutablePixelBuffer(size: PixelSize(width: 800, height: 600))
        noise.withUnsafeMutableBytes { bytes in
            for index in bytes.indices {
                bytes[index] = index % 4 == 3 ? 255 : UInt8.random(in: 0...255, using: &generator)
            }
        }
        var terminal = Terminal()
        terminal.isInsideTmux = true
        var picture = TerminalPicture(
            graphics: .sixel, terminal: terminal, layout: TerminalLayout(.sixel, in: terminal))
        #expect(try picture.frame(noise.freeze()).utf8.count <= 1_048_576)
        #expect(!TerminalReply.questions(isInsideTmux: true).contains("\u{1B}_"))
        #expect(TerminalReply.questions(isInsideTmux: false).hasPrefix("\u{1B}_Gi=31"))
    }

    @Test("The 256 colors are found where they are exact, and no color is far off")
    func fixedColors() {
        #expect(HalfBlocks.index([0, 0, 0]) == 16 && HalfBlocks.index([255, 255, 255]) == 231)
        #expect(HalfBlocks.index([95, 135, 175]) == 67 && HalfBlocks.index([128, 128, 128]) == 244)
        #expect(HalfBlocks.index([8, 8, 8]) == 232 && HalfBlocks.index([238, 238, 238]) == 255)
        for value in stride(from: 0, through: 255, by: 5) {
            #expect((16...255).contains(HalfBlocks.index([UInt8(value), UInt8(255 - value), 77])))
        }
    }

    @Test("A picture for Kitty comes in pieces of 4,096 characters, and only the last one says so")
    func kittyPieces() throws {
        let buffer = try picture(width: 60, height: 40, alpha: true).pixels
        let sequences = try KittyGraphics(id: 7).sequences(buffer)
        #expect(sequences.count == 4)
        #expect(sequences[0].hasPrefix("\u{1B}_Ga=T,f=32,s=60,v=40,i=7,C=1,q=2,m=1;"))
        #expect(sequences.dropFirst().dropLast().allSatisfy { $0.hasPrefix("\u{1B}_Gm=1,q=2;") })
        #expect(sequences[3].hasPrefix("\u{1B}_Gm=0,q=2;") && sequences.allSatisfy { $0.hasSuffix("\u{1B}\\") })
        let text = sequences.map { $0.dropLast(2).split(separator: ";")[1] }.joined()
        #expect(try [UInt8](required(Data(base64Encoded: text))) == buffer.straightRGBA())
        #expect(text.count > 3 * 4_096)
    }

    @Test("Inside tmux, a picture for Kitty is sent through, and drawn by characters that tmux moves like text")
    func kittyInTmux() throws {
        var terminal = Terminal()
        (terminal.isInteractive, terminal.isInsideTmux) = (true, true)
        let layout = TerminalLayout(.kitty, in: terminal)
        let ids = Lock<[UInt32]>([2 << 24 | 9, 2 << 24 | 8])
        var drawn = TerminalPicture(
            graphics: .kitty, terminal: terminal, layout: layout, newID: { ids.withLock { $0.removeFirst() } })
        let buffer = try picture(width: 24, height: 32).pixels
        let drawing = try drawn.frame(buffer)
        #expect(drawing.hasPrefix("\u{1B}Ptmux;\u{1B}\u{1B}_Ga=T,U=1,f=32,s=24,v=32,i=33554441,c=3,r=2,q=2,m=0;"))
        #expect(drawing.contains("\u{1B}\u{1B}\\\u{1B}\\\u{1B}[38;5;9m") && !drawing.contains("a=d"))
        // The next frame takes the place of this one, which is removed then.
        #expect(
            try drawn.frame(buffer).hasSuffix("\u{1B}Ptmux;\u{1B}\u{1B}_Ga=d,d=I,i=33554441,q=2\u{1B}\u{1B}\\\u{1B}\\"))
        let rows = KittyGraphics(id: 2 << 24 | 9).placeholders(CellSize(columns: 3, rows: 2))
        #expect(
            rows == [
                "\u{1B}[38;5;9m\u{10EEEE}\u{305}\u{305}\u{30E}\u{10EEEE}\u{10EEEE}\u{1B}[39m",
                "\u{1B}[38;5;9m\u{10EEEE}\u{30D}\u{305}\u{30E}\u{10EEEE}\u{10EEEE}\u{1B}[39m",
            ])
        #expect(KittyGraphics.maximumPlaceholderRows == 129)
        terminal.rows = 1_000
        #expect(TerminalLayout(.kitty, in: terminal).room.rows == 129)
    }

    @Test("The frames of an animation have numbers in turn, and each is removed once the next one is there")
    func kittyFrames() throws {
        let layout = TerminalLayout(.kitty, in: Terminal())
        // The number of a frame must not be that of the one before.
        let ids = Lock<[UInt32]>([7, 7, 8])
        var drawn = TerminalPicture(
            graphics: .kitty, terminal: Terminal(), layout: layout, newID: { ids.withLock { $0.removeFirst() } })
        let first = try drawn.frame(pixels("R"))
        #expect(first.hasPrefix("\u{1B}_Ga=T,f=32,s=1,v=1,i=7,") && !first.contains("a=d"))
        for (new, old) in [(8, 7), (7, 8), (8, 7)] {
            let frame = try drawn.frame(pixels("G"))
            #expect(frame.hasPrefix("\u{1B}_Ga=T,f=32,s=1,v=1,i=\(new),"))
            #expect(frame.hasSuffix("\u{1B}\\\u{1B}_Ga=d,d=I,i=\(old),q=2\u{1B}\\"))
            // A window of another size has the same picture.
            drawn = drawn.resized(to: CellSize(columns: 50, rows: 20), room: nil)
        }
    }

    @Test("Random numbers of pictures consist of a color and a number that has a diacritic")
    func kittyNumbers() {
        let ids = (0..<1_000).map { _ in KittyGraphics.randomID() }
        #expect(ids.allSatisfy { (1..<128).contains($0 >> 24) && (1...255).contains($0 & 0xFF) })
        #expect(ids.allSatisfy { $0 & 0xFFFF00 == 0 } && Set(ids).count > 500)
        #expect(KittyGraphics.maximumPlaceholderRows >= 128)
    }

    private func frame(_ graphics: TerminalProtocol, _ pixels: PixelBuffer, inTmux: Bool = false) throws -> String {
        var terminal = Terminal()
        terminal.isInsideTmux = inTmux
        let layout = TerminalLayout(graphics, in: terminal)
        var drawn = TerminalPicture(graphics: graphics, terminal: terminal, layout: layout)
        return try drawn.frame(pixels)
    }

    @Test("Inside tmux, iTerm2's images are wrapped, with every escape doubled, and sixels are for tmux itself")
    func wrapping() throws {
        let sequence = try frame(.iterm2, pixels("RG")).dropFirst(2).dropLast(2)
        #expect(
            try frame(.iterm2, pixels("RG"), inTmux: true) == "\u{1B}7\u{1B}Ptmux;"
                + sequence.replacing("\u{1B}", with: "\u{1B}\u{1B}") + "\u{1B}\\\u{1B}8")
        #expect(try frame(.sixel, pixels("RG"), inTmux: true) == frame(.sixel, pixels("RG")))
    }

    /// The size in cells and the file that iTerm2 gets.
    private func inlineImage(_ pixels: PixelBuffer) throws -> (cells: CellSize, file: Data) {
        let text = try frame(.iterm2, pixels)
        let match = try required(
            text.wholeMatch(
                of:
                    /\x1B7\x1B\]1337;File=inline=1;size=(\d+);width=(\d+);height=(\d+);.*:([A-Za-z0-9+\/=]+)\x07\x1B8/))
        let file = try required(Data(base64Encoded: String(match.4)))
        #expect(Int(match.1) == file.count && text.utf8.count < 1_048_576)
        return (CellSize(columns: try required(Int(match.2)), rows: try required(Int(match.3))), file)
    }

    @Test("iTerm2 gets a PNG with its length")
    func smallInlineImage() throws {
        let buffer = try picture(width: 20, height: 10, alpha: true).pixels
        let (cells, file) = try inlineImage(buffer)
        #expect(cells == CellSize(columns: 3, rows: 1))
        #expect(try ImageCoders.default.decode(file).pixels == buffer)
    }

    @Test("A large picture is a JPEG, or has fewer pixels if it is transparent, because iTerm2 drops long sequences")
    func largeInlineImage() throws {
        var random = SystemRandomNumberGenerator()
        func noise(alpha: UInt8) throws -> PixelBuffer {
            let buffer = try MutablePixelBuffer(size: PixelSize(width: 800, height: 600))
            for y in 0..<600 {
                for x in 0..<800 {
                    let color = UInt32.random(in: 0...UInt32.max, using: &random)
                    buffer.row(y).storeBytes(of: color, toByteOffset: x * 4, as: UInt32.self)
                    buffer.row(y).storeBytes(of: 255, toByteOffset: x * 4 + 3, as: UInt8.self)
                }
            }
            buffer.row(0).storeBytes(of: alpha == 0 ? 0 : 0xFFFF_FFFF, as: UInt32.self)
            return buffer.freeze()
        }
        for (alpha, format, size) in [
            (255, ImageFormat.jpeg, PixelSize(width: 800, height: 600)), (0, .png, PixelSize(width: 400, height: 300)),
        ] {
            let (cells, file) = try inlineImage(noise(alpha: UInt8(alpha)))
            // The room on the screen stays.
            #expect(cells == CellSize(columns: 100, rows: 38) && file.count <= InlineImage.longestFile)
            let info = try ImageInfo(data: file)
            #expect(info.format == format && info.size == size)
        }
    }

    @Test("Sixels have runs, all colors, and nothing for transparent pixels")
    func sixels() throws {
        #expect(
            try SixelEncoder.sequence(pixels("RRRRR ", "GG    "))
                == "\u{1B}P0;1q\"1;1;6;2#0;2;100;0;0#1;2;0;100;0#0!5@$#1AA\u{1B}\\")
        #expect(try SixelEncoder.sequence(pixels("R", "R", "R", "R", "R", "R", "G")).contains("#0~-#1@"))
        #expect(try SixelEncoder.sequence(pixels("  ")) == "\u{1B}P0;1q\"1;1;2;1\u{1B}\\")
    }
}
