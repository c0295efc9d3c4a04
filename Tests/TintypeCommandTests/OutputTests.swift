import Foundation
import TestSupport
import Testing
import Tintype

@testable import CommandSupport
@testable import TintypeCommand
@testable import TintypeDemo

@Suite("Output", .timeLimited)
struct OutputTests {
    @Test("Control characters from a server don't reach the terminal")
    func printable() {
        #expect(Console.printable("a\u{1B}[2Jb\nc\rd\u{9B}e\u{202E}f") == "a [2Jb c d\u{FFFD}e\u{FFFD}f")
        #expect(Console.printable("grün 日本 👍") == "grün 日本 👍")
    }

    @Test("JSON reaches its reader as it was, whatever characters a file name has")
    func printableJSON() throws {
        let name = "a\u{1B}[2J\n\u{7F}\u{85}\u{2028}\u{202E}\u{2066} grün 👍"
        let line = JSONLine.encode(["path": name])
        #expect(Console.printable(line) == line && line.contains(#"\u007f\u0085\u2028\u202e\u2066 grün 👍"#))
        #expect(try object(line)["path"] as? String == name)
    }

    @Test(
        "URLs are shown without credentials, and so is text with a typing error, whatever characters the password has",
        arguments: [
            ("http://me:secret@host/a", "http://host/a"), ("http://me:se/cr@et@host/a", "http://host/a"),
            ("http://me:se#cr@host", "http://host"), ("http//me:se/cr@host/a", "http//host/a"),
            ("http://host/photo@2x.png", "http://host/photo@2x.png"), ("me@host", "me@host"),
            ("http://me:12/34@host:9/a", "http://host:9/a"), ("http:/me:pw@host/a", "host/a"),
            ("me:pw@host/a", "host/a"), ("file:///a@b.png", "file:///a@b.png"),
            ("http://host:80/b/a@2x.png", "http://host:80/b/a@2x.png"),
        ])
    func shownURLs(_ url: String, _ shown: String) {
        #expect(ShownURL.text(url) == shown && ShownURL.text(url, isComplete: true) == url)
    }

