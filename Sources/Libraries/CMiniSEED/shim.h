#ifndef CMINISEED_SHIM_H
#define CMINISEED_SHIM_H
#include <libmseed.h>

/* The Steim coders are exported by libmseed 2.19's shared library but declared only in its private headers: these
   are the declarations of 2.19, and another version has to be looked at before it is used. */
_Static_assert(__builtin_strncmp(LIBMSEED_VERSION, "2.19.", 5) == 0, "CMiniSEED knows the Steim coders of 2.19");

extern int msr_decode_steim1(int32_t *input, int inputlength, int samplecount, int32_t *output, int outputlength,
                             char *srcname, int swapflag);
extern int msr_decode_steim2(int32_t *input, int inputlength, int samplecount, int32_t *output, int outputlength,
                             char *srcname, int swapflag);
extern int msr_encode_steim2(int32_t *input, int samplecount, int32_t *output, int outputlength, int32_t diff0,
                             char *srcname, int swapflag);
#endif
