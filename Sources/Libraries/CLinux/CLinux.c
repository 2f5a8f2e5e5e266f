#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char **arguments;

// glibc hands them to the constructors of a program.
__attribute__((constructor)) static void take_arguments(int count, char **values) {
    (void)count;
    arguments = values;
}

char *const *clinux_arguments(void) { return arguments; }

void clinux_set_thread_name(const char *name) { (void)prctl(PR_SET_NAME, name, 0, 0, 0); }

int clinux_own_files(void) { return unshare(CLONE_FILES) == 0 ? 0 : errno; }

int clinux_finish_output(void) {
    errno = 0;
    if (fflush(stdout) == 0 && ferror(stdout) == 0) return 0;
    return errno != 0 ? errno : -1;
}

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
        if (part->p_type != PT_LOAD || part->p_flags & PF_W) continue;
        uintptr_t start = (object->dlpi_addr + part->p_vaddr) & ~(page - 1);
        uintptr_t end = (object->dlpi_addr + part->p_vaddr + part->p_memsz + page - 1) & ~(page - 1);
        (void)madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void clinux_forget_code(void) { (void)dl_iterate_phdr(forget, NULL); }

// Where a failed assertion of libmosquitto's logger goes on; null outside of clinux_guarded_read.
static _Thread_local jmp_buf *landing;

// In place of the C library's own, for the program and for every library in it.
__attribute__((visibility("default"))) void __assert_fail(
    const char *assertion, const char *file, unsigned line, const char *function) {
    if (landing && function && strcmp(function, "log__printf") == 0) longjmp(*landing, 1);
    fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function ? function : "?", assertion);
    abort();
}

int clinux_guards_assertions(void) { return dlsym(RTLD_DEFAULT, "__assert_fail") == (void *)__assert_fail; }

int clinux_guarded_read(int (*read)(struct mosquitto *, int), struct mosquitto *client, int packets) {
    jmp_buf here;
    if (setjmp(here)) {
        landing = NULL;
        return CLINUX_ASSERTION;
    }
    landing = &here;
    int code = read(client, packets);
    landing = NULL;
    return code;
}
