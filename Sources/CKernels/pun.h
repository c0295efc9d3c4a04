#include <stdint.h>

// The bits of a number, and the number of bits.
typedef union {
    float number;
    uint32_t bits;
} pun;

#define FLOAT(value) ((pun){.bits = (value)}.number)
#define BITS(value) ((pun){.number = (value)}.bits)
