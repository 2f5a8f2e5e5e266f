#include "CLinux.h"

#include <errno.h>
#include <linux/gpio.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int clinux_gpio_rising(int chip, unsigned line, const char *consumer) {
    struct gpio_v2_line_request request;
    memset(&request, 0, sizeof request);
    request.offsets[0] = line;
    request.num_lines = 1;
    request.event_buffer_size = 16;
    request.config.flags = GPIO_V2_LINE_FLAG_INPUT | GPIO_V2_LINE_FLAG_EDGE_RISING;
    strncpy(request.consumer, consumer, sizeof request.consumer - 1);
    return ioctl(chip, GPIO_V2_GET_LINE_IOCTL, &request) < 0 ? -errno : request.fd;
}

int clinux_gpio_output(int chip, unsigned line, int active_low) {
    struct gpio_v2_line_request request;
    memset(&request, 0, sizeof request);
    request.offsets[0] = line;
    request.num_lines = 1;
    // Off from the first moment: the values of the attribute are 0.
    request.config.flags = GPIO_V2_LINE_FLAG_OUTPUT | (active_low ? GPIO_V2_LINE_FLAG_ACTIVE_LOW : 0);
    request.config.num_attrs = 1;
    request.config.attrs[0].attr.id = GPIO_V2_LINE_ATTR_ID_OUTPUT_VALUES;
    request.config.attrs[0].mask = 1;
    strcpy(request.consumer, "seismote-alarm");
    return ioctl(chip, GPIO_V2_GET_LINE_IOCTL, &request) < 0 ? -errno : request.fd;
}

int clinux_gpio_button(int chip, unsigned line) {
    struct gpio_v2_line_request request;
    memset(&request, 0, sizeof request);
    request.offsets[0] = line;
    request.num_lines = 1;
    request.config.flags = GPIO_V2_LINE_FLAG_INPUT | GPIO_V2_LINE_FLAG_ACTIVE_LOW | GPIO_V2_LINE_FLAG_BIAS_PULL_UP |
                           GPIO_V2_LINE_FLAG_EDGE_RISING;
    request.config.num_attrs = 1;
    request.config.attrs[0].attr.id = GPIO_V2_LINE_ATTR_ID_DEBOUNCE;
    request.config.attrs[0].attr.debounce_period_us = 20000;
    request.config.attrs[0].mask = 1;
    strcpy(request.consumer, "seismote-button");
    return ioctl(chip, GPIO_V2_GET_LINE_IOCTL, &request) < 0 ? -errno : request.fd;
}

int clinux_gpio_set(int line, int value) {
    struct gpio_v2_line_values values = {.bits = value ? 1 : 0, .mask = 1};
    return ioctl(line, GPIO_V2_LINE_SET_VALUES_IOCTL, &values) < 0 ? -errno : 0;
}

int clinux_gpio_get(int line) {
    struct gpio_v2_line_values values = {.mask = 1};
    return ioctl(line, GPIO_V2_LINE_GET_VALUES_IOCTL, &values) < 0 ? -errno : (int)(values.bits & 1);
}

int clinux_gpio_wait(int line, int milliseconds, uint64_t *time, unsigned *events) {
    struct pollfd waiting = {.fd = line, .events = POLLIN};
    int ready = poll(&waiting, 1, milliseconds);
    if (ready < 0) return errno == EINTR ? 0 : -errno;
    if (ready == 0) return 0;
    if (waiting.revents & (POLLERR | POLLHUP | POLLNVAL)) return -ENODEV;
    struct gpio_v2_line_event buffer[16];
    ssize_t bytes = read(line, buffer, sizeof buffer);
    if (bytes < (ssize_t)sizeof buffer[0]) return bytes < 0 ? -errno : -EIO;
    unsigned count = (unsigned)(bytes / (ssize_t)sizeof buffer[0]);
    *time = buffer[count - 1].timestamp_ns;
    *events += count;
    return 1;
}
