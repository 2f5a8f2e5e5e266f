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
#endif
