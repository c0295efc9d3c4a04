/// A connection that only reads the index. Write-ahead logging lets it read while others write. Used by one thread at a
/// time.
final class DiskIndexReader {
    let database: Database
    private let lookup: Statement
    private let totals: Statement
    private let all: Statement
    private let ofSource: Statement
    private let variants: Statement

    init(_ database: Database) throws(SQLiteError) {
        self.database = database
        let columns = DiskIndexSchema.columns
        lookup = try database.prepare("SELECT \(columns) FROM entries WHERE key = ?1")
        totals = try database.prepare("SELECT entries, bytes FROM state")
        all = try database.prepare("SELECT \(columns) FROM entries WHERE id > ?1 ORDER BY id LIMIT ?2")
        ofSource = try database.prepare(
            "SELECT \(columns) FROM entries WHERE key BETWEEN ?1 AND ?2 AND source = ?3 ORDER BY id")
        variants = try database.prepare(
            "SELECT variant FROM entries WHERE key BETWEEN ?1 AND ?2 AND source = ?3 ORDER BY id")
    }

    /// The variants of a source.
    func variants(ofSource source: String) throws(SQLiteError) -> [ImageVariant] {
        defer { variants.reset() }
        let range = DiskIndexSchema.hashes(ofSource: source)
        variants.bind(1, range.lowerBound)
        variants.bind(2, range.upperBound)
        variants.bind(3, source)
        var found: [ImageVariant] = []
        while try variants.step() { found.append(ImageVariant(description: variants.text(0) ?? "")) }
        return found
    }

    func row(forKey key: ImageKey) throws(SQLiteError) -> IndexRow? {
        defer { lookup.reset() }
        lookup.bind(1, DiskIndexSchema.hash(key))
        while try lookup.step() {
            if lookup.isText(1, equalTo: key.source), lookup.isText(2, equalTo: key.variant.description) {
                return IndexRow(lookup, key: key)
            }
        }
        return nil
    }

    func usage() throws(SQLiteError) -> CacheUsage {
        defer { totals.reset() }
        guard try totals.step() else { return CacheUsage() }
        return CacheUsage(entries: Int(totals.integer(0)), bytes: Int(totals.integer(1)))
    }

    /// The next rows in the order of their ids.
    func rows(after id: Int64, limit: Int) throws(SQLiteError) -> [IndexRow] {
        defer { all.reset() }
        all.bind(1, id)
        all.bind(2, limit)
        var rows: [IndexRow] = []
        while try all.step() { rows.append(IndexRow(all)) }
        return rows
    }

    func rows(ofSource source: String) throws(SQLiteError) -> [IndexRow] {
        defer { ofSource.reset() }
        let range = DiskIndexSchema.hashes(ofSource: source)
        ofSource.bind(1, range.lowerBound)
        ofSource.bind(2, range.upperBound)
        ofSource.bind(3, source)
        var rows: [IndexRow] = []
        while try ofSource.step() { rows.append(IndexRow(ofSource)) }
        return rows
    }
}
