#ifndef CMEASURE_H
#define CMEASURE_H
#include <stdint.h>

/// Calls of malloc, calloc, realloc, aligned allocation and free by any thread since the last start, while counting.
void heap_count_start(void);
/// Ends the counting; the number of calls.
uint64_t heap_count_stop(void);

/// Two heap calls that no optimiser takes away, to see that they are counted.
void heap_probe(void);

/// Processor time of this thread in nanoseconds.
uint64_t thread_nanoseconds(void);

/// The arithmetic of the default path of a sample by hand: per axis three second-order sections (offset removal
/// and band pass), a sliding sum of squares and its root, and a comparison. Made for one purpose: a known amount of
/// work, by which figures of different machines can be compared.
struct reference_chain;
struct reference_chain *reference_chain_new(int window);
void reference_chain_free(struct reference_chain *chain);
/// `count` samples of each axis; returns how many of them were above 0.05 m/s².
int reference_chain_process(struct reference_chain *chain, const double *x, const double *y, const double *z, int count);
#endif
