import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@Suite("Samples that isolate decoding", .timeLimited)
struct IsolationSnippets {
    @Test("Coders decode in processes of their own", .capability("ISO-03"))
    func isolated() throws {
        let manager = try SnippetBench().manager()
        // snippet: isolated
        manager.coders = .default  // SVG, PDF, camera files, HEIC, and JPEG XL
        manager.coders = .default.isolated(.all)  // every format of this package
        manager.coders = .inProcess  // none
        // snippet.end
        // snippet: isolation-settings
        var isolation = DecoderIsolation()
        isolation.timeLimit = .seconds(5)
        isolation.memoryLimit = .megabytes(500)
        manager.coders = .default.isolated(.all, by: isolation)
        // snippet.end
        let picture = try SampleImages.draw(.colorWheel, scale: 0.05).data
        #expect(try manager.coders.info(of: picture, context: ProcessingContext()).format == .png)
    }
}
