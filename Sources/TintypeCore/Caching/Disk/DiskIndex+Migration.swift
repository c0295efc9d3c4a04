/// Indexes of older versions.
extension DiskIndex {
    /// Makes version 2 of version 1, in the transaction that is under way.
    ///
    /// The first files of version 1 had names that the ``EntryTable`` does not find. They are renamed; if the process is
    /// killed meanwhile, the next one finds the old rows, and some of the files under their new names already.
    static func migrate(_ database: Database, rename: (Int64, Int64) -> Bool) throws(SQLiteError) {
        var strays: [(id: Int64, hash: Int64)] = []
        let keys = try database.prepare("SELECT key, id FROM entries INDEXED BY entries_key")
        while try keys.step() {
            let (hash, id) = (keys.integer(0), keys.integer(1))
            if id & DiskLayout.tagMask != EntryTable.tag(hash) { strays.append((id, hash)) }
        }
        keys.reset()
        let taken = try database.prepare("SELECT 1 FROM entries WHERE id = ?1")
        let change = try database.prepare("UPDATE entries SET id = ?2 WHERE id = ?1")
        let delete = try database.prepare("DELETE FROM entries WHERE id = ?1")
        for (id, hash) in strays {
            var newID = id & ~DiskLayout.tagMask | EntryTable.tag(hash)
            while try isTaken(newID, taken) { newID = DiskLayout.id(after: newID) }
            let isThere = rename(id, newID)
            (isThere ? change : delete).bind(1, id)
            if isThere { change.bind(2, newID) }
            try (isThere ? change : delete).run()
        }
        try database.execute(
            """
            ALTER TABLE entries ADD COLUMN lifetime INTEGER;
            ALTER TABLE entries ADD COLUMN transform TEXT;
            ALTER TABLE entries DROP COLUMN cost;
            \(DiskIndexSchema.idleIndex);
            UPDATE state SET entries = (SELECT count(*) FROM entries),
                bytes = (SELECT coalesce(sum(file_size), 0) FROM entries);
            PRAGMA user_version = \(DiskIndexSchema.version);
            """)
    }

    private static func isTaken(_ id: Int64, _ taken: Statement) throws(SQLiteError) -> Bool {
        defer { taken.reset() }
        taken.bind(1, id)
        return try taken.step()
    }
}
