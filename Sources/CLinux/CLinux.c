#define _GNU_SOURCE
#include "CLinux.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

void clinux_set_thread_name(const char *name) { (void)prctl(PR_SET_NAME, name, 0, 0, 0); }

void clinux_use_little_memory(void) {
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
}

static int forget(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    (void)context;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = object->dlpi_phdr + i;
        if (part->p_type != PT_LOAD || part->p_flags != (PF_R | PF_X)) continue;
        uintptr_t start = (object->dlpi_addr + part->p_vaddr) & ~(page - 1);
        uintptr_t end = (object->dlpi_addr + part->p_vaddr + part->p_memsz + page - 1) & ~(page - 1);
        (void)madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 1; // the first is the program itself
}

void clinux_forget_start(void) { (void)dl_iterate_phdr(forget, NULL); }
