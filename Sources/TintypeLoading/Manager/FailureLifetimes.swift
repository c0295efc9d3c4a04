/// The times until failed URLs are loaded again, by the kind of failure.
///
/// A time of zero remembers nothing. Failures that the loader doesn't want to be remembered (``ImageLoading/shouldRememberFailure(_:of:)``)
/// are temporary.
package struct FailureLifetimes: Sendable, Hashable {
    /// The lifetime of failures for images that don't exist: the statuses 404 and 410. The default is five minutes.
    package var missing: Duration
    /// The lifetime of failures for data that can't be decoded: ``ImageError/Code/unknownFormat``, ``ImageError/Code/corruptImage``,
    /// ``ImageError/Code/truncatedImage``, ``ImageError/Code/decoderCrashed``, and ``ImageError/Code/decodeTimedOut``. The default is five
    /// minutes.
    package var undecodable: Duration
    /// The lifetime of other failures that would only repeat (`ImageError.isPermanent`), such as a status 403. The default is 30 seconds.
    package var permanent: Duration
    /// The lifetime of failures that may pass, such as a missing connection, a timeout, or a status 503. The default is zero.
    package var temporary: Duration

    /// Creates lifetimes. Each parameter sets the property of the same name.
    package init(
        missing: Duration = .minutes(5), undecodable: Duration = .minutes(5), permanent: Duration = .seconds(30),
        temporary: Duration = .zero
    ) {
        self.missing = missing
        self.undecodable = undecodable
        self.permanent = permanent
        self.temporary = temporary
    }

    /// Lifetimes that remember no failure.
    package static let none = FailureLifetimes(missing: .zero, undecodable: .zero, permanent: .zero, temporary: .zero)

    /// The lifetime of a remembered failure.
    /// - Parameter isTemporary: true if the loader doesn't want it to be remembered.
    func lifetime(of error: ImageError, isTemporary: Bool) -> Duration {
        guard !isTemporary else { return temporary }
        switch error.code {
        case .badStatus where error.statusCode == 404 || error.statusCode == 410: return missing
        case .unknownFormat, .corruptImage, .truncatedImage, .decoderCrashed, .decodeTimedOut: return undecodable
        default: return permanent
        }
    }
}
