#if HTTP
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import TintypeLoading

/// A request to a server and its response, as it arrives.
///
/// The client library calls it on an event loop. Arriving pieces wait here for the task of the transfer, which takes all of it at once: a
/// small response wakes that task a single time. While much is waiting, nothing more is read from the connection.
final class HTTPExchange: HTTPClientResponseDelegate {
    typealias Response = Void

    /// The cost of waiting pieces at which reading stops, in bytes.
    private static let maximumWaiting = 64 * 1_024
    /// The cost of a piece beside its bytes. Servers may send pieces of a single byte.
    private static let pieceCost = 64

    fileprivate struct State {
        var task: HTTPClient.Task<Void>?
        var head: HTTPResponseHead?
        /// True after the head has arrived.
        var hadHead = false
        var pieces: [ByteBuffer] = []
        /// The cost of the pieces.
        var waiting = 0
        /// The promise that lets the connection go on; `nil` while it needs none.
        var demand: EventLoopPromise<Void>?
        /// The end of the response. It counts after the pieces.
        var end: Result<Void, any Error>?
        /// The task of the transfer, while it waits.
        var waiter: UnsafeContinuation<Void, Never>?
        var isWakePlanned = false

        var hasData: Bool { head != nil || !pieces.isEmpty || end != nil }
    }

    private let state = Lock(State())
    /// Retained until the client library releases this object.
    private let client: SharedHTTPClient
    /// The time limits, which count arrivals at the connection: the program may keep Swift's threads busy.
    private let limits: RequestLimits?

    init(client: SharedHTTPClient, limits: RequestLimits? = nil) {
        self.client = client
        self.limits = limits
    }

    /// Sends a request.
    /// - Returns: the head of the response.
    /// - Throws: the error of the client library. If the calling task is canceled, this is `HTTPClientError.cancelled`.
    func head(of request: HTTPClient.Request) async throws -> HTTPResponseHead {
        try await withTaskCancellationHandler {
            if state.withLock({ $0.end == nil }) {
                let task = client.client.execute(
                    request: request, delegate: self, eventLoop: client.eventLoop(for: request))
                let hasEnded = state.withLock { state in
                    if state.end == nil { state.task = task }
                    return state.end != nil
                }
                if hasEnded { task.cancel() }
            }
            await waitForData()
            let (head, end) = state.withLock { ($0.head.take(), $0.end) }
            limits?.recordTaken()
            if let head { return head }
            try end?.get()
            throw HTTPClientError.remoteConnectionClosed
        } onCancel: {
            close()
        }
    }

    /// Waits for bytes of the body.
    /// - Returns: all pieces that wait; `nil` at the end of the body.
    /// - Throws: the error of the client library. If the calling task is canceled, this is `HTTPClientError.cancelled`.
    func pieces() async throws -> [ByteBuffer]? {
        // A fast server never lets the task wait, and so never lets its cancellation be seen.
        if Task.isCancelled {
            close()
            throw HTTPClientError.cancelled
        }
        // A small response is here already.
        if !state.withLock({ $0.hasData }) {
            await withTaskCancellationHandler {
                await waitForData()
            } onCancel: {
                close()
            }
        }
        let (pieces, demand, end) = state.withLock { state in
            defer { (state.pieces, state.waiting) = ([], 0) }
            return (state.pieces, state.demand.take(), state.end)
        }
        limits?.recordTaken()
        demand?.succeed()
        guard pieces.isEmpty else { return pieces }
        try end?.get()
        return nil
    }

    /// Ends the exchange. Unless the response is complete, its connection is closed, and later pieces fail.
    func close() { end(.failure(HTTPClientError.cancelled)) }

    /// Waits until there is something to take.
    private func waitForData() async {
        if state.withLock({ $0.hasData }) { return }
        await withUnsafeContinuation { continuation in
            let hasData = state.withLock { state in
                if !state.hasData { state.waiter = continuation }
                return state.hasData
            }
            if hasData { continuation.resume() }
        }
    }

    private func end(_ result: Result<Void, any Error>) {
        let last = state.withLock { state -> State? in
            guard state.end == nil else { return nil }
            state.end = result
            defer { (state.task, state.demand, state.waiter) = (nil, nil, nil) }
            return state
        }
        guard let last else { return }
        last.demand?.succeed()
        if case .failure = result { last.task?.cancel() }
        last.waiter?.resume()
    }

    /// Wakes the task of the transfer, after the event loop has read all available bytes.
    private func planWake(on eventLoop: any EventLoop) {
        eventLoop.execute { [self] in
            let waiter = state.withLock { state in
                state.isWakePlanned = false
                return state.hasData ? state.waiter.take() : nil
            }
            waiter?.resume()
        }
    }

    /// Notes an arrival, before the task of the transfer can take it.
    private func recordArrival(of bytes: Int? = nil) {
        guard let limits, state.withLock({ $0.end == nil }) else { return }
        limits.recordArrival(of: bytes)
    }

    // MARK: - HTTPClientResponseDelegate

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        recordArrival()
        let mustWake = state.withLock { state in
            state.head = head.trimmed
            state.hadHead = true
            return state.mustPlanWake()
        }
        if mustWake { planWake(on: task.eventLoop) }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        recordArrival(of: buffer.readableBytes)
        let (mustWake, demand) = state.withLock { state -> (Bool, EventLoopPromise<Void>?) in
            guard state.end == nil else { return (false, nil) }
            state.pieces.append(buffer)
            state.waiting += buffer.readableBytes + Self.pieceCost
            if state.waiting >= Self.maximumWaiting { state.demand = task.eventLoop.makePromise() }
            return (state.mustPlanWake(), state.demand)
        }
        if mustWake { planWake(on: task.eventLoop) }
        return demand?.futureResult ?? task.eventLoop.makeSucceededVoidFuture()
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) {
        recordArrival()
        end(.success(()))
    }

    func didReceiveError(task: HTTPClient.Task<Void>, _ error: any Error) {
        recordArrival()
        // The library also says so if a connection closes while it gets the request. A cancellation of ours has ended the exchange already.
        guard error as? HTTPClientError == .cancelled || error as? ChannelError == .ioOnClosedChannel else {
            return end(.failure(error))
        }
        let error = HTTPClientError.remoteConnectionClosed
        end(.failure(state.withLock { $0.hadHead } ? error : BrokenConnection(underlying: error)))
    }
}

extension HTTPResponseHead {
    /// The head without white space around the values of its fields, which isn't part of them (RFC 9110, section 5.5). The parsers keep it.
    fileprivate var trimmed: HTTPResponseHead {
        guard headers.contains(where: { $0.value.isPadded }) else { return self }
        var head = self
        head.headers = HTTPHeaders(headers.map { ($0.name, $0.value.trimmed) })
        return head
    }
}

extension HTTPExchange.State {
    /// Returns true if the task of the transfer waits, and has to be woken.
    fileprivate mutating func mustPlanWake() -> Bool {
        guard waiter != nil, !isWakePlanned else { return false }
        isWakePlanned = true
        return true
    }
}
#endif
