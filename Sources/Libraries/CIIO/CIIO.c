#include "CIIO.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

// Every call of the library that is used, once.
#define CALLS(CALL) \
    CALL(create_context_from_uri) \
    CALL(context_destroy) \
    CALL(context_get_name) \
    CALL(context_get_devices_count) \
    CALL(context_get_device) \
    CALL(context_set_timeout) \
    CALL(device_get_id) \
    CALL(device_get_name) \
    CALL(device_get_label) \
    CALL(device_is_trigger) \
    CALL(device_get_channels_count) \
    CALL(device_get_channel) \
    CALL(device_find_channel) \
    CALL(device_find_attr) \
    CALL(device_find_buffer_attr) \
    CALL(device_attr_read) \
    CALL(device_attr_write) \
    CALL(device_buffer_attr_read) \
    CALL(device_get_trigger) \
    CALL(device_set_trigger) \
    CALL(device_set_kernel_buffers_count) \
    CALL(channel_get_id) \
    CALL(channel_is_output) \
    CALL(channel_is_scan_element) \
    CALL(channel_get_index) \
    CALL(channel_get_data_format) \
    CALL(channel_find_attr) \
    CALL(channel_attr_get_filename) \
    CALL(channel_attr_read) \
    CALL(channel_attr_write) \
    CALL(channel_enable) \
    CALL(channel_disable) \
    CALL(device_create_buffer) \
    CALL(buffer_destroy) \
    CALL(buffer_get_poll_fd) \
    CALL(buffer_set_blocking_mode) \
    CALL(buffer_refill) \
    CALL(buffer_first) \
    CALL(buffer_start) \
    CALL(buffer_step)

#define FIELD(NAME) __typeof__(&iio_##NAME) NAME;
static struct { CALLS(FIELD) } iio;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool loaded;
static char failure[160];

static bool find(void *library, const char *name, void *to) {
    void *found = dlsym(library, name);
    if (!found) snprintf(failure, sizeof failure, "libiio.so.0 has no %s", name);
    *(void **)to = found;
    return found;
}

