import Glibc
import Tintype
import TintypeSandbox

/// The helper process of isolated decoding. Programs start it; it does nothing by itself.
@main
struct TintypeDecoder {
    static func main() {
        let coders = ImageCoders.contained
        let status = DecoderWorker(coders: coders).run {
            // Loads the libraries of text, and the fonts that text has by default.
            let text = """
                <svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">
                <text y="8">a<tspan font-family="serif">b</tspan><tspan font-family="monospace">c</tspan></text></svg>
                """
            _ = try? coders.decode(Data(text.utf8))
        }
        exit(status)
    }
}
