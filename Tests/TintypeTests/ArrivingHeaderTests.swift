import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@Suite("The header of an image that arrives", .timeLimited)
struct ArrivingHeaderTests {
    private func url(_ name: String) throws -> URL { try #require(URL(string: "test:/\(name)")) }

    private func data(_ format: ImageFormat) throws -> Data {
        let image = try SampleImages.draw(.sea, scale: 0.1)
        return try Image(data: image.data).encoded(as: format)
    }

    /// The headers that the events of a load had, from the first to the last.
    private func headers(_ chunks: [Data]) async throws -> [ImageInfo?] {
        let url = try url("image")
        let gate = OriginGate()
        let manager = ImageManager(cache: ImageCache(), loader: TestLoader([url: .chunks(chunks, gate: gate)]))
        let task = manager.task(for: ImageRequest(url))
        var headers: [ImageInfo?] = []
        gate.open()
        for await event in task.events {
            guard case .progress(let progress) = event, progress.receivedBytes > 0 else { continue }
            headers.append(progress.header)
            gate.open()
        }
        return headers
    }

    @Test(
        "Progress has the size and the format of an image before its bytes are complete",
        arguments: [ImageFormat.jpeg, .png, .webp, .gif])
    func known(format: ImageFormat) async throws {
        let data = try data(format)
        let half = data.count / 2
        let headers = try await headers([data.prefix(half), data.dropFirst(half)])
        let header = try #require(headers.first as? ImageInfo)
        #expect(header.format == format && header.size == PixelSize(width: 160, height: 100))
    }

    @Test("Bytes that begin like no image, or come in one piece, have no header")
    func unknown() async throws {
        let data = try data(.png)
        #expect(try await headers([data]).allSatisfy { $0 == nil })
        let page = Data("<!doctype html><p>Not found".utf8)
        #expect(try await headers([page, page, page]).allSatisfy { $0 == nil })
    }
}
