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
    /// The reason why the program can't be found.
    let refusal: String?

    private static let found = Lock<[String?: WorkerProgram]>([:])

    /// Returns a helper, or the program itself for `nil`. It is looked for again as long as it isn't found, for want of a descriptor perhaps.
    static func named(_ helper: String?) -> WorkerProgram {
        found.withLock { found in
            if let program = found[helper] { return program }
            let program = WorkerProgram(helper)
            if program.refusal == nil { found[helper] = program }
            return program
        }
    }

    private init(_ helper: String?) {
        var (file, library): (Int32, Int32) = (-1, -1)
        refusal = tintype_find_worker(helper, &file, &library).map { String(cString: $0) }
        (self.file, self.library) = (file, library)
        name = helper ?? "the program"
    }
}
