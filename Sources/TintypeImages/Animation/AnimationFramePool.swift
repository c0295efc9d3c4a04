internal import FoundationEssentials

/// The decoded frames of an animation, shared by all of its players.
///
/// Players say which frames they need next. Frames are decoded singly, the most urgent first, on a thread of the processing
/// queue. A frame that no player needs is released, unless a player has room for all.
final class AnimationFramePool: Sendable {
    /// The answer to a question for a frame.
    enum Lookup: Sendable {
        case ready(ImageFrame)
        /// The frame can't be decoded.
        case failed(ImageError)
        /// The frame is decoded when its turn comes.
        case pending
    }

    /// A player, or a caller that waits for a frame.
    struct Member: Sendable {
        var demand: FrameDemand
        /// Called after a frame was decoded, or has failed; not under a lock.
        var onFrame: @Sendable () -> Void
    }

    private let state = Lock(State())
    /// Used by a single thread at a time, which ``State`` knows; `nil` meanwhile. No lock is held while the program's coder is called.
    private let reader: Lock<FrameReader?>
    private let coder: EntryCoder
    private let work: FrameWork
    private let subscription = MemoryPressure.Subscription()

    init(_ contents: AnimationContents, _ work: FrameWork, pressure: MemoryPressure?) {
        let coder = contents.coder
        self.coder = coder
        self.work = work
        let state = state
        var context = ProcessingContext(limits: coder.limits, pool: coder.pool, budget: coder.budget) {
            state.withLock { $0.isJobCancelled() }
        }
        context.memoryPressure = pressure
        context.origin = coder.origin
        reader = Lock(FrameReader(contents, context: context))
        subscription.replace(with: pressure) { [weak self] _ in self?.purge() }
    }

    deinit { coder.budget.removeBody(state.withLock { $0.bytes }) }

    // MARK: Members

    /// Adds a player or a caller, and starts to decode the frames that it needs.
    /// - Returns: the number that identifies it.
    func join(_ member: Member) -> Int {
        let number = state.withLock { state in
            state.lastMember += 1
            state.members[state.lastMember] = member
            return state.lastMember
        }
        demandChanged()
        return number
    }

    func leave(_ number: Int) {
        let (old, isLast) = state.withLock { state in
            (state.members.removeValue(forKey: number), state.members.isEmpty)
        }
        _ = old  // Deallocated outside the lock.
        demandChanged()
        if isLast { becomeIdle() }
    }

    /// Lets the decoder and its place stay for the next request, while few other animations have been used since. Copies of the canvas go
    /// at once.
    private func becomeIdle() {
        useReaderIfFree { if $0.seekPointInterval != nil { $0.close() } }
        IdleAnimations.shared.add(self)
    }

    /// Releases the decoder, unless frames are wanted.
    func closeIfIdle() {
        guard state.withLock({ $0.members.isEmpty }) else { return }
        useReaderIfFree { $0.close() }
    }

    /// Gives the decoder the bytes that have arrived. If it is at work, it takes them before its next frame.
    func takeNewBytes() { useReaderIfFree { $0.takeNewBytes() } }

    /// Uses the reader unless it is in use. Frames that are wanted meanwhile are decoded afterwards.
    private func useReaderIfFree(_ body: (inout FrameReader) -> Void) {
        guard state.withLock({ $0.beginUse() }) else { return }
        try? useReader { (reader) throws(ImageError) in body(&reader) }
        let next = state.withLock { state in
            state.endUse()
            return state.begin()
        }
        if let next { Task { await decode(next) } }
    }

    /// Called by a single thread at a time.
    private func useReader<Value>(
        _ body: (inout FrameReader) throws(ImageError) -> Value
    ) throws(ImageError) -> Value {
        // Never: only a single thread uses it.
        guard var taken = reader.withLockUnchecked({ $0.take() }) else {
            throw ImageError.cancelled(stage: .decode, while: "decoding a frame")
        }
        defer { reader.withLockUnchecked { $0 = taken } }
        return try body(&taken)
    }

    func setDemand(_ demand: FrameDemand, of number: Int) {
        state.withLock { $0.members[number]?.demand = demand }
        demandChanged()
    }

    // MARK: Frames

    func frame(at index: Int) -> Lookup {
        state.withLock { state in
            if let frame = state.frames[index] { return .ready(frame) }
            return state.failure(of: index).map(Lookup.failed) ?? .pending
        }
    }

