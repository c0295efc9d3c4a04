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
        if hasResponse { entry.answer = response("max-age=0, stale-while-revalidate=0, ") }
        let key = ImageKey(source: request.absoluteString)
        let file = entry.data + EntryFile.trailer(for: entry, key: key, stored: 1)
        #expect(try read(file, key).validators == validators)
        #expect(try read(file, key).answer == entry.answer)
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
}
