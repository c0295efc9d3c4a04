internal import FoundationEssentials

extension DiskStore {
    /// So many entries, of the mean size, go at most to make room for those that follow: as many as will share the
    /// transaction. It makes evictions rare, and lets no store wait while tens of thousands go.
    private static let evictionMargin = EntryTable.maximumPending

    /// Removes rows, least recently used first, until count and bytes are a little under the limits: by a twentieth, or by
    /// ``evictionMargin``. Tells their files.
    func evict(
        from index: DiskIndex, _ configuration: DiskCache.Configuration, except id: Int64
    ) throws(SQLiteError) -> [StoredFile] {
        let usage = try index.state().usage
        let maximumBytes = max(0, configuration.capacity.bytes)
        let maximumCount = max(0, configuration.maximumCount ?? .max)
        guard usage.bytes > maximumBytes || usage.entries > maximumCount else { return [] }
        let margin = max(0, usage.bytes) / max(1, usage.entries / Self.evictionMargin)
        return try evict(
            from: index, bytes: maximumBytes - min(maximumBytes / 20, margin),
            count: maximumCount - min(maximumCount / 20, Self.evictionMargin), except: id)
    }

    private func evict(
        from index: DiskIndex, bytes: Int, count: Int, except id: Int64
    ) throws(SQLiteError) -> [StoredFile] {
        let time = time
        try index.clampAccessTimes(now: time)
        var usage = try index.state().usage
        var evicted: [StoredFile] = []
        while usage.bytes > bytes || usage.entries > count {
            let oldest = try index.leastRecentlyUsed(limit: 64, except: id)
            guard !oldest.isEmpty else { break }
            for file in oldest where usage.bytes > bytes || usage.entries > count {
                // Read since the index was told: not among the oldest.
                let read = chores.withLock { $0.accessTimes.remove(file.id) }
                if let read, try index.setAccessTime(file.id, read, now: time) { continue }
                guard try index.remove(file) else { continue }
                usage.bytes -= file.size
                usage.entries -= 1
                evicted.append(file)
            }
        }
        counters.withLock { $0.evictions += evicted.count }
        return evicted
    }

    /// The free space of the volume, if after a file of `size` bytes less would be left than is to stay free.
    func tooLittleSpace(for size: Int, _ configuration: DiskCache.Configuration) -> Int? {
        guard configuration.minimumFreeSpace.bytes > 0, let free = try? files.freeSpace(layout.directory),
            free - size < configuration.minimumFreeSpace.bytes
        else { return nil }
        return free
    }

    /// Evicts until a file of `size` bytes leaves the volume as much free space as is to stay free.
    func makeRoom(
        for size: Int, in index: DiskIndex, _ configuration: DiskCache.Configuration
    ) throws(DiskFailure) {
        let wanted = configuration.minimumFreeSpace.bytes
        guard let free = tooLittleSpace(for: size, configuration) else { return }
        let removed = try change(index) { () throws(DiskFailure) in
            try indexed { () throws(SQLiteError) in
                let usage = try index.state().usage
                return try evict(from: index, bytes: usage.bytes - (wanted - (free - size)), count: .max, except: -1)
            }
        }
        removeFiles(removed)
        if let free = try? files.freeSpace(layout.directory), free - size < wanted {
            throw .refused(
                "the volume has \(ByteCount(free)) left, and \(configuration.minimumFreeSpace) are to stay free")
        }
    }

    /// Brings the cache under limits that were changed, or after files were found; tells what had to go.
    @discardableResult
    func enforceLimits() throws(ImageError) -> CacheSweep {
        let configuration = limits.withLock { $0 }
        let removed = try remove { index throws(SQLiteError) in
            try evict(from: index, configuration, except: -1)
        }
        return CacheSweep(files: removed.count, bytes: removed.reduce(0) { $0 + $1.size })
    }
}
