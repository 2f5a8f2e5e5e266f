#include "CIIO.h"

#include <dlfcn.h>

static void *library;

bool ciio_load(void) {
    if (!library) library = dlopen("libiio.so.0", RTLD_NOW | RTLD_LOCAL);
    return library;
}
