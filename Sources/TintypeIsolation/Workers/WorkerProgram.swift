internal import CIsolation
internal import Glibc
internal import TintypeImages

/// The program that workers run: this program, unless a helper is named. It is opened once, and stays the same when its file is replaced or
/// deleted.
final class WorkerProgram: Sendable {
    /// The name for errors.
    let name: String
    let file: Int32
    /// A library that becomes part of the program; -1 for none.
    let library: Int32
    /// The reason why the program can't be found.
    let refusal: String?

    private static let lastOwn = Lock<WorkerProgram?>(nil)

    /// The program itself. It is looked for again as long as it isn't found, for want of a descriptor perhaps.
    static var own: WorkerProgram {
        lastOwn.withLock { last in
            if let last, last.refusal == nil { return last }
            let program = WorkerProgram(helper: nil)
            last = program
            return program
        }
    }

    init(helper: String?) {
        var (file, library): (Int32, Int32) = (-1, -1)
        refusal = tintype_find_worker(helper, &file, &library).map { String(cString: $0) }
        (self.file, self.library) = (file, library)
        name = helper ?? "the program"
    }

    deinit {
        for descriptor in [file, library] where descriptor >= 0 { close(descriptor) }
    }
}
