#ifndef LIB_FUZZER_H
#define LIB_FUZZER_H
#include <stddef.h>
#include <stdint.h>

/// libFuzzer as a library: hands inputs to the callback for as long as the words of the command line say.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));

#endif
