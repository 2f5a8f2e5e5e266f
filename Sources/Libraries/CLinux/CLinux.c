#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void clinux_set_thread_name(const char *name) { (void)prctl(PR_SET_NAME, name, 0, 0, 0); }

int clinux_own_files(void) { return unshare(CLONE_FILES) == 0 ? 0 : errno; }

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

static struct {
    volatile pid_t thread;
    char path[4096];
    char text[512];
} death;

static void dying(int number) {
    if (death.thread == gettid()) {
        int file = open(death.path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (file >= 0) {
            (void)!write(file, death.text, strlen(death.text));
            (void)fsync(file);
        }
    }
    // Once this has returned, and with the action that there was before.
    raise(number);
}

void clinux_note_death(const char *path, const char *text) {
    death.thread = 0;
    if (!path[0] || strlen(path) >= sizeof death.path || strlen(text) >= sizeof death.text) return;
    strcpy(death.path, path);
    strcpy(death.text, text);
    death.thread = gettid();
    static const int numbers[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};
    struct sigaction action = {.sa_handler = dying, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaction(numbers[i], &action, NULL);
}
