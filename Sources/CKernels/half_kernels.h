// Conversion of numbers of half precision, included by the kernels for one instruction set.

TARGET static inline void VERSION(from_half)(float *components, const uint16_t *row, long count) {
    for (long i = 0; i < count; i++) {
        // At the position of a float's exponent, the exponent is 112 too small. Infinity and NaN have an exponent with all bits set.
        const uint32_t magnitude = (uint32_t)(row[i] & 0x7fff) << 13;
        const uint32_t special = magnitude >= 0x0f800000 ? 0x7f800000 : 0;
        const uint32_t sign = (uint32_t)(row[i] & 0x8000) << 16;
        components[i] = FLOAT(BITS(FLOAT(magnitude) * 0x1p112f) | special | sign);
    }
}
