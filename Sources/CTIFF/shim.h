#include <tiffio.h>

// Swift can't call functions with a variable number of arguments, and a list of them takes it longer than libtiff needs for a small picture.

static inline int tintype_tiff_field(TIFF *tiff, uint32_t tag, void *value) { return TIFFGetField(tiff, tag, value); }

static inline int tintype_tiff_field_or_default(TIFF *tiff, uint32_t tag, void *value) {
    return TIFFGetFieldDefaulted(tiff, tag, value);
}

/// Returns the values of a field that has several: a number and an array, or three arrays.
static inline int tintype_tiff_fields(TIFF *tiff, uint32_t tag, void *first, void *second, void *third) {
    return TIFFGetField(tiff, tag, first, second, third);
}
