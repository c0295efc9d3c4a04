import CXXHash
import Foundation
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("The URL that validators belong to", .timeLimited)
struct ValidatorOwnerTests {
    private let request = URL(string: "https://h/latest?token=secret")!
    private let target = URL(string: "https://h/1?token=secret")!

    @Test("Validators belong to the URL that gave them, and to no other")
    func belong() throws {
        let own = CacheValidators(entityTag: "\"1\"")
        #expect(own.belong(to: request, of: request) && !own.belong(to: target, of: request))
        let other = own.owned(by: target, of: request)
        #expect(other.belong(to: target, of: request) && !other.belong(to: request, of: request))
        #expect(own.owned(by: request, of: request) == own)
        // Credentials and fragments don't make another resource.
        let login = try #require(URL(string: "https://me:pass@h/latest?token=secret#f"))
        #expect(own.owned(by: login, of: request) == own && own.belong(to: login, of: request))
        #expect(other.renewed(by: CacheValidators(lastModified: "x"))?.belong(to: target, of: request) == true)
    }

    private func read(_ file: Data, _ key: ImageKey) throws -> DiskCacheEntry {
        guard case .entry(let found) = file.withUnsafeBytes({ EntryFile.contents($0, key: key) }) else {
            throw CancellationError()
        }
        return found.entry
    }

    @Test("The disk keeps the URL that validators belong to, without its secrets", arguments: [false, true])
    func stored(_ hasResponse: Bool) throws {
        let validators = CacheValidators(entityTag: "\"1\"").owned(by: target, of: request)
        var entry = DiskCacheEntry(data: Data([1]), created: Date(timeIntervalSince1970: 1), validators: validators)
        if hasResponse { entry.response = response("max-age=0, stale-while-revalidate=0, ") }
        let key = ImageKey(source: request.absoluteString)
        let file = entry.data + EntryFile.trailer(for: entry, key: key, stored: 1)
        #expect(try read(file, key).validators == validators)
        #expect(try read(file, key).response == entry.response)
        #expect(file.range(of: Data("secret".utf8)) == nil && file.range(of: Data("/1".utf8)) == nil)
        entry.validators = CacheValidators(entityTag: "\"1\"")
        let own = entry.data + EntryFile.trailer(for: entry, key: key, stored: 1)
        #expect(try read(own, key).validators == entry.validators)
    }

    private func response(_ control: String?) -> StoredResponse {
        StoredResponse(
            statusCode: 200, headers: control.map { ["cache-control": $0] } ?? [:], request: SelectingFields([:]),
            requestTime: Date(timeIntervalSince1970: 1), responseTime: Date(timeIntervalSince1970: 1))
    }

    @Test(
        "An entry of an older version, which doesn't say so, keeps its validators only if there was no redirect",
        arguments: [("max-age=0, ", false), ("max-age=0, max-age=60", false), ("max-age=60", true), (nil, true)])
    func older(_ control: String?, _ areKept: Bool) throws {
        let key = ImageKey(source: request.absoluteString)
        var writer = ByteWriter()
        let digest = EntryFile.KeyDigest(key)
        for number in [digest.high, digest.low, digest.variant] { writer.integer(number) }
        writer.integer(UInt32(1))
        writer.string(key.source)
        writer.string("")
        writer.integer(Int64(1))
        writer.integer(Int64(1))
        writer.integer(Int64.max)
        writer.string("image/png")
        writer.string("\"1\"")
        writer.string(nil)
        writer.data(nil)
        writer.integer(Int64.max)
        writer.string(nil)
        writer.data(nil)
        writer.data(response(control).encoded)
        let description = Data(writer.bytes)
        // The sums of the newest format, around an older description.
        var entry = DiskCacheEntry(data: Data([1]), created: Date(timeIntervalSince1970: 1))
        entry.mimeType = "image/png"
        let plain = EntryFile.trailer(for: entry, key: key, stored: 1)
        var footer = ByteWriter()
        footer.bytes = Array(plain.suffix(EntryFile.footerSize))
        footer.bytes.replaceSubrange(
            16..<24, with: withUnsafeBytes(of: Self.checksum(description).littleEndian, Array.init))
        footer.bytes.replaceSubrange(
            32..<36, with: withUnsafeBytes(of: UInt32(description.count).littleEndian, Array.init))
        let file = entry.data + description + Data(footer.bytes)
        let found = try read(file, key)
        #expect((found.validators != nil) == areKept && found.response != nil)
    }

    private static func checksum(_ data: Data) -> UInt64 {
        data.withUnsafeBytes { tintype_xxh3($0.baseAddress, $0.count) }
    }
}
