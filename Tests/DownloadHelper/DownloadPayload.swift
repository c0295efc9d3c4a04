public import FoundationEssentials

/// A file of any length, of which every part is known.
public enum DownloadPayload {
    public static func bytes(_ range: Range<Int>) -> Data {
        var data = Data(count: range.count)
        data.withUnsafeMutableBytes { bytes in
            for index in 0..<bytes.count { bytes[index] = byte(range.lowerBound + index) }
        }
        return data
    }

    public static func isBeginning(_ data: Data) -> Bool {
        data.withUnsafeBytes { bytes in
            for index in 0..<bytes.count where bytes[index] != byte(index) { return false }
            return true
        }
    }

    private static func byte(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: index &* 31 &+ index >> 8) }
}
