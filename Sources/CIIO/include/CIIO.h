// libiio, loaded when it is first asked for: with all that it brings along (libxml2, ICU, avahi, libusb) it would
// otherwise take memory on every board, also on those that read their chip without it.
#ifndef CIIO_H
#define CIIO_H
#include <iio.h>
#include <stdbool.h>

// Loads the library; false where it is not installed.
bool ciio_load(void);
#endif
