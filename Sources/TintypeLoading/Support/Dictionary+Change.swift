extension Dictionary {
    /// Changes a value in place, if any.
    ///
    /// `dictionary[key]?.property = value` allocates memory for large values, which takes longer than the change.
    @discardableResult @inline(__always)
    mutating func change<Result>(_ key: Key, _ body: (inout Value) -> Result) -> Result? {
        guard let index = index(forKey: key) else { return nil }
        return body(&values[index])
    }
}
