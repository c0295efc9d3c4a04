// The shared part of both readers, of whole files and of gradually arriving files. Each call may end in the jump target.
#ifndef TINTYPE_CPNG_READING_H
#define TINTYPE_CPNG_READING_H

#include "CPNGShim.h"

#include <png.h>

void tintype_png_set_limits(png_structp png);
void tintype_png_get_header(png_structp png, png_infop info, tintype_png_header *header);
/// Requests rows of RGBA with 8 bits, or with 16 in native byte order.
void tintype_png_want_rgba(png_structp png, png_infop info, int is_deep);

#endif
