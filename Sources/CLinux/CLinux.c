#define _GNU_SOURCE
#include "CLinux.h"

void clinux_set_thread_name(const char *name) { (void)prctl(PR_SET_NAME, name, 0, 0, 0); }
