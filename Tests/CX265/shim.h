#include <stdint.h>
#include <x265.h>

// The function's name holds the library's version by way of a macro, which Swift does not see.
static inline const x265_api *cx265_api(int bits) { return x265_api_get(bits); }
