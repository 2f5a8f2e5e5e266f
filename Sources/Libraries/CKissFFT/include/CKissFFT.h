#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A plan of KISS FFT's C++ template in double precision. It does not change once made, so that several threads may use
/// one at the same time, as long as its length has no other prime factors than 2, 3 and 5.
typedef struct ckissfft_plan ckissfft_plan;

/// Makes the plan of a forward transform of n complex numbers; null where there is no memory for it or n is 0.
ckissfft_plan *ckissfft_create(size_t n);

/// X[k] = sum of x[j] exp(-2 pi i jk/n), not scaled. Both hold n complex numbers, real and imaginary parts in turns, and
/// are not the same memory.
void ckissfft_transform(const ckissfft_plan *plan, const double *input, double *output);

void ckissfft_destroy(ckissfft_plan *plan);

#ifdef __cplusplus
}
#endif
