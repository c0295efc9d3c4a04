#if HTTP
import Foundation
import TintypeTesting

/// Runs a command of the system, and returns its output.
@discardableResult
func run(_ command: [String], input: Data? = nil, in directory: String = "/") throws -> Data {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    process.currentDirectoryURL = URL(filePath: directory)
    process.standardError = FileHandle.nullDevice
    let output = Pipe()
    process.standardOutput = output
    let folder = try TemporaryDirectory()
    if let input {
        let path = URL(filePath: folder.path + "/input")
        try input.write(to: path)
        process.standardInput = try FileHandle(forReadingFrom: path)
    } else {
        process.standardInput = FileHandle.nullDevice
    }
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
        throw CommandFailure(command: command, status: process.terminationStatus)
    }
    return data
}

struct CommandFailure: Error {
    let command: [String]
    let status: Int32
}

func gzip(_ data: Data) throws -> Data { try run(["gzip", "-c"], input: data) }
#endif