static bool load(void) {
    void *library = dlopen("libiio.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        snprintf(failure, sizeof failure, "%s", why ? why : "libiio.so.0 cannot be loaded");
        return false;
    }
#define FIND(NAME) \
    if (!find(library, "iio_" #NAME, &iio.NAME)) { \
        dlclose(library); \
        return false; \
    }
    CALLS(FIND)
    failure[0] = 0;
    return true;
}

bool ciio_load(void) {
    pthread_mutex_lock(&lock);
    if (!loaded) loaded = load();
    bool good = loaded;
    pthread_mutex_unlock(&lock);
    return good;
}

const char *ciio_load_error(void) { return failure; }

struct iio_context *ciio_create_context(const char *uri) { return iio.create_context_from_uri(uri); }
void ciio_context_destroy(struct iio_context *context) { iio.context_destroy(context); }
const char *ciio_context_name(const struct iio_context *context) { return iio.context_get_name(context); }
unsigned int ciio_context_devices(const struct iio_context *context) { return iio.context_get_devices_count(context); }
struct iio_device *ciio_context_device(const struct iio_context *context, unsigned int index) {
    return iio.context_get_device(context, index);
}
int ciio_context_set_timeout(struct iio_context *context, unsigned int milliseconds) {
    return iio.context_set_timeout(context, milliseconds);
}

const char *ciio_device_id(const struct iio_device *device) { return iio.device_get_id(device); }
const char *ciio_device_name(const struct iio_device *device) { return iio.device_get_name(device); }
const char *ciio_device_label(const struct iio_device *device) { return iio.device_get_label(device); }
bool ciio_device_is_trigger(const struct iio_device *device) { return iio.device_is_trigger(device); }
unsigned int ciio_device_channels(const struct iio_device *device) { return iio.device_get_channels_count(device); }
struct iio_channel *ciio_device_channel(const struct iio_device *device, unsigned int index) {
    return iio.device_get_channel(device, index);
}
struct iio_channel *ciio_device_find_channel(const struct iio_device *device, const char *name, bool output) {
    return iio.device_find_channel(device, name, output);
}
const char *ciio_device_find_attr(const struct iio_device *device, const char *name) {
    return iio.device_find_attr(device, name);
}
const char *ciio_device_find_buffer_attr(const struct iio_device *device, const char *name) {
    return iio.device_find_buffer_attr(device, name);
}
ssize_t ciio_device_attr_read(const struct iio_device *device, const char *attr, char *to, size_t size) {
    return iio.device_attr_read(device, attr, to, size);
}
ssize_t ciio_device_attr_write(const struct iio_device *device, const char *attr, const char *value) {
    return iio.device_attr_write(device, attr, value);
}
ssize_t ciio_device_buffer_attr_read(const struct iio_device *device, const char *attr, char *to, size_t size) {
    return iio.device_buffer_attr_read(device, attr, to, size);
}
int ciio_device_get_trigger(const struct iio_device *device, const struct iio_device **trigger) {
    return iio.device_get_trigger(device, trigger);
}
int ciio_device_set_trigger(const struct iio_device *device, const struct iio_device *trigger) {
    return iio.device_set_trigger(device, trigger);
}
int ciio_device_set_kernel_buffers(const struct iio_device *device, unsigned int count) {
    return iio.device_set_kernel_buffers_count(device, count);
}

const char *ciio_channel_id(const struct iio_channel *channel) { return iio.channel_get_id(channel); }
bool ciio_channel_is_output(const struct iio_channel *channel) { return iio.channel_is_output(channel); }
bool ciio_channel_is_scan_element(const struct iio_channel *channel) { return iio.channel_is_scan_element(channel); }
long ciio_channel_index(const struct iio_channel *channel) { return iio.channel_get_index(channel); }
const struct iio_data_format *ciio_channel_format(const struct iio_channel *channel) {
    return iio.channel_get_data_format(channel);
}
const char *ciio_channel_find_attr(const struct iio_channel *channel, const char *name) {
    return iio.channel_find_attr(channel, name);
}
const char *ciio_channel_attr_file(const struct iio_channel *channel, const char *attr) {
    return iio.channel_attr_get_filename(channel, attr);
}
ssize_t ciio_channel_attr_read(const struct iio_channel *channel, const char *attr, char *to, size_t size) {
    return iio.channel_attr_read(channel, attr, to, size);
}
ssize_t ciio_channel_attr_write(const struct iio_channel *channel, const char *attr, const char *value) {
    return iio.channel_attr_write(channel, attr, value);
}
void ciio_channel_enable(struct iio_channel *channel) { iio.channel_enable(channel); }
void ciio_channel_disable(struct iio_channel *channel) { iio.channel_disable(channel); }

struct iio_buffer *ciio_device_create_buffer(const struct iio_device *device, size_t samples) {
    return iio.device_create_buffer(device, samples, false);
}
void ciio_buffer_destroy(struct iio_buffer *buffer) { iio.buffer_destroy(buffer); }
int ciio_buffer_poll_fd(struct iio_buffer *buffer) { return iio.buffer_get_poll_fd(buffer); }
int ciio_buffer_set_blocking(struct iio_buffer *buffer, bool blocking) {
    return iio.buffer_set_blocking_mode(buffer, blocking);
}
ssize_t ciio_buffer_refill(struct iio_buffer *buffer) { return iio.buffer_refill(buffer); }
const void *ciio_buffer_first(const struct iio_buffer *buffer, const struct iio_channel *channel) {
    return iio.buffer_first(buffer, channel);
}
const void *ciio_buffer_start(const struct iio_buffer *buffer) { return iio.buffer_start(buffer); }
ptrdiff_t ciio_buffer_step(const struct iio_buffer *buffer) { return iio.buffer_step(buffer); }
