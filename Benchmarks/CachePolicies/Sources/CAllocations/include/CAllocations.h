#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

#include <stdint.h>

/// How often the calling thread has taken memory from the heap.
uint64_t allocation_count(void);

/// The number of times that the process has taken memory from the heap.
uint64_t allocation_total(void);

#endif
