/// A sequence of cache requests, each for an object with a size in bytes.
package struct CacheTrace: Sendable {
    package struct Request: Sendable, Equatable {
        package var key: Int
        package var size: Int
    }

    package private(set) var requests: [Request] = []
    /// The number of different objects.
    package private(set) var objects = 0
    /// The total size of all objects, each at its first size.
    package private(set) var footprint = 0

    /// An error for a line that does not belong to a trace.
    package struct SyntaxError: Error, Equatable {
        /// The number of the line, from 1.
        package var line: Int
    }

    /// Reads lines of the form `seq,key,size`: a number or a time, which is ignored; the name of the object, any text without a
    /// comma; and its size in bytes. A header line, empty lines and spaces around fields are ignored.
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
