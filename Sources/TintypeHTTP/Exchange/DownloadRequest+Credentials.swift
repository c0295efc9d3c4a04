internal import FoundationEssentials
internal import TintypeCore

extension DownloadRequest {
    /// The request with `user:password@` of its URL moved to an `Authorization` field (RFC 7617). An existing field stays.
    var withCredentialsInHeader: DownloadRequest {
        let user = url.user(percentEncoded: false)
        let password = url.password(percentEncoded: false)
        guard user != nil || password != nil else { return self }
        var request = self
        request.url = url.withoutCredentials
        if headers["Authorization"] == nil {
            let login = Data("\(user ?? ""):\(password ?? "")".utf8).base64EncodedString()
            request.headers["Authorization"] = "Basic \(login)"
        }
        return request
    }
}
