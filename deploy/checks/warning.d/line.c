/* The hardware that this machine has not: a GPIO chip with one line, and a clock that somebody steers. To be preloaded.
 *
 * /dev/gpiochip99 can be opened; the line that is claimed on it (gpio.h, uAPI v2) writes "<seconds of UTC> <0 or 1>" to the
 * file $LINE_LOG at each change. adjtimex() says that the clock is synchronised to 2 ms, or not, while the file $LINE_CLOCK
 * exists. All else is the machine's own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/gpio.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

static int chip_file = -1, line_file = -1, level = 0;

static void note(int value) {
    if (value == level) return;
    level = value;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    char text[64];
    int length = snprintf(text, sizeof text, "%lld.%06ld %d\n", (long long)now.tv_sec, now.tv_nsec / 1000, value);
    int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
    int file = real(getenv("LINE_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0) return;
    if (write(file, text, (size_t)length) < 0) abort();
    close(file);
}

static int opened(const char *path, int flags, mode_t mode, const char *name) {
    int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, name);
    if (strcmp(path, "/dev/gpiochip99") != 0) return real(path, flags, mode);
    chip_file = real("/dev/null", O_RDWR | O_CLOEXEC);
    return chip_file;
}

int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = va_arg(more, mode_t);
    va_end(more);
    return opened(path, flags, mode, "open");
}

int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = va_arg(more, mode_t);
    va_end(more);
    return opened(path, flags, mode, "open64");
}

int ioctl(int file, unsigned long request, ...) {
    va_list more;
    va_start(more, request);
    void *argument = va_arg(more, void *);
    va_end(more);
    if (file >= 0 && request == GPIO_V2_GET_LINE_IOCTL && file == chip_file) {
        line_file = dup(file);
        ((struct gpio_v2_line_request *)argument)->fd = line_file;
        return 0;
    }
    struct gpio_v2_line_values *values = argument;
    if (file >= 0 && file == line_file && request == GPIO_V2_LINE_SET_VALUES_IOCTL) {
        note(values->bits & 1);
        return 0;
    }
    if (file >= 0 && file == line_file && request == GPIO_V2_LINE_GET_VALUES_IOCTL) {
        values->bits = (unsigned)level;
        return 0;
    }
    int (*real)(int, unsigned long, ...) = dlsym(RTLD_NEXT, "ioctl");
    return real(file, request, argument);
}

int adjtimex(struct timex *state) {
    int (*real)(struct timex *) = dlsym(RTLD_NEXT, "adjtimex");
    int code = real(state);
    const char *unsynced = getenv("LINE_CLOCK");
    if (unsynced && access(unsynced, F_OK) == 0) {
        state->status |= STA_UNSYNC;
        return TIME_ERROR;
    }
    state->status &= ~STA_UNSYNC;
    state->maxerror = 2000;
    return code < 0 ? code : TIME_OK;
}
