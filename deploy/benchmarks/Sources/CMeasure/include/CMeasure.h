#ifndef CMEASURE_H
#define CMEASURE_H
#include <stdint.h>

/// Calls of malloc, calloc, realloc, aligned allocation and free by any thread since the last start, while counting.
void heap_count_start(void);
/// Ends the counting; the number of calls.
uint64_t heap_count_stop(void);

/// Two calls of the allocator that no optimiser takes away, to see that they are counted.
void heap_probe(void);

/// Processor time of this thread in nanoseconds.
uint64_t thread_nanoseconds(void);

/// The default path of a sample by hand in plain C, to compare with: offset high pass, band pass, RMS and level of each
/// axis, spikes of single samples, velocity and displacement, STA/LTA of the vector, levels and peaks of the last seconds, peaks and integrals of an
/// event with what came before it, nine decimated traces; and, when asked for, the summary and the traces as text.
struct chain_section {
    double b0, b1, b2, a1, a2;
};

struct chain_settings {
    double rate, interval, full_scale;
    struct chain_section offset, filter[2], ground, ratio[2];
    int window, hold;
    double threshold;
    double sta_weight, lta_weight, on, off;
    /// What a trigger must be to count: axes that agree at a ratio, no power beyond `clip`, no change beyond `jump`.
    int guard_axes, guard_block;
    double guard_ratio, guard_clip, guard_jump;
    int lta_samples, settle, buckets, history, post_event, dead_time;
    int factor, half, block;
    const double *taps;
    /// Spikes of single samples: the least height of each axis, and the samples of their mean.
    double spike_least[3];
    int spike_mean;
    /// What is written as text: 0 nothing, 1 summary and traces, 2 the summary.
    int messages;
};

struct chain_summary {
    double rms[5], peak[5], rsam[5], pgv, pgd, ratio;
};

struct chain_event {
    long long onset, peak_index[5];
    double peak[5], pgv, pgd, squares[2], absolute[2];
};

/// Values of the last sample, and the last summary, trace and ended event with how many there have been.
struct chain_outputs {
    double filtered[3], rms[3], ratio;
    /// (A spike is counted and not taken out again: there is none in the ground that is measured with.)
    int triggered, clipped, spikes, summaries, traces, events;
    struct chain_summary summary;
    struct chain_event event;
    double trace[9][64];
    unsigned long text_bytes;
};

struct chain;
struct chain *chain_new(const struct chain_settings *settings);
void chain_free(struct chain *chain);
/// `count` samples of each axis.
void chain_process(
    struct chain *chain, const double *x, const double *y, const double *z, int count, struct chain_outputs *out);
#endif
