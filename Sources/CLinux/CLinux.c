#define _GNU_SOURCE
#include "CLinux.h"

#include <malloc.h>

void clinux_set_thread_name(const char *name) { (void)prctl(PR_SET_NAME, name, 0, 0, 0); }

void clinux_use_little_memory(void) {
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
}
