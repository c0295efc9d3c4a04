extension Result where Failure == ImageError {
    /// The outcome of a body.
    package init(catching body: () async throws(ImageError) -> Success) async {
        do throws(ImageError) { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
