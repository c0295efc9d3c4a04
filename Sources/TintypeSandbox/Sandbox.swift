internal import CSandbox
internal import Glibc
internal import TintypeIsolation

/// The limits of a worker, which it can't lift again.
enum Sandbox {
    /// The directories that fonts and data are read from, besides those that fontconfig names.
    private static let directories = [
        "/usr/share/fonts", "/usr/local/share/fonts", "/etc/fonts", "/usr/share/fontconfig", "/var/cache/fontconfig",
        "/usr/share/poppler", "/usr/share/mime", "/usr/lib", "/usr/share/color",
    ]
    private static let maximumFontDirectories = 4_096
    /// Processor time of a process in all, in seconds: the last resort against one whose program was stopped.
    private static let processorSeconds: UInt64 = 3_600

    /// Takes all rights from this process but those that decoding needs.
    /// - Parameters:
    ///   - settings: the memory of the process, and the places of fonts.
    ///   - socket: the connection to the program. The process ends with it.
    ///   - prepare: called when fonts are known, and files can still be opened.
    /// - Returns: false if the system refuses a limit; the process must not decode then.
    static func close(_ settings: WorkerSettings, socket: Int32, preparing prepare: () -> Void) -> Bool {
        for index in stride(from: 0, to: settings.variables.count - 1, by: 2) {
            setenv(settings.variables[index], settings.variables[index + 1], 1)
        }
        setlocale(LC_CTYPE, settings.locale)
        tintype_find_program(socket)
        prepare()
        var paths = directories.map { strdup($0) } + fontDirectories()
        defer { paths.forEach { free($0) } }
        paths.append(nil)
        // Pango looks for fonts in threads.
        guard tintype_await_threads() == 0 else { return false }
        let list = paths.map { UnsafePointer($0) }
        let opens = list.withUnsafeBufferPointer { list in list.baseAddress.map { tintype_restrict_files($0) } ?? -1 }
        let memory = UInt64(max(settings.memoryLimit, 0))
        tintype_explain_crashes(memory)
        guard opens >= 0, tintype_limit_resources(memory, processorSeconds) == 0,
            tintype_restrict_calls(opens) == 0
        else { return false }
        return tintype_follow_program() == 0
    }

    private static func fontDirectories() -> [UnsafeMutablePointer<CChar>?] {
        [UnsafeMutablePointer<CChar>?](unsafeUninitializedCapacity: maximumFontDirectories) { buffer, count in
            count = tintype_font_directories(buffer.baseAddress, buffer.count)
        }
    }
}
