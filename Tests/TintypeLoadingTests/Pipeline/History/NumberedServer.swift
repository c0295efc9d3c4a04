import Foundation

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// A server whose pictures are numbered: each that somebody sees tells when it was sent, to whom, and what was said of it.
final class NumberedServer: ImageLoading {
    /// The header fields of the answers about a source.
    struct Rules: Hashable {
        var noStore = false
        /// The seconds for which an answer is fresh.
        var maxAge = 0
        /// True for a source whose answers vary with the language.
        var varies = false
    }

    /// An answer: a new picture, or the word that an earlier one is still current.
    struct Statement: Hashable {
        var number: Int
        var source: Int
        var user: String
        var language: String
        var rules: Rules
        /// The tick at which the request came.
        var asked: Int
        var date: Date

        func isFor(_ load: CallerHistory.Load) -> Bool {
            source == load.picture.source && user == load.user && (!rules.varies || language == load.language)
        }
    }

    static let sourceCount = 3

    struct State {
        var rules = [Rules](repeating: Rules(), count: sourceCount)
        /// The number of the first picture that is current.
        var firstCurrent = [Int](repeating: 1, count: sourceCount)
        var isDown = false
        /// The number of suspensions before an answer.
        var pauses = 0
        fileprivate(set) var statements: [Statement] = []
        fileprivate(set) var complaints: [String] = []
        fileprivate(set) var last = 0
        fileprivate var ticks = 0
    }

    private let state = Lock(State())
    let clock = WallClock()

    var now: State { state.withLock { $0 } }
    func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

    /// A number that is higher than all before it, by which events are put in order.
    func tick() -> Int {
        state.withLock { state in
            state.ticks += 1
            return state.ticks
        }
    }

    func canLoad(_ url: URL) -> Bool { url.scheme == "test" }

    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        let asked = tick()
        for _ in 0..<now.pauses { await Task.yield() }
        let answer = state.withLock { state in state.answer(request, asked: asked, at: clock.date) }
        guard let (statement, isNew) = answer else {
            throw ImageError(.connectionFailed, stage: .load, reason: "the server is down")
        }
        var loaded = LoadedData.notModified(url: request.url, statusCode: 304)
        if isNew {
            loaded = LoadedData(
                data: Self.bytes(statement.number), url: request.url, statusCode: 200, mimeType: "image/x-picture",
                validators: CacheValidators(entityTag: String(statement.number)))
        }
        let rules = statement.rules
        loaded.headers["Cache-Control"] = rules.noStore ? "no-store" : "max-age=\(rules.maxAge)"
        if rules.varies { loaded.headers["Vary"] = "Accept-Language" }
        return loaded
    }

    /// Bytes that ``PictureCoder`` decodes.
    private static func bytes(_ number: Int) -> Data {
        let size = ModelPicture.sourceSize
        return Data("PICTURE \(number % 256) \(number / 256) 0 0 \(size.width) \(size.height) 1".utf8)
    }
}

extension NumberedServer.State {
    /// - Returns: The answer, and whether it has a new picture; `nil` if the server is down.
    fileprivate mutating func answer(
        _ request: LoadRequest, asked: Int, at date: Date
    ) -> (NumberedServer.Statement, isNew: Bool)? {
        guard !isDown else { return nil }
        let source = Int(request.url.absoluteString.dropFirst(5)) ?? 0
        var statement = NumberedServer.Statement(
            number: last + 1, source: source, user: request.headers["Authorization"] ?? "",
            language: request.headers["Accept-Language"] ?? "", rules: rules[source], asked: asked, date: date)
        var isNew = true
        if let tag = request.validators?.entityTag, let number = Int(tag) {
            guard let known = statements.first(where: { $0.number == number }) else { return nil }
            if known.source != source || known.user != statement.user {
                complaints.append("\(statement.user) asked whether the picture \(number) of \(known.user) is current")
            }
            isNew = number < firstCurrent[source] || known.language != statement.language
            if !isNew { statement.number = number }
        }
        if isNew { last += 1 }
        statements.append(statement)
        return (statement, isNew)
    }
}
