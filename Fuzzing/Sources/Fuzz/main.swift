import CFuzzer
import Foundation
import Tintype

// Fuzz CODER [libFuzzer's arguments]      feeds a coder
// Fuzz CODER seeds FOLDER                 writes the files that the coder is to begin with
guard CommandLine.argc >= 2, let subject = FuzzSubject(CommandLine.arguments[1]) else {
    FileHandle.standardError.write(Data("usage: Fuzz \(FuzzSubject.names.joined(separator: "|")) …\n".utf8))
    exit(64)
}
if CommandLine.argc == 4, CommandLine.arguments[2] == "seeds" {
    let folder = URL(fileURLWithPath: CommandLine.arguments[3])
    for (index, seed) in try FuzzSeeds.make(for: subject).enumerated() {
        try seed.write(to: folder.appendingPathComponent("seed-\(subject.name)-\(index)"))
    }
    exit(0)
}
FuzzSubject.current = subject
var count = CommandLine.argc - 1
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
exit(
    LLVMFuzzerRunDriver(&count, &arguments) { bytes, count in
        if let bytes { FuzzSubject.current?.take(Data(bytes: bytes, count: count)) }
        return 0
    })
