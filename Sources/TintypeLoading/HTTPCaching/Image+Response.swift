/// The response that brought an image.
private final class ResponseCompanion: ImageCompanion {
    let response: StoredResponse

    init(_ response: StoredResponse) { self.response = response }
}

extension Image {
    /// The response that brought the image; `nil` for a new image, or an image that the program stored.
    var response: StoredResponse? { (companion as? ResponseCompanion)?.response }

    /// Returns the same image for a cache, with the response that brought it.
    func with(_ response: StoredResponse?) -> Image {
        guard response != self.response else { return self }
        return with(companion: response.map { ResponseCompanion($0) })
    }
}
