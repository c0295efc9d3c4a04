internal import FoundationEssentials

/// The loader of a request that brings its own bytes.
struct BytesLoader: ImageLoading {
    enum Source: Sendable {
        case data(Data)
        case closure(@Sendable () async throws -> Data)
    }

    let source: Source
    let mimeType: String?

    var schemes: [String] { ["source"] }

    func isLocal(_ url: URL) -> Bool { if case .data = source { true } else { false } }

    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        let data: Data
        switch source {
        case .data(let bytes): data = bytes
        case .closure(let load): data = try await Self.bytes(load, for: request)
        }
        request.receive(LoadProgress(receivedBytes: 0, expectedBytes: data.count))
        if !data.isEmpty {
            request.receive(LoadProgress(chunk: data, receivedBytes: data.count, expectedBytes: data.count))
        }
        return LoadedData(data: data, url: request.url, mimeType: mimeType)
    }

    private static func bytes(
        _ load: @Sendable () async throws -> Data, for request: LoadRequest
    ) async throws(ImageError) -> Data {
        // The closure may compute for long, and a load starts on the thread that asks for it.
        await Task.yield()
        do {
            try await request.waitForRoom()
            return try await load()
        } catch {
            throw ImageError(loaderError: error, of: request.url, while: "the request's closure")
        }
    }

    /// The URL that stands for an identifier. Different identifiers have different URLs.
    static func url(for identifier: String) -> URL {
        var text = "source:"
        for byte in identifier.utf8 {
            let scalar = Unicode.Scalar(byte)
            if byte < 0x80, Character(scalar).isLetter || Character(scalar).isNumber || legalMarks.contains(byte) {
                text.unicodeScalars.append(scalar)
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return URL(string: text) ?? URL(filePath: identifier)
    }

    /// The marks that stay as they are, so that messages leave out the secrets of an identifier that is a URL (RFC 3986, section 2).
    private static let legalMarks = Set("-._~!$&'()*+,;=:@/?".utf8)
}
