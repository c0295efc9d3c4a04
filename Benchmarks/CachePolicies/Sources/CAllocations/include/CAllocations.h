#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

#include <stdint.h>

/// How often the calling thread has taken memory from the heap.
uint64_t allocation_count(void);

/// How often the process has done what a load costs besides its work.
typedef struct {
    /// Memory was taken from the heap.
    uint64_t allocations;
    /// A task was created.
    uint64_t tasks;
    /// A task prepared to be resumed by other code.
    uint64_t continuations;
    /// A mutex was locked.
    uint64_t locks;
} event_counts;

event_counts count_events(void);

#endif
