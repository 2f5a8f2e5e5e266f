// Linux calls that Swift's Glibc module does not import.
#ifndef CLINUX_H
#define CLINUX_H
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/timex.h>

// The command line, ended by a null pointer. Swift's own (CommandLine) is read from /proc, and empty where that is not
// mounted.
char *const *clinux_arguments(void);

// prctl has variable arguments, which Swift cannot call. At most 15 bytes are kept.
void clinux_set_thread_name(const char *name);

// From now on this thread has a table of open files of its own, a copy of what the process has, so that the limit of open
// files holds for this thread alone. What it opens only it can use or close. 0 or an errno.
int clinux_own_files(void);

// Writes what is left of what was printed to standard output. 0, an errno, or -1: something before is missing, nobody
// knows why.
int clinux_finish_output(void);

// One arena of memory for all threads, where the C library has several, and large pieces (128 KiB and more) always given
// back to the system when they are freed. Before the first thread is made.
void clinux_use_little_memory(void);

// Gives back the pages of code and constants of the program and its libraries; what is needed again is taken from the file
// (or from the kernel's copy of it). For the end of the start (settings, schema) and of a handshake (TLS), whose code is not
// needed for long.
void clinux_forget_code(void);

// Calls mosquitto_loop_read. Where an assertion in the library's logger fails in it (before 2.0.16: at a property of MQTT 5
// that does not exist), the call ends with CLINUX_ASSERTION instead of the process; the client must then be destroyed, and
// what it had read of this packet's properties is never freed.
#define CLINUX_ASSERTION -1000
struct mosquitto;
int clinux_guarded_read(int (*read)(struct mosquitto *, int), struct mosquitto *client, int packets);
// Whether that works in this process: the libraries' assertions come to us.
int clinux_guards_assertions(void);

// I2C (linux/i2c-dev.h). All give 0 or an errno.
// Functions of the adapter, bits I2C_FUNC_*.
int clinux_i2c_functions(int file, unsigned long *functions);
// Time limit of a transfer in ms, and the adapter's own retries after a lost arbitration.
int clinux_i2c_limits(int file, unsigned milliseconds, unsigned retries);
// EBUSY when a driver of the kernel is bound to the address.
int clinux_i2c_claim(int file, uint16_t address);
// Combined transfers: a register's number is written, then bytes are read, `slots` times one after the other, at most
// CLINUX_I2C_SLOTS; `data` has room for size * slots bytes.
#define CLINUX_I2C_SLOTS 21
int clinux_i2c_read(int file, uint16_t address, uint8_t reg, uint8_t *data, uint16_t size, unsigned slots);
int clinux_i2c_write(int file, uint16_t address, uint8_t reg, uint8_t value);
// The same with SMBus transfers, for adapters that have nothing else; after clinux_i2c_claim.
int clinux_i2c_smbus_read(int file, uint8_t reg, uint8_t *data, uint16_t size);

// GPIO character device, uAPI v2 (linux/gpio.h, kernel 5.10): an input line with events on its rising edge. Gives a
// file, or a negative errno.
int clinux_gpio_rising(int chip, unsigned line, const char *consumer);
// Waits for an event and gives the newest one's time, ns of CLOCK_MONOTONIC: 1, 0 after the time limit, negative errno.
// Older events are thrown away and counted in `events`.
int clinux_gpio_wait(int line, int milliseconds, uint64_t *time, unsigned *events);
// An output line, off at first; it goes back to what it was when the file is closed. Gives a file, or a negative errno.
int clinux_gpio_output(int chip, unsigned line, int active_low);
// A button to ground, with the chip's own pull-up and 20 ms of debouncing; an event when it is pressed.
int clinux_gpio_button(int chip, unsigned line);
// 1 is on, 0 off, whichever level that is. set gives 0, get the value, both a negative errno.
int clinux_gpio_set(int line, int value);
int clinux_gpio_get(int line);
#endif
