internal import ArgumentParser
internal import CommandSupport
internal import Tintype

/// The arguments of commands that download a list of URLs.
struct DownloadArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("URLs of images.", valueName: "url"))
    var urls: [String] = []

    @Option(
        help: ArgumentHelp(
            "A list of URLs, one per line. Blank lines and lines that begin with # are ignored. - is standard input.",
            valueName: "file"), completion: .file())
    var from: String?

    @Option(
        name: [.customShort("H"), .long], parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            Send a header field with every request; may be repeated. An empty value removes a field that is sent by \
            default. Redirects never take credentials to another host.
            """, valueName: "name: value"))
    var header: [String] = []

    @Option(help: "The number of images to download at once, from 1 to 256.")
    var jobs = 6

    @Option(help: "The longest time without data from a server, in seconds. (default: 15)")
    var timeout: Double?

    @Option(help: "Retry transfers that fail with a temporary error, up to this number of times.")
    var retry = 0

    @Option(
        help: ArgumentHelp(
            """
            Connect through a proxy: http://HOST:PORT or socks5://HOST:PORT. none connects directly. The default is the \
            environment's https_proxy, http_proxy, all_proxy, and no_proxy.
            """, valueName: "url"))
    var proxy: String?

    @Option(
        name: .customLong("insecure-host"),
        help: ArgumentHelp("Don't check the certificate of a host; may be repeated.", valueName: "host"))
    var insecureHosts: [String] = []

    @Flag(
        name: .customLong("guard"),
        help: "Connect to public addresses only, with strict limits, for untrusted URLs.")
    var isGuarded = false

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Flag(name: .customLong("full-urls"), help: "Show URLs with user names, passwords, and all query values.")
    var fullURLs = false

    func validate() throws {
        guard !urls.isEmpty || from != nil else { throw ValidationError("Give URLs, or a list of URLs with --from.") }
        guard (1...256).contains(jobs) else { throw ValidationError("--jobs needs a number from 1 to 256.") }
        if let timeout {
            guard timeout.isFinite, timeout > 0, timeout <= 86_400 else {
                throw ValidationError("--timeout needs a number of seconds above 0, at most 86400.")
            }
        }
        guard (0...100).contains(retry) else { throw ValidationError("--retry needs a number from 0 to 100.") }
        // A proxy may have a password, so no message shows it.
        guard proxy.map(NetworkOptions.isProxy) ?? true else {
            throw ValidationError("--proxy needs a URL such as http://proxy.example.org:8080, or none.")
        }
        // Fields may have credentials, so no message shows them.
        guard HeaderFields.parsed(header) != nil else {
            throw ValidationError(
                "--header needs a name, a colon, and a value on one line, such as 'Accept-Language: en'.")
        }
    }

    /// The header fields of every request.
    var headers: [String: String] { HeaderFields.parsed(header) ?? [:] }
    /// The longest time without data from a server.
    var timeoutDuration: Duration? { timeout.map { .seconds($0) } }

    /// The options of transfers.
    var network: NetworkOptions {
        var options = NetworkOptions()
        options.retries = retry
        options.proxy = proxy
        options.insecureHosts = insecureHosts
        options.isGuarded = isGuarded
        return options
    }

    /// The URLs, including the list's.
    func list() throws(ImageError) -> URLList { try URLList(urls, file: from) }

    /// Returns the runner of the work for each of the URLs.
    func runner(_ console: Console) -> URLListRunner {
        URLListRunner(jobs: jobs, json: json, showsCompleteURLs: fullURLs, console: console)
    }
}
