import Foundation

/// A generator whose numbers are the same in every run: SplitMix64.
struct Seeded: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Seeded.mix(state)
    }

    static func mix(_ value: UInt64) -> UInt64 {
        var z = value
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func unit() -> Double { Double.random(in: 0..<1, using: &self) }

    /// A number with the median `median`, of which two thirds are within a factor of e^`spread`.
    mutating func logNormal(median: Double, spread: Double) -> Double {
        let angle = 2 * Double.pi * unit()
        return median * exp(spread * sqrt(-2 * log(1 - unit())) * cos(angle))
    }
}

/// Numbers from 0, the popularity of each of which falls with a power of its rank.
struct Zipf {
    private let cumulative: [Double]

    init(count: Int, exponent: Double) {
        var sum = 0.0
        cumulative = (1...count).map {
            sum += pow(Double($0), -exponent)
            return sum
        }
    }

    func next(_ random: inout Seeded) -> Int {
        let target = random.unit() * cumulative[cumulative.count - 1]
        var low = 0
        var high = cumulative.count - 1
        while low < high {
            let middle = (low + high) / 2
            if cumulative[middle] < target { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The size of a decoded image, always the same for one key.
enum Sizes {
    /// From 5 KB to 5 MB, log-normal around 150 KB.
    static func any(_ key: Int) -> Int {
        var random = Seeded(UInt64(key) &* 31 &+ 7)
        return min(5_000_000, max(5_000, Int(random.logNormal(median: 150_000, spread: 1.2))))
    }
    /// 200 × 200 pixels, more or less.
    static func thumbnail(_ key: Int) -> Int {
        var random = Seeded(UInt64(key) &* 31 &+ 8)
        return Int.random(in: 120_000...200_000, using: &random)
    }
    /// 1 to 2.5 megapixels.
    static func full(_ key: Int) -> Int {
        var random = Seeded(UInt64(key) &* 31 &+ 9)
        return Int.random(in: 4_000_000...10_000_000, using: &random)
    }
    /// 85 % thumbnails, 15 % full images.
    static func mixed(_ key: Int) -> Int {
        var random = Seeded(UInt64(key) &* 31 &+ 10)
        return random.unit() < 0.85 ? thumbnail(key) : full(key)
    }
}

enum Generators {
    static var all: [Trace] {
        [
            zipf(0.8, sizes: Sizes.any), zipf(1, sizes: Sizes.any), zipf(1.1, sizes: Sizes.any),
            zipf(0.8, sizes: { _ in 160_000 }, name: "one size"), zipf(1, sizes: { _ in 160_000 }, name: "one size"),
            mixed(scans: false), mixed(scans: true), shifting(), feed(), gallery(), jumps(), scrollOnly(), scans(),
            loop(),
            feedThenZipf(), zipfThenFeed(),
        ]
    }

    /// Independent requests, some images far more popular than others.
    static func zipf(_ exponent: Double, sizes: (Int) -> Int, name: String = "image sizes", offset: Int = 0) -> Trace {
        var random = Seeded(1)
        let zipf = Zipf(count: 20_000, exponent: exponent)
        return Trace(
            name: "Zipf \(exponent), \(name)", hasGoal: name == "image sizes",
            requests: (0..<300_000).map { _ in
                let key = offset + zipf.next(&random)
                return Trace.Request(key: key, size: sizes(key))
            })
    }

    /// Thumbnails and full images; with scans, 300 images that are seen once after every 3,000 requests.
    static func mixed(scans: Bool) -> Trace {
        var random = Seeded(2)
        let zipf = Zipf(count: 20_000, exponent: 0.9)
        var trace = Trace(name: "Mixed sizes" + (scans ? " and scans" : ""), hasGoal: true)
        var next = 1_000_000
        for index in 0..<300_000 {
            let key = zipf.next(&random)
            trace.requests.append(.init(key: key, size: Sizes.mixed(key)))
            guard scans, index % 3_000 == 2_999 else { continue }
            for _ in 0..<300 {
                trace.requests.append(.init(key: next, size: Sizes.thumbnail(next)))
                next += 1
            }
        }
        return trace
    }

    /// What is popular changes entirely every 20,000 requests.
    static func shifting() -> Trace {
        var random = Seeded(3)
        let zipf = Zipf(count: 5_000, exponent: 1)
        return Trace(
            name: "Zipf 1.0, shifting",
            requests: (0..<200_000).map { index in
                let key = index / 20_000 * 2_500 + zipf.next(&random)
                return .init(key: key, size: Sizes.any(key))
            })
    }

    /// A feed of posts, each with an image and often an avatar: forward, now and then back some way.
    static func feed() -> Trace {
        var random = Seeded(4)
        let people = Zipf(count: 1_000, exponent: 1)
        var trace = Trace(name: "Feed, forward and back")
        func show(_ post: Int) {
            trace.requests.append(.init(key: post, size: Sizes.any(post)))
            guard random.unit() < 0.35 else { return }
            let avatar = 10_000_000 + people.next(&random)
            trace.requests.append(.init(key: avatar, size: 40_000))
        }
        var top = 0
        while trace.requests.count < 200_000 {
            let forward = Int.random(in: 50...400, using: &random)
            for post in top..<top + forward { show(post) }
            top += forward
            let back = min(top, Int.random(in: 20...600, using: &random))
            for post in (top - back..<top).reversed() { show(post) }
            for post in top - back..<top { show(post) }
        }
        return trace
    }

    /// A grid of thumbnails that is scrolled; one in twelve is opened, and its neighbours are leafed through.
    static func gallery() -> Trace {
        var random = Seeded(5)
        var trace = Trace(name: "Gallery: grid and full images")
        func thumbnail(_ photo: Int) { trace.requests.append(.init(key: photo, size: Sizes.thumbnail(photo))) }
        func full(_ photo: Int) {
            trace.requests.append(.init(key: 1_000_000 + photo, size: Sizes.full(photo)))
        }
        while trace.requests.count < 150_000 {
            let album = Int.random(in: 0..<40, using: &random) * 500
            var at = 0
            var direction = 1
            for _ in 0..<Int.random(in: 5...60, using: &random) {
                for photo in at..<at + 20 { thumbnail(album + photo) }
                if random.unit() < 0.4 {
                    let first = Int.random(in: at..<at + 20, using: &random)
                    let last = min(499, first + Int.random(in: 0...6, using: &random))
                    for photo in first...last { full(album + photo) }
                    if random.unit() < 0.5 { for photo in (first...last).reversed() { full(album + photo) } }
                    for photo in at..<at + 20 { thumbnail(album + photo) }
                }
                if at + 40 > 500 || random.unit() < 0.1 { direction = -1 }
                if at == 0 { direction = 1 }
                at = max(0, at + 20 * direction)
            }
        }
        return trace
    }

    /// A long list through which one jumps, and scrolls a little at each place.
    static func jumps() -> Trace {
        var random = Seeded(6)
        let places = Zipf(count: 400, exponent: 0.7)
        var trace = Trace(name: "List with jumps")
        while trace.requests.count < 150_000 {
            let place = places.next(&random) * 50
            let length = Int.random(in: 20...120, using: &random)
            for image in place..<place + length { trace.requests.append(.init(key: image, size: Sizes.any(image))) }
            if random.unit() < 0.5 {
                for image in (place..<place + length).reversed() {
                    trace.requests.append(.init(key: image, size: Sizes.any(image)))
                }
            }
        }
        return trace
    }

    /// Up and down through one list, from end to end.
    static func scrollOnly() -> Trace {
        var trace = Trace(name: "One list, end to end and back")
        for turn in 0..<40 {
            let list = Array(0..<3_000)
            for image in turn.isMultiple(of: 2) ? list : list.reversed() {
                trace.requests.append(.init(key: image, size: Sizes.any(image)))
            }
        }
        return trace
    }

    /// A small set in use, and images that come once.
    static func scans() -> Trace {
        var random = Seeded(7)
        let zipf = Zipf(count: 2_000, exponent: 0.7)
        var next = 1_000_000
        return Trace(
            name: "One-hit scans",
            requests: (0..<200_000).map { _ in
                if random.unit() < 0.5 {
                    next += 1
                    return .init(key: next, size: Sizes.any(next))
                }
                let key = zipf.next(&random)
                return .init(key: key, size: Sizes.any(key))
            })
    }

    /// The same list again and again from its beginning.
    static func loop() -> Trace {
        Trace(
            name: "Loop",
            requests: (0..<100_000).map { .init(key: $0 % 2_000, size: Sizes.any($0 % 2_000)) })
    }

    /// A feed, and then something else altogether.
    static func feedThenZipf() -> Trace {
        let zipf = zipf(1, sizes: Sizes.any, offset: 20_000_000)
        return Trace(
            name: "Feed, then Zipf 1.0", requests: Array(feed().requests[..<150_000] + zipf.requests[..<250_000]))
    }

    static func zipfThenFeed() -> Trace {
        let zipf = zipf(1, sizes: Sizes.any, offset: 20_000_000)
        return Trace(name: "Zipf 1.0, then feed", requests: Array(zipf.requests[..<150_000] + feed().requests))
    }
}
