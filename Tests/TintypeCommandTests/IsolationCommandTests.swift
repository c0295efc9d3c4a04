import ArgumentParser
import Foundation
import TestSupport
import Testing
import Tintype

@testable import TintypeCommand

@Suite("Isolation in commands", .timeLimited)
struct IsolationCommandTests {
    private func coders(_ arguments: String...) throws -> [any ImageCoder] {
        try IsolationArguments.parse(arguments).coders.coders
    }

    @Test("What is isolated is chosen", .capability("ISO-03"))
    func choice() throws {
        let count = ImageCoders.default.coders.count
        #expect(try coders("--isolate", "none").contains { $0 is PNGCoder })
        #expect(try coders("--isolate", "all").allSatisfy { !($0 is PNGCoder || $0 is GIFCoder) })
        #expect(try coders().contains { $0 is PNGCoder } && coders().count == count)
        #if SVG
        #expect(try coders("--isolate", "none").contains { $0 is SVGCoder })
        #expect(try !coders().contains { $0 is SVGCoder })
        #endif
        #expect(throws: (any Error).self) { try coders("--isolate", "some") }
    }
}