    /// Waits until a frame is decoded.
    /// - Throws: ``ImageError/Code/cancelled``, and the errors of the decoder and the transformer.
    func waitForFrame(at index: Int) async throws(ImageError) -> ImageFrame {
        let wait = QueuedWait<Lookup>()
        let endIfReady: @Sendable () -> Void = { [weak self] in
            guard let lookup = self?.frame(at: index), !lookup.isPending else { return }
            wait.end(lookup)
        }
        let demand = FrameDemand(frames: [index], buffer: FrameBuffer(capacity: 1, lookahead: 1))
        let member = join(Member(demand: demand, onFrame: endIfReady))
        defer { leave(member) }
        endIfReady()
        let lookup = await wait.value(following: nil) {
            member
        } move: { _ in
        } leave: { _ in
            wait.end(.pending)
        }
        switch lookup {
        case .ready(let frame): return frame
        case .failed(let error): throw error
        case .pending: throw ImageError.cancelled(stage: .decode, while: "waiting for a frame")
        }
    }

    /// The numbers of frames: those that are kept, the most that were, and those that were decoded so far.
    var statistics: (frames: Int, mostFrames: Int, decodedFrames: Int) {
        state.withLock { ($0.frames.count, $0.mostFrames, $0.decodedFrames) }
    }

    /// Releases all frames; those that are wanted are decoded again.
    func removeAll() {
        state.withLock { $0.forgetFailures() }
        release { $0.takeFrames(except: []) }
        demandChanged()
    }

    /// Releases all frames but those that are due now or next, and keeps none ahead for a while.
    private func purge() {
        closeIfIdle()
        state.withLock { $0.scarcity = State.scarceFrames }
        release { state in
            state.takeFrames(except: Set(state.members.values.flatMap { $0.demand.frames.prefix(2) }))
        }
    }

    /// Releases the frames that are no longer wanted, and frames beyond the available room.
    private func releaseSurplus() { release { $0.takeSurplus() } }

    private func release(_ take: (inout State) -> [ImageFrame]) {
        // Deallocated outside the lock.
        let frames = state.withLock { take(&$0) }
        coder.budget.removeBody(frames.reduce(0) { $0 + $1.pixels.byteCount })
    }

    // MARK: Decoding

    private func demandChanged() {
        releaseSurplus()
        let first = state.withLock { state in
            state.forgetPassingFailures()
            return state.begin()
        }
        if let first { Task { await decode(first) } }
    }

    /// Decodes frame by frame, until none is wanted.
    private func decode(_ first: State.Job) async {
        var next: State.Job? = first
        while let job = next {
            let result = await decoded(job)
            if case .success(let frame) = result { coder.budget.addBody(frame.pixels.byteCount) }
            let (old, observers) = state.withLock { state in
                (state.finish(job, result), state.members.values.map(\.onFrame))
            }
            if let old { coder.budget.removeBody(old.pixels.byteCount) }
            releaseSurplus()
            for observer in observers { observer() }
            next = state.withLock { $0.next() }
        }
        // Bytes may have arrived during the last frame.
        takeNewBytes()
        if state.withLock({ $0.members.isEmpty }) { becomeIdle() }
    }

    private func decoded(_ job: State.Job) async -> Result<ImageFrame, ImageError> {
        do throws(ImageError) {
            return .success(
                try await coder.processing.perform { [self] isCancelled throws(ImageError) in
                    let frame = try useReader { reader throws(ImageError) in
                        reader.seekPointInterval = job.seekPointInterval
                        return try reader.frame(at: job.frame)
                    }
                    return try work.apply(to: frame, isCancelled: isCancelled)
                })
        } catch {
            return .failure(error)
        }
    }
}

extension AnimationFramePool.Lookup {
    fileprivate var isPending: Bool {
        if case .pending = self { return true }
        return false
    }
}

