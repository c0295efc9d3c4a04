internal import CLCMS2
internal import FoundationEssentials
internal import Glibc

/// A context of LittleCMS that writes no messages, and takes no block of memory above a limit.
///
/// LittleCMS takes the memory for what a profile announces before it looks whether the profile has that much: 600 bytes
/// can announce 400 MB of names.
struct ColorContext: ~Copyable {
    let handle: cmsContext

    /// The most bytes that LittleCMS takes at once. The tables of the largest profiles in use take a quarter of it.
    private static let largestBlock: UInt32 = 32 << 20

    /// - Returns: `nil` without memory for it.
    init?() {
        let base = cmsPluginBase(
            Magic: UInt32(cmsPluginMagicNumber), ExpectedVersion: UInt32(LCMS_VERSION),
            Type: UInt32(cmsPluginMemHandlerSig), Next: nil)
        var memory = cmsPluginMemHandler(
            base: base,
            MallocPtr: { $1 <= ColorContext.largestBlock ? malloc(Int($1)) : nil },
            FreePtr: { free($1) },
            ReallocPtr: { $2 <= ColorContext.largestBlock ? realloc($1, Int($2)) : nil },
            MallocZeroPtr: nil, CallocPtr: nil, DupPtr: nil)
        guard let context = cmsCreateContext(&memory, nil) else { return nil }
        cmsSetLogErrorHandlerTHR(context) { _, _, _ in }
        handle = context
    }

    deinit { cmsDeleteContext(handle) }
}

extension Data {
    /// A profile whose optional chains of processing elements (`D2B0` to `D2B3`; ICC.1, section 9.2) are named otherwise, so that
    /// LittleCMS uses the tables or the matrix that each profile has besides, as browsers do.
    ///
    /// Eight bytes name an element, and thousands of names are compressed to a few hundred bytes. LittleCMS takes each color of its tables
    /// through all of them, for minutes, in a call that can't be canceled.
    var withoutProcessingElements: Data {
        let places = withUnsafeBytes { bytes in
            // Behind the header are the number of tags, of which LittleCMS reads up to 100, and for each its name, place, and length.
            (0..<Swift.min(bytes.bigEndian32(at: 128) ?? 0, 100)).map { 132 + 12 * $0 }.filter { place in
                bytes.bigEndian32(at: place).map { (0x4432_4230...0x4432_4233).contains($0) } ?? false
            }
        }
        var profile = self
        for place in places { profile[profile.startIndex + place] = UInt8(ascii: "d") }
        return profile
    }
}
