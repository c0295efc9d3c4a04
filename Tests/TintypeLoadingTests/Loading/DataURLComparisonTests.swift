import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

@Suite("Data URLs as Python reads them", .timeLimited)
struct DataURLComparisonTests {
    /// URLs, and the bytes in base64 that `urllib.request.urlopen` of Python 3.11 reads from them.
    ///
    /// Both differ where browsers do: Python keeps what follows a `#`, and knows no base64 without padding or after `; ` (WHATWG Fetch,
    /// section 6).
    private static let rows: [(url: String, bytes: String)] = [
        ("data:,abc", "YWJj"),
        ("data:text/plain,abc", "YWJj"),
        ("DATA:,abc", "YWJj"),
        ("data:,a%20b", "YSBi"),
        ("data:,a b", "YSBi"),
        ("data:,%41%42", "QUI="),
        ("data:,a%2Cb,c", "YSxiLGM="),
        ("data:,100%", "MTAwJQ=="),
        ("data:,100%25", "MTAwJQ=="),
        ("data:,100%zz", "MTAwJXp6"),
        ("data:,%", "JQ=="),
        ("data:,%4", "JTQ="),
        ("data:,%25%32%30", "JTIw"),
        ("data:,a+b", "YSti"),
        ("data:,a?b=c&d", "YT9iPWMmZA=="),
        ("data:,%23c81e3c", "I2M4MWUzYw=="),
        ("data:text/plain;charset=utf-8,ä", "w6Q="),
        ("data:text/plain;charset=utf-8,%C3%A4", "w6Q="),
        ("data:text/plain;charset=iso-8859-1,%E4", "5A=="),
        ("data:,ä%E4", "w6Tk"),
        ("data:,%FF%00%01", "/wAB"),
        (
            "data:image/svg+xml;utf8,<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"8\" height=\"8\"><rect width=\"8\" height=\"8\" fill=\"%23c81e3c\"/></svg>",
            "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHdpZHRoPSI4IiBoZWlnaHQ9IjgiPjxyZWN0IHdpZHRoPSI4IiBoZWlnaHQ9IjgiIGZpbGw9IiNjODFlM2MiLz48L3N2Zz4="
        ),
        (
            "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='8' height='8'%3E%3Crect width='100%' height='100%' fill='%23c81e3c'/%3E%3C/svg%3E",
            "PHN2ZyB4bWxucz0naHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmcnIHdpZHRoPSc4JyBoZWlnaHQ9JzgnPjxyZWN0IHdpZHRoPScxMDAlJyBoZWlnaHQ9JzEwMCUnIGZpbGw9JyNjODFlM2MnLz48L3N2Zz4="
        ),
        (
            "data:image/svg+xml,%3Csvg%20xmlns=%22http://www.w3.org/2000/svg%22/%3E",
            "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4="
        ),
        (
            "data:image/svg+xml;charset=utf-8,<svg><text>[a] {b} |c| ^d `e` \\f</text></svg>",
            "PHN2Zz48dGV4dD5bYV0ge2J9IHxjfCBeZCBgZWAgXGY8L3RleHQ+PC9zdmc+"
        ),
        ("data:image/svg+xml,<svg\n  width='1'\n  height='1'/>", "PHN2ZwogIHdpZHRoPScxJwogIGhlaWdodD0nMScvPg=="),
        ("data:;base64,aGVsbG8=", "aGVsbG8="),
        ("data:image/png;base64,aGVsbG8h", "aGVsbG8h"),
        ("data:image/png;base64,aGVsbG8%3D", "aGVsbG8="),
        ("data:image/png;base64,aGVs\nbG8=", "aGVsbG8="),
        ("data:image/png;base64,aGVs\r\nbG8%3D", "aGVsbG8="),
        ("data:image/png;base64,aGVs bG8=", "aGVsbG8="),
        ("data:image/png;base64,aGVs%0AbG8%3D", "aGVsbG8="),
        ("data:image/png;base64,%61GVsbG8=", "aGVsbG8="),
        ("data:image/png;base64,//79+w==", "//79+w=="),
        ("data:image/png;base64,%2F%2F79%2Bw%3D%3D", "//79+w=="),
        ("data:image/png;name=a%20b.png;base64,aGVsbG8=", "aGVsbG8="),
        ("data:base64,aGk=", "YUdrPQ=="),
        ("data:text/html,<p>a</p>", "PHA+YTwvcD4="),
        ("data:application/octet-stream;x=1;y=2,%00%FF", "AP8="),
    ]

    @Test("A data: URL has the bytes that Python's urllib reads, decoded once")
    func table() async throws {
        #expect(Self.rows.count >= 35)
        for (text, bytes) in Self.rows {
            let loaded = try await DataURLLoader().load(LoadRequest(url: ImageRequest(string: text).url))
            #expect(loaded.data.base64EncodedString() == bytes, "\(text)")
        }
    }

    private static let python: URL? = ["/usr/bin/python3", "/usr/local/bin/python3"].map { URL(filePath: $0) }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }

    @Test("The table is what the installed Python says", .enabled(if: python != nil))
    func installedPython() throws {
        let folder = try TemporaryDirectory()
        let list = URL(filePath: folder.path + "/urls.json")
        try JSONEncoder().encode(Self.rows.map(\.url)).write(to: list)
        let process = Process()
        process.executableURL = Self.python
        process.arguments = [
            "-c",
            """
            import base64, json, sys, urllib.request
            for url in json.load(open(sys.argv[1], encoding="utf-8")):
                print(base64.b64encode(urllib.request.urlopen(url).read()).decode())
            """, list.path,
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(text.split(separator: "\n").map(String.init) == Self.rows.map(\.bytes))
    }
}
