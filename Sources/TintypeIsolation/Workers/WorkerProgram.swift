internal import CIsolation
internal import Glibc

/// The program that workers run: this one, unless a helper is named. It is opened once, and stays the same when its file is replaced or
/// deleted.
final class WorkerProgram: Sendable {
    /// The name for errors.
    let name: String
    let file: Int32
    /// A library that becomes part of the program; -1 for none.
    let library: Int32
    /// The reason why there is no program.
    let refusal: String?

    static let own = WorkerProgram(helper: nil)

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
