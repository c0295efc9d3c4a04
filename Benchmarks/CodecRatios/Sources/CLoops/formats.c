#include "CLoops.h"

#include <stdlib.h>
#include <string.h>

#include <avif/avif.h>
#include <gif_lib.h>
#include <jxl/decode.h>
#include <webp/decode.h>

void bare_webp(const uint8_t *bytes, size_t count, uint8_t *pixels, size_t stride) {
    WebPDecoderConfig config;
    WebPInitDecoderConfig(&config);
    WebPGetFeatures(bytes, count, &config.input);
    config.output.colorspace = MODE_rgbA;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = pixels;
    config.output.u.RGBA.stride = (int)stride;
    config.output.u.RGBA.size = stride * (size_t)config.input.height;
    WebPDecode(bytes, count, &config);
    WebPFreeDecBuffer(&config.output);
}

void bare_avif(const uint8_t *bytes, size_t count, uint8_t *pixels, size_t stride) {
    avifDecoder *decoder = avifDecoderCreate();
    decoder->maxThreads = 1;
    avifDecoderSetIOMemory(decoder, bytes, count);
    avifDecoderParse(decoder);
    avifDecoderNextImage(decoder);
    avifRGBImage rgb;
    avifRGBImageSetDefaults(&rgb, decoder->image);
    rgb.depth = 8;
    rgb.alphaPremultiplied = AVIF_TRUE;
    rgb.pixels = pixels;
    rgb.rowBytes = (uint32_t)stride;
    avifImageYUVToRGB(decoder->image, &rgb);
    avifDecoderDestroy(decoder);
}

void bare_jxl(const uint8_t *bytes, size_t count, uint8_t *pixels, size_t size) {
    JxlDecoder *decoder = JxlDecoderCreate(NULL);
    JxlDecoderSubscribeEvents(decoder, JXL_DEC_FULL_IMAGE);
    JxlDecoderSetInput(decoder, bytes, count);
    JxlDecoderCloseInput(decoder);
    JxlPixelFormat format = {4, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 64};
    while (JxlDecoderProcessInput(decoder) == JXL_DEC_NEED_IMAGE_OUT_BUFFER)
        JxlDecoderSetImageOutBuffer(decoder, &format, pixels, size);
    JxlDecoderDestroy(decoder);
}

struct source { const uint8_t *bytes; size_t offset, count; };

static int read_bytes(GifFileType *file, GifByteType *to, int wanted) {
    struct source *source = file->UserData;
    size_t left = source->count - source->offset;
    size_t count = (size_t)wanted < left ? (size_t)wanted : left;
    memcpy(to, source->bytes + source->offset, count);
    source->offset += count;
    return (int)count;
}

static void clear(uint8_t *pixels, size_t stride, int left, int top, int width, int height) {
    for (int y = top; y < top + height; y++) memset(pixels + stride * (size_t)y + 4 * left, 0, 4 * (size_t)width);
}

int bare_gif(const uint8_t *bytes, size_t count, uint8_t *pixels, size_t stride) {
    struct source source = {bytes, 0, count};
    GifFileType *file = DGifOpen(&source, read_bytes, NULL);
    clear(pixels, stride, 0, 0, file->SWidth, file->SHeight);
    GifByteType *line = malloc((size_t)file->SWidth);
    GraphicsControlBlock control = {0, false, 0, NO_TRANSPARENT_COLOR};
    int frames = 0;
    GifRecordType type;
    while (DGifGetRecordType(file, &type) == GIF_OK && type != TERMINATE_RECORD_TYPE) {
        if (type == EXTENSION_RECORD_TYPE) {
            int code;
            GifByteType *block;
            DGifGetExtension(file, &code, &block);
            if (code == GRAPHICS_EXT_FUNC_CODE && block) DGifExtensionToGCB(block[0], block + 1, &control);
            while (block) DGifGetExtensionNext(file, &block);
        } else if (type == IMAGE_DESC_RECORD_TYPE) {
            DGifGetImageDesc(file);
            GifImageDesc *frame = &file->Image;
            ColorMapObject *map = frame->ColorMap ? frame->ColorMap : file->SColorMap;
            for (int y = 0; y < frame->Height; y++) {
                DGifGetLine(file, line, frame->Width);
                uint8_t *row = pixels + stride * (size_t)(frame->Top + y) + 4 * frame->Left;
                for (int x = 0; x < frame->Width; x++) {
                    if (line[x] == control.TransparentColor) continue;
                    GifColorType color = map->Colors[line[x]];
                    row[4 * x] = color.Red;
                    row[4 * x + 1] = color.Green;
                    row[4 * x + 2] = color.Blue;
                    row[4 * x + 3] = 255;
                }
            }
            frames++;
            if (control.DisposalMode == DISPOSE_BACKGROUND)
                clear(pixels, stride, frame->Left, frame->Top, frame->Width, frame->Height);
        }
    }
    free(line);
    DGifCloseFile(file, NULL);
    return frames;
}
