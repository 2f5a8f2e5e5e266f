#include "CKissFFT.h"

// Products without the search for infinities that C++ asks for: all numbers here are finite.
#pragma STDC CX_LIMITED_RANGE ON
#include <kissfft/kissfft.hh>

struct ckissfft_plan {
    kissfft<double> fft;
};

using number = std::complex<double>;

ckissfft_plan *ckissfft_create(size_t n) {
    if (n == 0) return nullptr;
    try {
        return new ckissfft_plan{kissfft<double>(n, false)};
    } catch (...) {
        return nullptr;
    }
}

// Throws nothing: the template allocates in a transform only where the length has a prime factor above 5.
void ckissfft_transform(const ckissfft_plan *plan, const double *input, double *output) {
    plan->fft.transform(reinterpret_cast<const number *>(input), reinterpret_cast<number *>(output));
}

void ckissfft_destroy(ckissfft_plan *plan) { delete plan; }
