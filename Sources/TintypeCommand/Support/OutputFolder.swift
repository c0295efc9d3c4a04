internal import CommandSupport
internal import FoundationEssentials
internal import Glibc
internal import TintypeLoading

/// The directory that a command saves its images in.
///
/// No two images of a run get the same name, and no existing file is overwritten: a taken name gets a number.
final class OutputFolder: Sendable {
    let path: String
    private let state = Lock(State())

    private struct State {
        /// The number of uses of each name, so that a million equal names need no million attempts each.
        var numbers: [FileName: Int] = [:]
        /// Paths that this run has used.
        var used: Set<String> = []
    }

    /// A name for an image, given in the order of the list rather than of arrival.
    struct Reservation: Sendable, Equatable {
        var name: FileName
        var number: Int
    }

    init(_ path: String) { self.path = path }

    /// Reserves a name for the image at a URL.
    func reserve(url: String) -> Reservation {
        let name = FileName(url: url)
        return state.withLock { Reservation(name: name, number: Self.next(name, &$0)) }
    }

    /// Saves bytes under a reserved name, with the extension of their format.
    /// - Returns: the path of the file.
    func save(_ data: Data, format: ImageFormat, as reservation: Reservation) throws(ImageError) -> String {
        var name = reservation.name
        var number = reservation.number
        if name.adopt(format) { number = state.withLock { Self.next(name, &$0) } }
        while true {
            let candidate = path == "." ? name.name(number: number) : "\(path)/\(name.name(number: number))"
            if state.withLock({ $0.used.insert(candidate).inserted }) {
                if try OutputFile.create(candidate, with: data) { return candidate }
                // Fetching the same image again leaves the same files.
                if Self.file(candidate, holds: data) { return candidate }
            }
            number = state.withLock { Self.next(name, &$0) }
        }
    }

    private static func next(_ name: FileName, _ state: inout State) -> Int {
        state.numbers[name, default: 0] += 1
        return state.numbers[name, default: 1]
    }

    private static func file(_ path: String, holds data: Data) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) == data.count
        else { return false }
        return (try? Data(contentsOf: URL(fileURLWithPath: path))) == data
    }
}
