#define _GNU_SOURCE
#include "coefficients.h"

#include <stdlib.h>
#include <sys/mman.h>

#include <jerror.h>

// libjpeg allocates new memory for every image, 36 MB for 12 megapixels, and its page faults cost a third of the
// decoding time. Huge pages cause few faults, and the kernel clears them. libjpeg's memory manager is an object with
// replaceable functions; these three are all that concern arrays of coefficients.

struct jvirt_barray_control {
    struct jvirt_barray_control *next;
    JBLOCKARRAY rows;
    JDIMENSION width;
    JDIMENSION height;
};

// Smaller blocks come from the heap, which usually has them available.
static const size_t mapping_threshold = 4 << 20;

static jvirt_barray_ptr request(
    j_common_ptr common, int pool, boolean clears, JDIMENSION width, JDIMENSION height, JDIMENSION rows_at_once
) {
    (void)clears;
    (void)rows_at_once;
    tintype_jpeg_coefficients *all = common->client_data;
    struct jvirt_barray_control *array = common->mem->alloc_small(common, pool, sizeof *array);
    *array = (struct jvirt_barray_control){all->first, NULL, width, height};
    all->first = array;
    return array;
}

static void realize(j_common_ptr common) {
    tintype_jpeg_coefficients *all = common->client_data;
    size_t blocks = 0;
    // Sides are at most 65,535 pixels, and components at most 10: this cannot overflow.
    for (struct jvirt_barray_control *array = all->first; array; array = array->next) {
        if (!array->rows) blocks += (size_t)array->width * array->height;
    }
    if (!blocks) return;
    size_t size = blocks * sizeof(JBLOCK);
    if (all->memory) ERREXIT(common, JERR_BAD_VIRTUAL_ACCESS);
    if (size > all->limit) ERREXIT(common, JERR_NO_BACKING_STORE);
    if (size < mapping_threshold) {
        all->memory = calloc(1, size);
    } else {
        void *mapping = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapping != MAP_FAILED) {
            madvise(mapping, size, MADV_HUGEPAGE);
            all->memory = mapping;
        }
    }
    if (!all->memory) ERREXIT1(common, JERR_OUT_OF_MEMORY, 0);
    all->size = size;
    JBLOCKROW row = all->memory;
    for (struct jvirt_barray_control *array = all->first; array; array = array->next) {
        array->rows = common->mem->alloc_large(common, JPOOL_IMAGE, array->height * sizeof *array->rows);
        for (JDIMENSION y = 0; y < array->height; y++, row += array->width) array->rows[y] = row;
    }
}

static JBLOCKARRAY access(
    j_common_ptr common, jvirt_barray_ptr array, JDIMENSION first, JDIMENSION count, boolean writable
) {
    (void)writable;
    if (!array->rows || first > array->height || count > array->height - first) {
        ERREXIT(common, JERR_BAD_VIRTUAL_ACCESS);
    }
    return array->rows + first;
}

void tintype_jpeg_coefficients_install(j_decompress_ptr decoder) {
    decoder->mem->request_virt_barray = request;
    decoder->mem->realize_virt_arrays = realize;
    decoder->mem->access_virt_barray = access;
}

void tintype_jpeg_coefficients_release(tintype_jpeg_coefficients *coefficients) {
    if (coefficients->size < mapping_threshold) {
        free(coefficients->memory);
    } else {
        munmap(coefficients->memory, coefficients->size);
    }
    *coefficients = (tintype_jpeg_coefficients){0};
}
