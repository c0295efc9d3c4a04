#include <stdint.h>
#include <xxhash.h>

// The library's own selection of the processor's vector instructions: 256 KB take 4 instead of 14 µs.
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
static inline uint64_t tintype_xxh3(const void *bytes, size_t count) { return XXH3_64bits_dispatch(bytes, count); }
static inline XXH128_hash_t tintype_xxh3_128(const void *bytes, size_t count, uint64_t seed) {
    return XXH3_128bits_withSeed_dispatch(bytes, count, seed);
}
#else
static inline uint64_t tintype_xxh3(const void *bytes, size_t count) { return XXH3_64bits(bytes, count); }
static inline XXH128_hash_t tintype_xxh3_128(const void *bytes, size_t count, uint64_t seed) {
    return XXH3_128bits_withSeed(bytes, count, seed);
}
#endif
