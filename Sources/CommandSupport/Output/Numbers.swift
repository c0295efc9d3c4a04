internal import TintypeLoading

extension Double {
    /// Returns the number with a fixed count of decimals. FoundationEssentials has no `String(format:)`.
    package func fixed(_ decimals: Int) -> String {
        guard isFinite, abs(self) < 1e15 else { return "\(self)" }
        var scale = 1
        for _ in 0..<decimals { scale *= 10 }
        let scaled = Int((abs(self) * Double(scale)).rounded())
        let sign = self < 0 && scaled != 0 ? "-" : ""
        guard decimals > 0 else { return "\(sign)\(scaled)" }
        let fraction = String(scaled % scale)
        return "\(sign)\(scaled / scale)." + String(repeating: "0", count: decimals - fraction.count) + fraction
    }
}

extension Duration {
    /// The duration for people: `850 ns`, `12.4 µs`, `3.1 ms`, `2.45 s`.
    package var short: String {
        let seconds = inSeconds
        return switch abs(seconds) {
        case ..<1e-6: "\((seconds * 1e9).fixed(0)) ns"
        case ..<1e-3: "\((seconds * 1e6).fixed(1)) µs"
        case ..<1: "\((seconds * 1e3).fixed(1)) ms"
        default: "\(seconds.fixed(2)) s"
        }
    }
}

/// Returns a count with its noun: `1 image`, `2 images`.
package func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
