internal import Glibc

extension DecoderIsolation {
    /// The environment variable with the path of the helper.
    public static let helperVariable = "TINTYPE_DECODER"
    private static let helperName = "tintype-decoder"

    /// The path of the helper; `nil` if there is none.
    public var helperPath: String? {
        if let helper { return Self.isProgram(helper) ? helper : nil }
        if let named = getenv(Self.helperVariable).map({ String(cString: $0) }), !named.isEmpty {
            return Self.isProgram(named) ? named : nil
        }
        let beside = Self.programFolder.map { "\($0)/\(Self.helperName)" }
        return beside.flatMap { Self.isProgram($0) ? $0 : nil }
    }

    private static func isProgram(_ path: String) -> Bool {
        path.hasPrefix("/") && access(path, X_OK) == 0
    }

    /// The folder of the running program.
    private static var programFolder: String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { path in
            let count = path.baseAddress.map { readlink("/proc/self/exe", $0, path.count) } ?? 0
            guard count > 0, let slash = path[..<count].lastIndex(of: CChar(UInt8(ascii: "/"))) else { return nil }
            return String(decoding: path[..<slash].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}
