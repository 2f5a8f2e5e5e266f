// libiio, loaded when it is first asked for: with all that it brings along (libxml2, ICU, avahi, libusb) it would
// otherwise take memory on every board, also on those that read their chip without it.
//
// Call only `ciio_*`: the library is not linked. They do what the call of the same name in iio.h does, and must not be
// called before `ciio_load` has said yes.
#ifndef CIIO_H
#define CIIO_H
#include <iio.h>
#include <stdbool.h>

// Loads the library; false where it is not installed, or lacks a call that is needed here. May be called again.
bool ciio_load(void);
// Why the library could not be loaded, for people; empty when it could.
const char *ciio_load_error(void);

// Context. The error of the first is in errno.
struct iio_context *ciio_create_context(const char *uri);
void ciio_context_destroy(struct iio_context *context);
const char *ciio_context_name(const struct iio_context *context);
unsigned int ciio_context_devices(const struct iio_context *context);
struct iio_device *ciio_context_device(const struct iio_context *context, unsigned int index);
int ciio_context_set_timeout(struct iio_context *context, unsigned int milliseconds);

// Device.
const char *ciio_device_id(const struct iio_device *device);
const char *ciio_device_name(const struct iio_device *device);
const char *ciio_device_label(const struct iio_device *device);
bool ciio_device_is_trigger(const struct iio_device *device);
unsigned int ciio_device_channels(const struct iio_device *device);
struct iio_channel *ciio_device_channel(const struct iio_device *device, unsigned int index);
struct iio_channel *ciio_device_find_channel(const struct iio_device *device, const char *name, bool output);
const char *ciio_device_find_attr(const struct iio_device *device, const char *name);
const char *ciio_device_find_buffer_attr(const struct iio_device *device, const char *name);
ssize_t ciio_device_attr_read(const struct iio_device *device, const char *attr, char *to, size_t size);
ssize_t ciio_device_attr_write(const struct iio_device *device, const char *attr, const char *value);
ssize_t ciio_device_buffer_attr_read(const struct iio_device *device, const char *attr, char *to, size_t size);
int ciio_device_get_trigger(const struct iio_device *device, const struct iio_device **trigger);
int ciio_device_set_trigger(const struct iio_device *device, const struct iio_device *trigger);
int ciio_device_set_kernel_buffers(const struct iio_device *device, unsigned int count);

// Channel.
const char *ciio_channel_id(const struct iio_channel *channel);
bool ciio_channel_is_output(const struct iio_channel *channel);
bool ciio_channel_is_scan_element(const struct iio_channel *channel);
long ciio_channel_index(const struct iio_channel *channel);
const struct iio_data_format *ciio_channel_format(const struct iio_channel *channel);
const char *ciio_channel_find_attr(const struct iio_channel *channel, const char *name);
const char *ciio_channel_attr_file(const struct iio_channel *channel, const char *attr);
ssize_t ciio_channel_attr_read(const struct iio_channel *channel, const char *attr, char *to, size_t size);
ssize_t ciio_channel_attr_write(const struct iio_channel *channel, const char *attr, const char *value);
void ciio_channel_enable(struct iio_channel *channel);
void ciio_channel_disable(struct iio_channel *channel);

// Buffer. The error of the first is in errno.
struct iio_buffer *ciio_device_create_buffer(const struct iio_device *device, size_t samples);
void ciio_buffer_destroy(struct iio_buffer *buffer);
int ciio_buffer_poll_fd(struct iio_buffer *buffer);
int ciio_buffer_set_blocking(struct iio_buffer *buffer, bool blocking);
ssize_t ciio_buffer_refill(struct iio_buffer *buffer);
const void *ciio_buffer_first(const struct iio_buffer *buffer, const struct iio_channel *channel);
const void *ciio_buffer_start(const struct iio_buffer *buffer);
ptrdiff_t ciio_buffer_step(const struct iio_buffer *buffer);
#endif
