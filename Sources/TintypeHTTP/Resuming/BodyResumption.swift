#if HTTP
internal import FoundationEssentials
internal import TintypeLoading

/// Connects a transfer with the interrupted transfers before and after it.
struct BodyResumption: Sendable {
    let partials: PartialDownloads
    let key: PartialBodyKey
    /// The start whose rest was requested; `nil` if the whole body was.
    var partial: PartialBody?

    /// The plan for the body of a response.
    struct Plan: Sendable {
        /// The bytes before those that arrive, which are appended to them; `nil` if all arrive.
        var prefix: ArrivingBytes?
        /// The size of the whole body, if it is known.
        var total: Int?
        /// The end of the part that arrives, if it is a part.
        var partEnd: Int?
        /// The validator of the earlier bytes, if the rest of them arrives.
        var continuedValidator: String?
        /// The fields of the response, which may have a validator, if a whole body arrives that a later transfer could continue.
        var headers: HTTPFields?
        /// The URL that sends the bytes; `nil` if they can't be continued.
        var owner: URL?
        /// The fields with which it was asked.
        var fields = HTTPFields()
        /// The validator of the bytes; `nil` if they can't be continued after an interruption. Most transfers never need it.
        var validator: String? { continuedValidator ?? headers.flatMap { RangeRules.strongValidator($0) } }
    }

    /// Returns the plan for a successful response.
    /// - Parameters:
    ///   - announced: the length of the body that the response announces.
    ///   - isEncoded: true if the body is compressed.
    ///   - fields: the fields of the request.
    /// - Throws: ``ImageError/Code/badResponse`` for a part that doesn't continue the start.
    func plan(
        for response: ResponseHead, announced: Int?, isEncoded: Bool, to fields: HTTPFields
    ) throws(ImageError) -> Plan {
        var plan = Plan(total: isEncoded ? nil : announced, fields: fields)
        if response.statusCode == 206 {
            guard let partial else { throw .unaskedPart }
            do throws(ImageError) {
                guard !isEncoded else {
                    throw ImageError(
                        .badResponse, stage: .load, reason: "the rest of an interrupted transfer arrived compressed")
                }
                let part = try RangeRules.checkPart(response.headers, continues: partial)
                (plan.total, plan.partEnd) = (part.total, part.end)
            } catch {
                partials.discard(key)
                throw error
            }
            plan.prefix = partial.bytes
            plan.continuedValidator = partial.validator
        } else {
            // The start is of no use anymore: the bytes have changed, or the server sends no parts.
            if partial != nil { partials.discard(key) }
            guard response.statusCode == 200, !isEncoded, RangeRules.allowsRanges(response.headers) else { return plan }
            plan.headers = response.headers
        }
        plan.owner = response.url
        return plan
    }

    /// Keeps the bytes of a body that was interrupted.
    func keep(_ bytes: ArrivingBytes, _ plan: Plan) {
        guard let validator = plan.validator, let owner = plan.owner else { return }
        partials.put(
            PartialBody(bytes: bytes, validator: validator, owner: owner, fields: plan.fields, total: plan.total),
            for: key)
    }
}
#endif