    @Test("A dumb terminal has no status line", arguments: [("dumb", false), ("xterm", true)])
    func dumbTerminal(_ name: String, _ isInteractive: Bool) async {
        await #expect(processExitsWith: .exitCode(0)) {
            [name = name as String, isInteractive = isInteractive as Bool] in
            var (terminal, output): (Int32, Int32) = (0, 0)
            guard openpty(&terminal, &output, nil, nil, nil) == 0, dup2(output, STDERR_FILENO) >= 0 else { exit(2) }
            setenv("TERM", name, 1)
            exit(Console.standard.isInteractive == isInteractive ? 0 : 1)
        }
    }

    @Test("A printed line hides the status line, which then returns")
    func statusLine() {
        let transcript = Transcript()
        let console = transcript.console(isInteractive: true)
        console.showStatus("half")
        console.note("note")
        console.showStatus("")
        #expect(transcript.rawErrors == "\r\u{1B}[Khalf\r\u{1B}[Knote\nhalf\r\u{1B}[K")
    }

    @Test("Without a terminal there is no status line")
    func noTerminal() {
        let transcript = Transcript()
        let display = ProgressDisplay(transcript.console(), total: 2)
        display.finishedOne(bytes: 10, failed: false)
        display.end()
        #expect(transcript.rawErrors.isEmpty)
    }

    @Test("The progress bar fills up, counts failures, and fits the width")
    func progressBar() {
        var bar = ProgressBar(total: 4)
        #expect(bar.line(width: 80).hasPrefix("░"))
        bar.finished = 2
        bar.failed = 1
        bar.bytes = 1_500_000
        #expect(
            bar.line(width: 80) == String(repeating: "█", count: 20) + String(repeating: "░", count: 20)
                + " 2/4  1 failed  1.5 MB")
        for width in 1...80 { #expect(bar.line(width: width).count <= width) }
        bar.finished = 4
        #expect(!bar.line(width: 80).contains("░"))
        bar.total = nil
        #expect(bar.line(width: 80) == "4 images  1 failed  1.5 MB")
    }

    @Test("Output to a full non-blocking pipe waits for its reader and arrives completely")
    func fullPipe() throws {
        var ends: [Int32] = [0, 0]
        let made = pipe(&ends)
        try #require(made == 0)
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        defer { for end in ends { close(end) } }
        let line = String(repeating: "x", count: 999) + "\n"
        while write(ends[1], line, 1_000) > 0 {}
        #expect(errno == EAGAIN)
        let text = String(repeating: "y", count: 300_000)
        var received: [UInt8] = []
        var waits = 0
        Console.write(text, to: ends[1]) { descriptor in
            waits += 1
            received += Self.readAll(ends[0])
            // The true wait returns, because there is room again.
            Console.waitUntilWritable(descriptor)
        }
        received += Self.readAll(ends[0])
        #expect(received.suffix(text.utf8.count) == Array(text.utf8)[...])
        // A pipe takes 64 kB at a time. Each wait makes room for as much.
        #expect(waits >= 1 && waits < 20)
    }

    @Test("A failed write returns the error of the system")
    func failedWrite() throws {
        let full = open("/dev/full", O_WRONLY)
        defer { close(full) }
        #expect(Console.write("x", to: full) == ENOSPC)
        #expect(Console.write("x", to: -1) == EBADF)
        #expect(Console.write("", to: full) == 0)
    }

    @Test("Results that can't be written make the command fail")
    func fullOutput() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let full = open("/dev/full", O_WRONLY)
            dup2(full, STDOUT_FILENO)
            StandardOutput.write("x")
            exit(StandardOutput.hasFailed ? 0 : 1)
        }
    }

    @Test("No file gets the number of a closed standard stream, which would receive the output")
    func closedStreams() async {
        await #expect(processExitsWith: .exitCode(0)) {
            for descriptor in STDIN_FILENO...STDERR_FILENO { close(descriptor) }
            StandardOutput.reserveDescriptors()
            let file = open("/dev/null", O_RDWR)
            StandardOutput.write("x")
            exit(file > STDERR_FILENO && StandardOutput.hasFailed ? 0 : 1)
        }
    }

    private static func readAll(_ descriptor: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &block, block.count)
            guard count > 0 else { return bytes }
            bytes += block[..<count]
        }
    }

    @Test("Columns are as wide as their longest value")
    func table() {
        var table = Table([("name", .left), ("n", .right)])
        table.add(["a", "1"])
        table.add(["longer", "123"])
        #expect(table.lines == ["name      n", "──────  ───", "a         1", "longer  123"])
    }

    @Test("Numbers and durations have a fixed number of digits")
    func numbers() {
        #expect((3.14159).fixed(2) == "3.14")
        #expect((0.999).fixed(2) == "1.00")
        #expect((-1.5).fixed(0) == "-2")
        #expect((-0.001).fixed(1) == "0.0")
        #expect((12.03).fixed(3) == "12.030")
        #expect(Duration.nanoseconds(850).short == "850 ns")
        #expect(Duration.microseconds(12).short == "12.0 µs")
        #expect(Duration.milliseconds(3).short == "3.0 ms")
        #expect(Duration.milliseconds(2_450).short == "2.45 s")
        #expect(counted(1, "image") == "1 image" && counted(2, "image") == "2 images")
    }

    @Test("A summary counts images, bytes, sources and failures")
    func summary() {
        var summary = FetchSummary(duration: .seconds(2))
        for source in ["network", "disk", "network"] {
            summary.add(
                FetchReport(url: "", path: "", format: "png", width: 1, height: 1, bytes: 500, source: source, ms: 1))
        }
        summary.failed = 1
        #expect(summary.line == "3 images, 1.5 kB (2 network, 1 disk), 1 failed, 2.00 s")
    }

    @Test("The median is the middle value, or the mean of the two middle values")
    func median() {
        #expect(DecodeMeasurement.median([.seconds(3), .seconds(1), .seconds(2)]) == .seconds(2))
        #expect(DecodeMeasurement.median([.seconds(4), .seconds(1), .seconds(2), .seconds(3)]) == .milliseconds(2_500))
        #expect(DecodeMeasurement.median([]) == .zero)
    }
}
