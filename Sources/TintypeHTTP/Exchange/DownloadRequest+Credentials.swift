internal import FoundationEssentials
internal import TintypeLoading

extension DownloadRequest {
    /// Moves `user:password@` of the URL to an `Authorization` field (RFC 7617). An existing field stays.
    mutating func moveCredentialsToHeader() {
        let user = url.user(percentEncoded: false)
        let password = url.password(percentEncoded: false)
        guard user != nil || password != nil else { return }
        url = url.withoutCredentials
        if headers["Authorization"] == nil {
            headers["Authorization"] = HTTPCredential.basic(user: user ?? "", password: password ?? "").field
        }
    }
}
