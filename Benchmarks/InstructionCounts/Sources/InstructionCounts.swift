import BenchmarkPictures
import Dispatch
import Foundation
import Synchronization
import Tintype

/// Does a fixed piece of work for each case, between marks at which callgrind writes down what it has counted:
///
///     InstructionCounts draw FOLDER    writes the pictures that the cases read
///     InstructionCounts run FOLDER     does the work, and prints the names of the cases
///
/// scripts/instruction-counts runs both, the second one under valgrind. Drawing and encoding would take long there.
@main
enum InstructionCounts {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, ["draw", "run"].contains(arguments[1]) else {
            FileHandle.standardError.write(Data("usage: InstructionCounts draw|run FOLDER\n".utf8))
            exit(64)
        }
        let folder = URL(fileURLWithPath: arguments[2])
        if arguments[1] == "draw" { return try draw(in: folder) }
        // The first thread waits here. The one of an asynchronous `main` ends in a system call that makes valgrind 3.19 crash: valgrind writes
        // into the signal mask, which libdispatch has in constant memory.
        Task.detached {
            do {
                try await run(in: folder)
                exit(0)
            } catch {
                FileHandle.standardError.write(Data("\(error)\n".utf8))
                exit(1)
            }
        }
        DispatchSemaphore(value: 0).wait()
    }

    private static func run(in folder: URL) async throws {
        let cases = try CountedCase.all(in: folder)
        for one in cases {
            // The first time fills tables, pools, and caches.
            try await one.work()
            mark()
            try await one.work()
            mark()
        }
        print(cases.map(\.name).joined(separator: "\n"))
    }

    private static func draw(in folder: URL) throws {
        func write(_ name: String, _ format: ImageFormat, width: Int, height: Int, progressive: Bool = false) throws {
            let options = EncodeOptions(progressive: progressive)
            try Pictures.encoded(format, width: width, height: height, options: options)
                .write(to: folder.appendingPathComponent(name))
        }
        try write("baseline.jpg", .jpeg, width: 4_000, height: 3_000)
        try write("progressive.jpg", .jpeg, width: 4_000, height: 3_000, progressive: true)
        try write("picture.png", .png, width: 2_048, height: 1_536)
        try write("picture.webp", .webp, width: 2_048, height: 1_536)
    }
}

/// The number of marks so far. Without it, the compiler would leave out the calls of a function that does nothing.
private let marks = Atomic(0)

/// Callgrind writes down what it has counted at each call of this function, and begins anew.
@inline(never)
func mark() { marks.wrappingAdd(1, ordering: .relaxed) }
