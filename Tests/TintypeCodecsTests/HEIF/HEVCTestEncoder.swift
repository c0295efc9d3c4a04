#if HEIF
import CX265
import Foundation
import Testing

/// Makes HEVC pictures for tests with x265: without loss, so that every number that comes out again is known.
struct HEVCTestEncoder {
    enum Layout: String {
        case gray = "i400"
        case half = "i420"
        case halfWidth = "i422"
        case full = "i444"

        var code: Int32 {
            switch self {
            case .gray: X265_CSP_I400
            case .half: X265_CSP_I420
            case .halfWidth: X265_CSP_I422
            case .full: X265_CSP_I444
            }
        }

        /// Pixels to a number of chroma, across and down.
        var shared: (Int, Int) {
            switch self {
            case .gray, .full: (1, 1)
            case .halfWidth: (2, 1)
            case .half: (2, 2)
            }
        }
    }

    struct Output {
        /// The parameter sets, without lengths.
        var sets: [Data]
        /// In the order of decoding, with lengths of four bytes.
        var samples: [Sample]
    }

    struct Sample {
        var data: Data
        /// The place in the order of showing.
        var rank: Int
        var isSync: Bool
    }

    var width: Int
    var height: Int
    var layout = Layout.half
    var bits = 8
    /// Names and values of further parameters of x265.
    var settings: [String: String] = [:]

    /// - Parameter number: what stands in plane 0, 1 or 2 of a frame at a column and a row of that plane.
    func encode(frames: Int, number: (_ frame: Int, _ plane: Int, _ x: Int, _ y: Int) -> Int) throws -> Output {
        let api = try #require(cx265_api(Int32(bits)), "x265 has no \(bits) bits").pointee
        let parameters = try #require(api.param_alloc())
        defer { api.param_free(parameters) }
        _ = api.param_default_preset(parameters, "ultrafast", nil)
        var all = [
            "input-res": "\(width)x\(height)", "fps": "25", "input-csp": layout.rawValue, "annexb": "0",
            "lossless": "1",
            "log-level": "none", "pools": "none", "frame-threads": "1", "info": "0", "repeat-headers": "0",
            "bframes": "0",
            "rc-lookahead": "5", "keyint": "4", "min-keyint": "4", "scenecut": "0", "open-gop": "0",
        ]
        all.merge(settings) { $1 }
        for (name, value) in all {
            let result = api.param_parse(parameters, name, value)
            try #require(result == 0, "x265 does not take \(name)=\(value)")
        }
        let encoder = try #require(api.encoder_open(parameters))
        defer { api.encoder_close(encoder) }
        var units: UnsafeMutablePointer<x265_nal>?
        var count: UInt32 = 0
        try #require(api.encoder_headers(encoder, &units, &count) >= 0)
        let sets = payloads(units, count).map { Data($0.data.dropFirst(4)) }
        var samples: [Sample] = []
        let input = try #require(api.picture_alloc())
        let output = try #require(api.picture_alloc())
        defer { for picture in [input, output] { api.picture_free(picture) } }
        api.picture_init(parameters, input)
        func take(_ result: Int32) {
            guard result > 0 else { return }
            let units = payloads(units, count)
            samples.append(
                Sample(
                    data: units.reduce(into: Data()) { $0 += $1.data }, rank: Int(output.pointee.pts),
                    isSync: units.contains { (16...21).contains($0.type) }))
        }
        for frame in 0..<frames {
            var planes = (0..<(layout == .gray ? 1 : 3)).map { plane in
                self.plane(plane) { number(frame, plane, $0, $1) }
            }
            let strides = planes.indices.map { planeSize($0).width * (bits > 8 ? 2 : 1) }
            input.pointee.pts = Int64(frame)
            input.pointee.bitDepth = Int32(bits)
            input.pointee.colorSpace = layout.code
            let bases = planes.map { bytes in
                let copy = UnsafeMutableRawPointer.allocate(byteCount: bytes.count, alignment: 16)
                bytes.withUnsafeBytes {
                    copy.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(copy), byteCount: $0.count)
                }
                return copy
            }
            planes = []
            defer { for base in bases { base.deallocate() } }
            input.pointee.planes = (bases[0], bases.count > 1 ? bases[1] : nil, bases.count > 1 ? bases[2] : nil)
            input.pointee.stride = (
                Int32(strides[0]), Int32(strides.count > 1 ? strides[1] : 0), Int32(strides.count > 1 ? strides[2] : 0)
            )
            take(api.encoder_encode(encoder, &units, &count, input, output))
        }
        while samples.count < frames {
            let result = api.encoder_encode(encoder, &units, &count, nil, output)
            take(result)
            if result <= 0 { break }
        }
        try #require(samples.count == frames)
        return Output(sets: sets, samples: samples)
    }

    private func planeSize(_ plane: Int) -> (width: Int, height: Int) {
        let (across, down) = plane == 0 ? (1, 1) : layout.shared
        return (width / across, height / down)
    }

    private func plane(_ plane: Int, _ number: (Int, Int) -> Int) -> [UInt8] {
        let size = planeSize(plane)
        var bytes: [UInt8] = []
        for y in 0..<size.height {
            for x in 0..<size.width {
                let value = number(x, y)
                bytes.append(UInt8(truncatingIfNeeded: value))
                if bits > 8 { bytes.append(UInt8(truncatingIfNeeded: value >> 8)) }
            }
        }
        return bytes
    }

    private func payloads(_ units: UnsafeMutablePointer<x265_nal>?, _ count: UInt32) -> [(type: Int, data: Data)] {
        (0..<Int(count)).compactMap { index in
            guard let unit = units?[index], let payload = unit.payload else { return nil }
            return (Int(unit.type), Data(bytes: payload, count: Int(unit.sizeBytes)))
        }
    }
}
#endif
