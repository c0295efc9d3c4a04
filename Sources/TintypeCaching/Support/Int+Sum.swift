extension Int {
    /// Returns the sum, limited to the range. A program's own cache may report any number, such as `.max` if it doesn't know.
    func addingInRange(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
