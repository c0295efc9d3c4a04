#if HTTP
extension ImageDownloader.Configuration {
    /// The configuration of AFNetworking's image downloader: four transfers at a time, the oldest first, a limit of 60 s, session cookies,
    /// and images only.
    public static var afNetworking: Self {
        Self(
            maximumConcurrentDownloads: 4, order: .firstInFirstOut, timeout: .seconds(60),
            acceptableContentTypes: [
                "application/octet-stream", "application/pdf", "image/bmp", "image/gif", "image/heic", "image/heif",
                "image/ico", "image/jp2", "image/jpeg", "image/jpg", "image/png", "image/tiff", "image/webp",
                "image/x-bmp", "image/x-icon", "image/x-ms-bmp", "image/x-win-bitmap", "image/x-xbitmap",
            ], cookies: SessionCookies())
    }
}
#endif
