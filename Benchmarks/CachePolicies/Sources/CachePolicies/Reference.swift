import Foundation

/// What an independent simulator found for a trace: a file `NAME.reference.json` beside `NAME.csv`.
struct Reference: Decodable {
    struct Result: Decodable {
        var policy: String
        var capacity: Int
        var hitRatio: Double
        var byteHitRatio: Double

        enum CodingKeys: String, CodingKey {
            case policy, capacity
            case hitRatio = "hit_ratio"
            case byteHitRatio = "byte_hit_ratio"
        }
    }

    var simulator: String
    var results: [Result]

    init(_ url: URL) throws { self = try JSONDecoder().decode(Reference.self, from: Data(contentsOf: url)) }
}
