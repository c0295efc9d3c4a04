import Foundation

/// PDF documents of one page that are small and cost much to draw.
enum HostilePages {
    /// - Parameters:
    ///   - objects: further objects, whose numbers begin with 4.
    private static func document(
        _ content: String, side: Int = 200, resources: String = "", objects: [Data] = []
    ) -> Data {
        let page =
            "<< /Type /Page /Parent 1 0 R /MediaBox [0 0 \(side) \(side)] /Contents 3 0 R /Resources << \(resources) >> >>"
        let first = [
            Data("<< /Type /Pages /Kids [2 0 R] /Count 1 >>".utf8), Data(page.utf8), stream(Data(content.utf8)),
        ]
        let all = first + objects
        var data = Data("%PDF-1.7\n".utf8)
        var offsets: [Int] = []
        for (index, object) in (all + [Data("<< /Type /Catalog /Pages 1 0 R >>".utf8)]).enumerated() {
            offsets.append(data.count)
            data += Data("\(index + 1) 0 obj\n".utf8) + object + Data("\nendobj\n".utf8)
        }
        let table = offsets.map { offset in
            let digits = String(offset)
            return String(repeating: "0", count: 10 - digits.count) + digits + " 00000 n \n"
        }
        let end =
            "xref\n0 \(offsets.count + 1)\n0000000000 65535 f \n\(table.joined())trailer\n"
            + "<< /Size \(offsets.count + 1) /Root \(offsets.count) 0 R >>\nstartxref\n\(data.count)\n%%EOF\n"
        return data + Data(end.utf8)
    }

    private static func stream(_ data: Data, _ entries: String = "") -> Data {
        Data("<< /Length \(data.count) \(entries) >>\nstream\n".utf8) + data + Data("\nendstream".utf8)
    }

    private static func times(_ count: Int, _ text: String) -> String { String(repeating: text, count: count) }

    /// Forms that draw each other.
    static func forms(_ levels: Int, _ count: Int) -> Data {
        let square = stream(Data("0 0 9 9 re f".utf8), "/Subtype /Form /BBox [0 0 200 200]")
        let forms = (0..<levels).map { level in
            stream(
                Data(times(count, "/F Do ").utf8),
                "/Subtype /Form /BBox [0 0 200 200] /Resources << /XObject << /F \(4 + level) 0 R >> >>")
        }
        return document("/F Do", resources: "/XObject << /F \(4 + levels) 0 R >>", objects: [square] + forms)
    }

    /// A color for each point, by a program.
    static func shading(_ operations: Int) -> Data {
        let program = Data("{ \(times(operations, "360 mul sin exch 360 mul cos exch ")) 2 copy mul abs }".utf8)
        let function = stream(program, "/FunctionType 4 /Domain [0 1 0 1] /Range [0 1 0 1 0 1]")
        let shading = "/ShadingType 1 /ColorSpace /DeviceRGB /Matrix [200 0 0 200 0 0] /Function 4 0 R"
        return document("/S sh", resources: "/Shading << /S << \(shading) >> >>", objects: [function])
    }

    /// A black picture of one byte for each pixel, in a stream that is small.
    static func picture(side: Int) -> Data {
        let picture = stream(
            ByteBuilder.deflatedZeros(side * side),
            "/Subtype /Image /Width \(side) /Height \(side) /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode"
        )
        return document("200 0 0 200 0 0 cm /I Do", resources: "/XObject << /I 4 0 R >>", objects: [picture])
    }
}
