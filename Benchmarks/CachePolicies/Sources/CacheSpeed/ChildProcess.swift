import Foundation

/// Runs this program again, in a process that has nothing in memory.
/// - Parameter count: the numbers that it has to print.
func runChild(_ arguments: [String], expecting count: Int) throws -> [Double] {
    let process = Process()
    process.executableURL = URL(
        fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let numbers = String(decoding: output, as: UTF8.self).split { " \n".contains($0) }.compactMap { Double($0) }
    guard process.terminationStatus == 0, numbers.count == count else { fail("the other process ended early") }
    return numbers
}

/// The memory of this process that is resident.
func residentBytes() -> Int {
    let fields = ((try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? "").split(separator: " ")
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
}
