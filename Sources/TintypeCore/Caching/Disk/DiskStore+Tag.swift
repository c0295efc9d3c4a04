internal import FoundationEssentials

extension DiskStore {
    /// Marks the directory as one whose contents can be made again (Cache Directory Tagging Specification, bford.info/cachedir),
    /// or takes the mark away. It is no reason to fail: what goes wrong with it is left so.
    func tagDirectory() {
        guard limits.withLock({ $0.isExcludedFromBackup }) else {
            try? files.remove(layout.tag)
            return
        }
        guard (try? files.status(layout.tag)) == nil else { return }
        let text = """
            Signature: 8a477f597d28d172789f06886806bc55
            # Tintype keeps images here that it can load again.

            """
        try? files.create(layout.tag, parts: [Data(text.utf8)])
    }
}
