public import FoundationEssentials
public import TintypeLoading

/// A loader with scripted answers, to test programs that load images.
///
/// It needs no network and no server. It records every request, and an answer can wait at an ``OriginGate``, so that a test
/// decides when it arrives.
///
/// ```swift
/// let url = try #require(URL(string: "test:/avatar.png"))
/// let loader = TestLoader([url: .data(png, mimeType: "image/png")])
/// let manager = ImageManager(cache: ImageCache(), loader: loader)
/// _ = try await manager.image(for: url)
/// _ = try await manager.image(for: url)
/// #expect(loader.requestCount(for: url) == 1)
/// ```
public final class TestLoader: ImageLoading {
    /// An answer to a request.
    public struct Answer: Sendable {
        /// The steps before the end, in order.
        var steps: [Step] = []
        var end: Result<LoadedData, ImageError>

        enum Step: Sendable {
            case bytes(Data)
            case wait(OriginGate)
        }

        /// Returns an answer with the bytes of an image.
        /// - Parameters:
        ///   - data: the bytes, which arrive all at once.
        ///   - mimeType: the media type.
        ///   - validators: the validators for later requests.
        public static func data(
            _ data: Data, mimeType: String? = nil, validators: CacheValidators? = nil
        ) -> Answer {
            chunks([data], mimeType: mimeType, validators: validators)
        }

        /// Returns an answer whose bytes arrive in several chunks.
        /// - Parameters:
        ///   - chunks: the chunks.
        ///   - gate: a gate where each chunk waits; `nil` for none.
        ///   - mimeType: the media type.
        ///   - validators: the validators for later requests.
        public static func chunks(
            _ chunks: [Data], gate: OriginGate? = nil, mimeType: String? = nil, validators: CacheValidators? = nil
        ) -> Answer {
            var answer = Answer(
                end: .success(
                    LoadedData(
                        data: chunks.reduce(into: Data()) { $0.append($1) }, url: URL(filePath: "/"),
                        mimeType: mimeType, validators: validators)))
            for chunk in chunks {
                if let gate { answer.steps.append(.wait(gate)) }
                answer.steps.append(.bytes(chunk))
            }
            return answer
        }

        /// Returns an answer that is an error.
        /// - Parameter error: the error. Its source becomes the URL of the request unless it already has a source.
        public static func failure(_ error: ImageError) -> Answer { Answer(end: .failure(error)) }

        /// Returns an answer that is an HTTP status other than success.
        /// - Parameter status: the status, such as 404.
        public static func status(_ status: Int) -> Answer {
            .failure(ImageError(.badStatus, stage: .load, reason: "HTTP \(status)", statusCode: status))
        }

        /// Returns the same answer, waiting at a gate before its first byte or its error.
        /// - Parameter gate: the gate.
        public func waiting(at gate: OriginGate) -> Answer {
            var answer = self
            answer.steps.insert(.wait(gate), at: 0)
            return answer
        }
    }

    private struct State {
        var answers: [URL: Answer]
        var requests: [LoadRequest] = []
        var running = 0
        var cancelled = 0
    }

    /// The schemes that the loader accepts.
    public let schemes: [String]
    private let treatsAsLocal: Bool
    private let handler: @Sendable (LoadRequest) async -> Answer?
    private let state: Watched<State>

    /// Creates a loader with an answer for each URL.
    /// - Parameters:
    ///   - answers: the answers. Every other URL is answered with status 404.
    ///   - schemes: the URL schemes that the loader accepts.
    ///   - isLocal: true if the bytes are local, and need no disk cache.
    public init(_ answers: [URL: Answer] = [:], schemes: [String] = ["test", "http", "https"], isLocal: Bool = false) {
        self.schemes = schemes
        treatsAsLocal = isLocal
        handler = { _ in nil }
        state = Watched(State(answers: answers))
    }

    /// Creates a loader that computes its answers.
    /// - Parameters:
    ///   - schemes: the URL schemes that the loader accepts.
    ///   - isLocal: true if the bytes are local, and need no disk cache.
    ///   - handler: returns the answer to a request. Answers that are set with ``answer(_:with:)`` take precedence.
    public init(
        schemes: [String] = ["test", "http", "https"], isLocal: Bool = false,
        handler: @escaping @Sendable (LoadRequest) async -> Answer
    ) {
        self.schemes = schemes
        treatsAsLocal = isLocal
        self.handler = handler
        state = Watched(State(answers: [:]))
    }

    /// Sets the answer to later requests for a URL.
    /// - Parameters:
    ///   - url: the URL.
    ///   - answer: the answer; `nil` removes it.
    public func answer(_ url: URL, with answer: Answer?) {
        state.update { $0.answers[url] = answer }
    }

    public func isLocal(_ url: URL) -> Bool { treatsAsLocal }

    public func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        let scripted = state.update { state in
            state.requests.append(request)
            state.running += 1
            return state.answers[request.url]
        }
        defer { state.update { $0.running -= 1 } }
        do throws(ImageError) {
            var answer = scripted
            if answer == nil { answer = await handler(request) }
            return try await perform(answer ?? .status(404), for: request)
        } catch {
            if error.isCancellation { state.update { $0.cancelled += 1 } }
            throw error.withSource(request.url.shortDescription)
        }
    }

    private func perform(_ answer: Answer, for request: LoadRequest) async throws(ImageError) -> LoadedData {
        let expected = try? answer.end.get().data.count
        var received = 0
        for step in answer.steps {
            switch step {
            case .wait(let gate):
                do { try await gate.pass() } catch { throw Self.cancelled }
            case .bytes(let data):
                if received == 0 { request.receive(LoadProgress(receivedBytes: 0, expectedBytes: expected)) }
                received += data.count
                request.receive(LoadProgress(chunk: data, receivedBytes: received, expectedBytes: expected))
            }
        }
        if Task.isCancelled { throw Self.cancelled }
        var loaded = try answer.end.get()
        loaded.url = request.url
        return loaded
    }

    private static let cancelled = ImageError(.cancelled, stage: .load, reason: "the load was canceled")
}

extension TestLoader {
    /// All requests, in the order of their arrival.
    public var requests: [LoadRequest] { state.value.requests }

    /// The number of loads that have not ended.
    public var runningLoads: Int { state.value.running }

    /// The number of loads that ended because they were canceled.
    public var cancelledLoads: Int { state.value.cancelled }

    /// Returns the number of requests.
    /// - Parameter url: the URL to count; `nil` for all.
    public func requestCount(for url: URL? = nil) -> Int {
        requests.count { url == nil || $0.url == url }
    }

    /// Waits until requests have arrived.
    /// - Parameters:
    ///   - count: the number of requests since the loader was created.
    ///   - url: the URL to count; `nil` for all.
    ///   - timeLimit: the longest wait; `nil` for no limit. The default is ten minutes.
    /// - Throws: `CancellationError`, and ``WaitTimeout`` after the time limit.
    public func waitForRequests(_ count: Int, for url: URL? = nil, timeLimit: Duration? = .seconds(600)) async throws {
        try await state.wait(timeLimit: timeLimit) { state in
            state.requests.count { url == nil || $0.url == url } >= count
        }
    }
}
