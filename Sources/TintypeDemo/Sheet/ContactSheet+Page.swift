internal import CommandSupport
internal import FoundationEssentials
internal import Tintype

extension ContactSheet {
    /// Returns the sheet as a page that needs no other file and no server.
    func page() throws(ImageError) -> String {
        var figures = ""
        for entry in entries { figures += try figure(entry) }
        let more = omitted > 0 ? "<p>and \(counted(omitted, "more image")) that the sheet leaves out</p>" : ""
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(Self.escaped(title))</title>
            <style>
            \(Self.style)
            </style>
            </head>
            <body>
            <header>
            <h1>\(Self.escaped(title))</h1>
            <p>\(Self.escaped(subtitle))</p>
            </header>
            <main>
            \(figures)</main>
            <footer>\(more)</footer>
            </body>
            </html>

            """
    }

    private func figure(_ entry: Entry) throws(ImageError) -> String {
        let format: ImageFormat = entry.image.hasAlpha || entry.image.isAnimated ? .webp : .jpeg
        var options = EncodeOptions()
        options.quality = 0.82
        let data = try ImageCoders.default.encode(entry.image, as: format, options: options)
        let source = "data:\(format.mimeType ?? "");base64,\(data.base64EncodedString())"
        let times = entry.times.map { "<span>\(Self.escaped($0.pass)) \($0.time.short)</span>" }.joined()
        let name = Self.escaped(entry.name)
        return """
            <figure>
            <div class="frame"><img\(entry.image.hasAlpha ? " class=\"alpha\"" : "") src="\(source)" \
            width="\(entry.image.size.width)" height="\(entry.image.size.height)" alt="\(name)" loading="lazy"></div>
            <figcaption><strong title="\(name)">\(name)</strong>
            <small>\(Self.escaped(entry.facts))</small>
            <small class="times">\(times)</small></figcaption>
            </figure>

            """
    }

    static func escaped(_ text: String) -> String {
        var result = ""
        for character in Console.printable(text) {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.append(character)
            }
        }
        return result
    }

    private static let style = """
        :root {
          color-scheme: light dark;
          --page: #f3f4f7; --card: #fff; --text: #1b1f27; --muted: #667085; --line: #e3e6ec; --chip: #eef0f5;
        }
        @media (prefers-color-scheme: dark) {
          :root { --page: #15181e; --card: #21262f; --text: #eef1f5; --muted: #98a3b3; --line: #2d343f; --chip: #2b313c; }
        }
        * { box-sizing: border-box; }
        body { margin: 0; padding: 2rem clamp(1rem, 4vw, 3rem); background: var(--page); color: var(--text);
          font: 15px/1.45 system-ui, sans-serif; }
        header { margin-bottom: 1.6rem; }
        h1 { margin: 0 0 .2rem; font-size: 1.7rem; letter-spacing: -.01em; }
        p, small, footer { color: var(--muted); margin: 0; }
        main { display: grid; grid-template-columns: repeat(auto-fill, minmax(250px, 1fr)); gap: 1rem; }
        figure { margin: 0; display: flex; flex-direction: column; background: var(--card);
          border: 1px solid var(--line); border-radius: 12px; overflow: hidden; }
        .frame { flex: 1; display: grid; place-items: center; padding: .8rem; min-height: 200px; }
        img { max-width: 100%; max-height: 260px; width: auto; height: auto; border-radius: 5px; }
        img.alpha { background: repeating-conic-gradient(#fff 0 25%, #dde1e6 0 50%) 0 0 / 16px 16px; }
        figcaption { padding: .7rem .9rem .8rem; border-top: 1px solid var(--line); }
        strong, small { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        strong { font-weight: 600; }
        small { font-size: .82rem; }
        .times { margin-top: .4rem; white-space: normal; }
        .times span { display: inline-block; margin: .1rem .3rem .1rem 0; padding: .05rem .5rem; border-radius: 99px;
          background: var(--chip); font-variant-numeric: tabular-nums; }
        footer { margin-top: 1.2rem; }
        """
}
