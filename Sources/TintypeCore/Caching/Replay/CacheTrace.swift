/// Requests to a cache in their order, each for an object of a size in bytes.
package struct CacheTrace: Sendable {
    package struct Request: Sendable, Equatable {
        package var key: Int
        package var size: Int
    }

    package private(set) var requests: [Request] = []
    /// How many different objects are asked for.
    package private(set) var objects = 0
    /// Their bytes together, each at its first size.
    package private(set) var footprint = 0

    /// A line that is none of a trace.
    package struct SyntaxError: Error, Equatable {
        /// From 1 on.
        package var line: Int
    }

    /// Reads lines of `seq,key,size`: a number or a time that is not looked at, what the object is known by (any text
    /// without a comma), and its bytes. A first line of titles, empty lines and spaces around fields do not matter.
    package init(csv text: some StringProtocol) throws(SyntaxError) {
        var numbers: [Substring: Int] = [:]
        var line = 0
        for row in Substring(text).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            line += 1
            let fields = row.split(separator: ",", omittingEmptySubsequences: false).map(Self.trimmed)
            if fields.count == 1, fields[0].isEmpty { continue }
            guard fields.count == 3, let size = Int(fields[2]), size >= 0 else {
                if line == 1, fields.count == 3 { continue }
                throw SyntaxError(line: line)
            }
            let key = numbers[fields[1]] ?? numbers.count
            if key == numbers.count {
                numbers[fields[1]] = key
                let (sum, overflow) = footprint.addingReportingOverflow(size)
                guard !overflow else { throw SyntaxError(line: line) }
                footprint = sum
            }
            requests.append(Request(key: key, size: size))
        }
        objects = numbers.count
    }

    private static func trimmed(_ field: Substring) -> Substring {
        var field = field.drop { $0 == " " || $0 == "\t" }
        while let last = field.last, last == " " || last == "\t" { field.removeLast() }
        return field
    }
}