extension AnimationFramePool {
    fileprivate struct State {
        /// A frame to decode.
        struct Job {
            var frame: Int
            /// The frame that requires decoding this frame.
            var target: Int
            var seekPointInterval: Int?
        }

        /// The number of frames until frames are kept ahead again, after memory was scarce.
        static let scarceFrames = 64

        var frames: [Int: ImageFrame] = [:]
        var members: [Int: Member] = [:]
        var lastMember = 0
        var scarcity = 0
        var decodedFrames = 0
        var mostFrames = 0
        /// The frame that is being decoded.
        private var job: Job?
        /// True once the decoder was told that nobody wants the frame.
        private var wasJobCancelled = false
        /// True while the reader is used for something else.
        private var isReaderInUse = false
        private var damage = FrameDamage()
        /// The failures of frames that say nothing about them, until another frame is wanted.
        private var passingFailures: [Int: ImageError] = [:]

        /// The memory of the frames.
        var bytes: Int { frames.values.reduce(0) { $0 + $1.pixels.byteCount } }

        /// False if the reader's present work is no longer wanted.
        private var isJobNeeded: Bool {
            guard let job else { return isReaderInUse }
            return damage.isProbing && !members.isEmpty
                || members.values.contains { $0.demand.frames.contains(job.target) }
        }

        /// Returns true if the reader's present work is no longer wanted, and notes that.
        mutating func isJobCancelled() -> Bool {
            guard !isJobNeeded else { return false }
            wasJobCancelled = true
            return true
        }

        /// Returns the first frame to decode if no thread decodes.
        mutating func begin() -> Job? {
            guard job == nil, !isReaderInUse else { return nil }
            return next()
        }

        /// Returns true if the reader isn't in use; the caller does until ``endUse()``.
        mutating func beginUse() -> Bool {
            guard job == nil, !isReaderInUse else { return false }
            isReaderInUse = true
            return true
        }

        mutating func endUse() { isReaderInUse = false }

        /// Returns the next frame to decode; `nil` if none is wanted, and decoding stops.
        mutating func next() -> Job? {
            (job, wasJobCancelled) = (nextJob(), false)
            return job
        }

        /// - Returns: the same frame as it was decoded before: the search for damage may reach a frame that is kept.
        mutating func finish(_ job: Job, _ result: Result<ImageFrame, ImageError>) -> ImageFrame? {
            switch result {
            case .success(let frame):
                let old = frames.updateValue(frame, forKey: job.frame)
                decodedFrames += 1
                mostFrames = max(mostFrames, frames.count)
                scarcity = max(0, scarcity - 1)
                damage.note(job.frame)
                return old
            case .failure(let error):
                switch error.code {
                // It was no longer wanted, or is wanted again. From a decoder that wasn't told to end, it is an error like any other:
                // the frame would be tried again at once, and for ever.
                case .cancelled where wasJobCancelled: break
                case .outOfMemory, .overBudget, .decoderUnavailable:
                    damage.endSearch()
                    passingFailures[job.frame] = error
                    // Until it is over, only the frames that are due are tried.
                    scarcity = Self.scarceFrames
                default: damage.note(job.frame, error)
                }
                return nil
            }
        }

        func failure(of frame: Int) -> ImageError? { damage.error(of: frame) ?? passingFailures[frame] }

        mutating func forgetFailures() {
            damage = FrameDamage()
            forgetPassingFailures()
        }

        mutating func forgetPassingFailures() { passingFailures = [:] }

        private func nextJob() -> Job? {
            func isMissing(_ frame: Int) -> Bool { frames[frame] == nil && failure(of: frame) == nil }
            let interval = members.values.compactMap(\.demand.buffer.seekPointInterval).min()
            if !members.isEmpty, let frame = damage.frameToProbe {
                return Job(frame: frame, target: frame, seekPointInterval: interval)
            }
            let missing = members.compactMap { number, member in
                member.demand.firstMissing(isMissing).map { (place: $0, number: number, demand: member.demand) }
            }
            let latest = isFull ? latestFrame?.place ?? 0 : .max
            // The most urgent first, and among equals the oldest player's.
            for (place, _, demand) in missing.sorted(by: { ($0.place, $0.number) < ($1.place, $1.number) }) {
                let isUrgent = place <= 1
                guard isUrgent || scarcity == 0 && !demand.isIdle,
                    let (frame, lastPlace) = demand.frameToDecode(
                        forMissing: place, isUrgent: isUrgent, isMissing)
                else { continue }
                // Without room, a frame has to go that is needed after all of the segment. If none is, only the frame that is due.
                guard isUrgent || lastPlace < latest else { continue }
                let isRoom = lastPlace < latest
                let target = demand.frames[place]
                return Job(frame: isRoom ? frame : target, target: target, seekPointInterval: interval)
            }
            return nil
        }

        // MARK: Room

        /// True if there are as many frames as all members together may keep.
        private var isFull: Bool { frames.count >= room }

        private var room: Int {
            members.values.reduce(0) { room, member in
                guard !member.demand.buffer.keepsAll else { return .max }
                let (sum, overflow) = room.addingReportingOverflow(member.demand.buffer.capacity)
                return overflow ? .max : sum
            }
        }

        /// The decoded frame that is needed last, and its place in the demand that needs it first.
        private var latestFrame: (frame: Int, place: Int)? {
            var places: [Int: Int] = [:]
            for member in members.values {
                for (place, frame) in member.demand.frames.enumerated() where frames[frame] != nil {
                    places[frame] = min(place, places[frame] ?? .max)
                }
            }
            return places.max { ($0.value, $0.key) < ($1.value, $1.key) }.map { ($0.key, $0.value) }
        }

        /// Takes out the frames that aren't wanted, and of the others the frames that are needed last, until there is room.
        mutating func takeSurplus() -> [ImageFrame] {
            guard !frames.isEmpty, !members.values.contains(where: { $0.demand.buffer.keepsAll }) else { return [] }
            var surplus = takeFrames(except: Set(members.values.flatMap(\.demand.frames)))
            while frames.count > room, let (frame, place) = latestFrame, place > 1 {
                if let old = frames.removeValue(forKey: frame) { surplus.append(old) }
            }
            return surplus
        }

        mutating func takeFrames(except kept: Set<Int>) -> [ImageFrame] {
            frames.keys.filter { !kept.contains($0) }.compactMap { frames.removeValue(forKey: $0) }
        }
    }
}
