// What both readers, of whole files and of files that come bit by bit, have in common. Each call may end in the jump target.
#ifndef TINTYPE_CPNG_READING_H
#define TINTYPE_CPNG_READING_H

#include "CPNGShim.h"

#include <png.h>

void tintype_png_set_limits(png_structp png);
void tintype_png_get_header(png_structp png, png_infop info, tintype_png_header *header);
/// Asks for rows of RGBA with 8 bits, or 16 in the machine's order.
void tintype_png_want_rgba(png_structp png, png_infop info, int is_deep);

#endif
