// The C library's allocator with a counter in front: these definitions in the program come before the library's.
#include "CMeasure.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static atomic_int counting;
static atomic_uint_fast64_t calls;

static inline void note(void) {
    if (atomic_load_explicit(&counting, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    }
}

void *malloc(size_t size) {
    note();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    note();
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    note();
    return __libc_realloc(memory, size);
}

void free(void *memory) {
    if (memory) note();
    __libc_free(memory);
}

void *aligned_alloc(size_t alignment, size_t size) {
    note();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    note();
    void *memory = __libc_memalign(alignment, size);
    if (!memory) return ENOMEM;
    *result = memory;
    return 0;
}

void heap_count_start(void) {
    atomic_store(&calls, 0);
    atomic_store(&counting, 1);
}

uint64_t heap_count_stop(void) {
    atomic_store(&counting, 0);
    return atomic_load(&calls);
}

void heap_probe(void) {
    void *volatile memory = malloc(24);
    free(memory);
}

uint64_t thread_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
