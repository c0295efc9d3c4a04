import Foundation

/// Requests in their order, each for an object of a size in bytes.
struct Trace {
    struct Request {
        var key: Int
        var size: Int
    }

    var name: String
    /// What the goal of 12 % less time than LRU is set for.
    var hasGoal = false
    var requests: [Request] = []

    /// The bytes of all objects together, each at its first size.
    var footprint: Int {
        var seen = Set<Int>()
        return requests.reduce(0) { seen.insert($1.key).inserted ? $0 + $1.size : $0 }
    }
}

extension Trace {
    /// Reads `seq,key,size` lines.
    init(csv url: URL) throws {
        name = url.deletingPathExtension().lastPathComponent
        for line in try String(contentsOf: url, encoding: .utf8).split(separator: "\n").dropFirst() {
            let fields = line.split(separator: ",")
            guard fields.count == 3, let key = Int(fields[1]), let size = Int(fields[2]) else { continue }
            requests.append(Request(key: key, size: size))
        }
    }
}
