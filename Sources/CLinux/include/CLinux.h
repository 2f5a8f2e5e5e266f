// Linux calls that Swift's Glibc module does not import.
#ifndef CLINUX_H
#define CLINUX_H
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/timex.h>

// prctl has variable arguments, which Swift cannot call. At most 15 bytes are kept.
void clinux_set_thread_name(const char *name);

// One arena of memory for all threads, where the C library has several, and large pieces (128 KiB and more) always given
// back to the system when they are freed. Before the first thread is made.
void clinux_use_little_memory(void);
#endif
