internal import CLCMS2
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
