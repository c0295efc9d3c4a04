internal import CIsolation
internal import TintypeImages

/// The program that workers run: this program, unless a helper is named. It is opened once, and stays the same when its file is replaced or
/// deleted.
struct WorkerProgram: Sendable {
    /// The name for errors.
    let name: String
    let file: Int32
    /// A library that becomes part of the program; -1 for none.
    let library: Int32

    private static let found = Lock<[String?: WorkerProgram]>([:])

    /// Returns a helper, or the program itself for `nil`. It is looked for again as long as it isn't found, for want of a descriptor perhaps.
    static func named(_ helper: String?) throws(ImageError) -> WorkerProgram {
        try found.withLock { found throws(ImageError) in
            if let program = found[helper] { return program }
            let program = try WorkerProgram(helper)
            found[helper] = program
            return program
        }
    }

    private init(_ helper: String?) throws(ImageError) {
        var (file, library): (Int32, Int32) = (-1, -1)
        if let refusal = tintype_find_worker(helper, &file, &library) {
            throw ImageError(
                .decoderUnavailable, stage: .decode,
                reason: "no process can be started to decode: \(String(cString: refusal))")
        }
        (self.file, self.library) = (file, library)
        name = helper ?? "the program"
    }
}
