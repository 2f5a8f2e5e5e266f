#include "CMeasure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct delays {
    double w1, w2;
};

// Everything kept of the ground motion of one sample.
struct motion {
    double a[3], v[3], d[3];
};

// What tells a spike of a single sample on one axis: the last samples without spikes and as they were, the mean of what
// samples stand out of the middle between their neighbours, and the newest of that, which waits.
struct spikes {
    double last, before, earlier, raw, raw_before, mean, waiting;
    int seen;
};

struct levels {
    double sum[5], peak[5], products[6], means[3], velocity[3], displacement[3], ratio;
    int samples;
};

struct chain {
    struct chain_settings s;
    struct delays offset[3], filter[3][2], before[3], velocity[3], displacement[3], ratio[3][2];
    struct spikes spikes[3];
    double first[3], last_a[3], last_v[3], v[3], d[3];
    int started;
    // RMS and level
    double *squares[3], sum[3];
    int at, present, above[3];
    // STA/LTA
    double sta, lta;
    int seen, triggered;
    // what makes a trigger count
    double axis_sta[3], axis_lta[3], unseen, before_raw[3], block_sum[3], block_mean[3], changes, largest_change;
    int in_block, has_mean, lasted, good;
    // one bucket a second
    struct levels *buckets, now;
    int bucket, in_second;
    double low[4], high[4];
    // events
    struct motion *history;
    double *raw_history;
    int history_at, history_count;
    long long index, last_on, dead_until;
    int active;
    struct motion last;
    struct chain_event event;
    // traces
    double *lines[9];
    unsigned char *flags;
    int line_at, wait, trace_at;
    double trace[9][64];
    unsigned char trace_flags[3][64];
    // results
    struct chain_outputs *out;
    char *text;
    size_t text_bytes;
};

static inline double run(const struct chain_section *c, struct delays *w, double x) {
    double y = c->b0 * x + w->w1;
    w->w1 = c->b1 * x - c->a1 * y + w->w2;
    w->w2 = c->b2 * x - c->a2 * y;
    return y;
}

struct chain *chain_new(const struct chain_settings *settings) {
    struct chain *c = calloc(1, sizeof *c);
    c->s = *settings;
    for (int k = 0; k < 3; k++) c->squares[k] = calloc((size_t)settings->window, sizeof(double));
    c->buckets = calloc((size_t)settings->buckets, sizeof *c->buckets);
    c->history = calloc((size_t)settings->history, sizeof *c->history);
    c->raw_history = calloc((size_t)settings->history * 6, sizeof(double));
    for (int k = 0; k < 9; k++) c->lines[k] = calloc((size_t)(2 * (2 * settings->half + 1)), sizeof(double));
    c->flags = calloc((size_t)(settings->half + settings->factor), 1);
    c->wait = settings->half;
    c->unseen = 1;
    c->text = malloc(65536);
    return c;
}

void chain_free(struct chain *c) {
    for (int k = 0; k < 3; k++) free(c->squares[k]);
    for (int k = 0; k < 9; k++) free(c->lines[k]);
    free(c->buckets);
    free(c->history);
    free(c->raw_history);
    free(c->flags);
    free(c->text);
    free(c);
}

static void add_levels(struct levels *l, const double *a, const double *v, const double *d, double ratio) {
    double h2 = a[0] * a[0] + a[1] * a[1];
    double values[5] = {fabs(a[0]), fabs(a[1]), fabs(a[2]), sqrt(h2), sqrt(h2 + a[2] * a[2])};
    for (int k = 0; k < 5; k++) {
        l->sum[k] += values[k];
        if (values[k] > l->peak[k]) l->peak[k] = values[k];
    }
    for (int k = 0; k < 3; k++) {
        l->means[k] += a[k];
        l->products[k] += a[k] * a[k];
    }
    l->products[3] += a[0] * a[1];
    l->products[4] += a[0] * a[2];
    l->products[5] += a[1] * a[2];
    double vh = sqrt(v[0] * v[0] + v[1] * v[1]), dh = sqrt(d[0] * d[0] + d[1] * d[1]);
    l->velocity[0] = fmax(l->velocity[0], fabs(v[0]));
    l->velocity[1] = fmax(l->velocity[1], fabs(v[1]));
    l->velocity[2] = fmax(l->velocity[2], vh);
    l->displacement[0] = fmax(l->displacement[0], fabs(d[0]));
    l->displacement[1] = fmax(l->displacement[1], fabs(d[1]));
    l->displacement[2] = fmax(l->displacement[2], dh);
    if (ratio > l->ratio) l->ratio = ratio;
    l->samples++;
}

static void add_event(struct chain *c, const struct motion *m, int joined) {
    struct chain_event *e = &c->event;
    double h2 = m->a[0] * m->a[0] + m->a[1] * m->a[1];
    double values[5] = {fabs(m->a[0]), fabs(m->a[1]), fabs(m->a[2]), sqrt(h2), sqrt(h2 + m->a[2] * m->a[2])};
    for (int k = 0; k < 5; k++) {
        if (values[k] > e->peak[k]) {
            e->peak[k] = values[k];
            e->peak_index[k] = c->index;
        }
    }
    e->pgv = fmax(e->pgv, fmax(fabs(m->v[0]), fabs(m->v[1])));
    e->pgd = fmax(e->pgd, fmax(fabs(m->d[0]), fabs(m->d[1])));
    if (joined) {
        for (int k = 0; k < 2; k++) {
            e->squares[k] += (m->a[k] * m->a[k] + c->last.a[k] * c->last.a[k]) / 2 * c->s.interval;
            e->absolute[k] += (fabs(m->a[k]) + fabs(c->last.a[k])) / 2 * c->s.interval;
        }
    }
    c->last = *m;
}

static void end_block(struct chain *c) {
    double weight = fmin(1, c->s.guard_block * c->s.sta_weight), part = 0;
    for (int k = 0; k < 3; k++) {
        double mean = c->block_sum[k] / c->s.guard_block, step = mean - c->block_mean[k];
        if (c->has_mean) part += step * step * weight;
        c->block_mean[k] = mean;
        c->block_sum[k] = 0;
    }
    c->has_mean = 1;
    c->in_block = 0;
    c->changes += part - c->changes * weight;
    c->largest_change = fmax(part, c->largest_change - c->largest_change * weight);
}

/// Whether the trigger of a sample counts, from the power and the raw value of each axis.
static int guard(struct chain *c, const double *power, const double *raw) {
    const struct chain_settings *s = &c->s;
    double limit = c->unseen < 1 ? s->guard_clip / (1 - c->unseen) : 0;
    int still = 1;
    for (int k = 0; k < 3; k++) {
        c->axis_sta[k] += (fmin(power[k], limit * c->axis_lta[k]) - c->axis_sta[k]) * s->sta_weight;
        if (raw[k] != c->before_raw[k]) still = 0;
        c->before_raw[k] = raw[k];
    }
    if (!still && c->lasted == 0) {
        for (int k = 0; k < 3; k++) c->axis_lta[k] += (power[k] - c->axis_lta[k]) * s->lta_weight;
        c->unseen = c->unseen > 1e-20 ? c->unseen * (1 - s->lta_weight) : 0;
    }
    for (int k = 0; k < 3; k++) c->block_sum[k] += raw[k];
    if (++c->in_block == s->guard_block) end_block(c);
    if (!c->triggered) {
        c->lasted = c->good = 0;
        return 0;
    }
    c->lasted++;
    if (!c->good) {
        double least = 1e-6 * fmax(c->axis_lta[0], fmax(c->axis_lta[1], c->axis_lta[2]));
        int present = 0, agreeing = 0;
        for (int k = 0; k < 3; k++) {
            if (c->axis_lta[k] <= least) continue;
            present++;
            if (c->axis_sta[k] >= s->guard_ratio * c->axis_lta[k] / (1 - c->unseen)) agreeing++;
        }
        c->good = agreeing >= (present < s->guard_axes ? present : s->guard_axes)
            && c->largest_change <= s->guard_jump * c->changes;
    }
    return c->good;
}

static int spike(struct spikes *s, double least, int second, double new) {
    double size = fabs(s->last - (s->before + new) / 2);
    int found = 0;
    if (s->seen < second) {
        if (s->seen >= 3) s->mean += (s->waiting - s->mean) / (s->seen - 2);
        s->waiting = s->seen >= 2 ? size : 0;
        s->seen++;
    } else if (size > least && size > 8 * s->mean && fabs(new - s->before) <= fmax(size / 8, 5 * s->mean)
        && fabs(s->before - s->earlier) <= fmax(size / 8, 5 * s->mean)) {
        s->waiting = s->mean;
        s->last = (s->before + new) / 2;
        found = 1;
    } else {
        s->mean = fmax(s->mean + (s->waiting - s->mean) / second, 1e-9);
        s->waiting = size;
    }
    s->before = s->last;
    s->last = new;
    s->earlier = s->raw_before;
    s->raw_before = s->raw;
    s->raw = new;
    return found;
}

static double convolve(const double *centre, const double *taps, int half) {
    double a = 0, b = 0, d = 0, e = 0;
    int n = half;
    for (; n >= 4; n -= 4) {
        a += taps[n] * (centre[-n] + centre[n]);
        b += taps[n - 1] * (centre[1 - n] + centre[n - 1]);
        d += taps[n - 2] * (centre[2 - n] + centre[n - 2]);
        e += taps[n - 3] * (centre[3 - n] + centre[n - 3]);
    }
    for (; n > 0; n--) a += taps[n] * (centre[-n] + centre[n]);
    return taps[0] * centre[0] + ((a + b) + (d + e));
}

static void write_trace(struct chain *c) {
    static const char *const names[3] = {"raw", "filtered", "rms"};
    char *p = c->text;
    p += sprintf(p, "{\"rate_hz\":%g,\"n\":%d", c->s.rate / c->s.factor, c->trace_at);
    for (int axis = 0; axis < 3; axis++) {
        p += sprintf(p, ",\"%c\":{", "xyz"[axis]);
        for (int signal = 0; signal < 3; signal++) {
            p += sprintf(p, "\"%s\":[", names[signal]);
            for (int i = 0; i < c->trace_at; i++) p += sprintf(p, "%.9g,", c->trace[3 * signal + axis][i]);
            p += sprintf(p, "],");
        }
        p += sprintf(p, "\"triggered\":[");
        for (int i = 0; i < c->trace_at; i++) p += sprintf(p, "%d,", c->trace_flags[axis][i]);
        p += sprintf(p, "]}");
    }
    c->text_bytes += (size_t)(p - c->text);
}

static void write_summary(struct chain *c, const struct chain_summary *s) {
    char *p = c->text;
    p += sprintf(p, "{");
    for (int k = 0; k < 5; k++) {
        p += sprintf(p, "\"%d\":{\"rms\":%.17g,\"peak\":%.17g,\"rsam\":%.17g},", k, s->rms[k], s->peak[k], s->rsam[k]);
    }
    p += sprintf(p, "\"pgv\":%.17g,\"pgd\":%.17g,\"sta_lta\":%.17g", s->pgv, s->pgd, s->ratio);
    for (int k = 0; k < 4; k++) p += sprintf(p, ",\"min\":%.17g,\"max\":%.17g", c->low[k], c->high[k]);
    c->text_bytes += (size_t)(p - c->text);
}

static void end_second(struct chain *c) {
    c->buckets[c->bucket] = c->now;
    if (++c->bucket == c->s.buckets) c->bucket = 0;
    memset(&c->now, 0, sizeof c->now);
    c->now.ratio = 0;
    struct levels all = {0};
    for (int b = 0; b < c->s.buckets; b++) {
        const struct levels *l = &c->buckets[b];
        for (int k = 0; k < 5; k++) {
            all.sum[k] += l->sum[k];
            all.peak[k] = fmax(all.peak[k], l->peak[k]);
        }
        for (int k = 0; k < 6; k++) all.products[k] += l->products[k];
        for (int k = 0; k < 3; k++) {
            all.means[k] += l->means[k];
            all.velocity[k] = fmax(all.velocity[k], l->velocity[k]);
            all.displacement[k] = fmax(all.displacement[k], l->displacement[k]);
        }
        all.samples += l->samples;
    }
    struct chain_summary *s = &c->out->summary;
    double x = all.products[0], y = all.products[1], z = all.products[2];
    double squares[5] = {x, y, z, x + y, x + y + z};
    for (int k = 0; k < 5; k++) {
        s->rms[k] = sqrt(squares[k] / all.samples);
        s->peak[k] = all.peak[k];
        s->rsam[k] = all.sum[k] / all.samples;
    }
    s->pgv = fmax(all.velocity[0], all.velocity[1]);
    s->pgd = fmax(all.displacement[0], all.displacement[1]);
    s->ratio = c->buckets[(c->bucket + c->s.buckets - 1) % c->s.buckets].ratio;
    c->out->summaries++;
    if (c->s.messages) write_summary(c, s);
}

static void decimate(struct chain *c, const double *signals, int flags) {
    int length = 2 * c->s.half + 1, reach = c->s.half + c->s.factor;
    if (c->index == 0) {
        for (int k = 0; k < 9; k++) {
            for (int i = 0; i < 2 * length; i++) c->lines[k][i] = signals[k];
        }
    }
    for (int k = 0; k < 9; k++) c->lines[k][c->line_at] = c->lines[k][c->line_at + length] = signals[k];
    c->flags[c->index % reach] = (unsigned char)flags;
    if (++c->line_at == length) c->line_at = 0;
    if (c->wait > 0) {
        c->wait--;
        return;
    }
    c->wait = c->s.factor - 1;
    int place = c->trace_at++;
    for (int k = 0; k < 9; k++) c->trace[k][place] = convolve(c->lines[k] + c->line_at + c->s.half, c->s.taps, c->s.half);
    long long centre = c->index - c->s.half;
    int bits = 0;
    for (long long i = centre < c->s.factor ? 0 : centre - c->s.factor + 1; i <= centre; i++) bits |= c->flags[i % reach];
    for (int axis = 0; axis < 3; axis++) c->trace_flags[axis][place] = bits >> axis & 1;
    if (c->trace_at == c->s.block) {
        memcpy(c->out->trace, c->trace, sizeof c->trace);
        c->out->traces++;
        if (c->s.messages == 1) write_trace(c);
        c->trace_at = 0;
    }
}

static void sample(struct chain *c, const double *raw) {
    const struct chain_settings *s = &c->s;
    struct motion m;
    double filtered[3], rms[3], power[3], ratio_power = 0;
    int flags = 0, clipped = 0;
    if (!c->started) {
        // The offset's high pass begins in its steady state.
        for (int k = 0; k < 3; k++) {
            c->offset[k].w1 = -s->offset.b0 * raw[k];
            c->offset[k].w2 = s->offset.b2 * raw[k];
            c->first[k] = raw[k];
        }
    }
    if (c->present < s->window) c->present++;
    for (int k = 0; k < 3; k++) {
        if (fabs(raw[k]) >= s->full_scale) clipped = 1;
        c->out->spikes += spike(&c->spikes[k], s->spike_least[k], s->spike_mean, raw[k]);
        double a = run(&s->offset, &c->offset[k], raw[k]);
        m.a[k] = a;
        filtered[k] = run(&s->filter[1], &c->filter[k][1], run(&s->filter[0], &c->filter[k][0], a));
        double square = filtered[k] * filtered[k];
        c->sum[k] += square - c->squares[k][c->at];
        c->squares[k][c->at] = square;
        rms[k] = sqrt(fmax(c->sum[k], 0) / c->present);
        c->above[k] = rms[k] > s->threshold ? c->above[k] + 1 : 0;
        if (c->above[k] >= s->hold) flags |= 1 << k;
        double before = run(&s->ground, &c->before[k], raw[k] - c->first[k]);
        if (!c->started) c->last_a[k] = -before;
        c->v[k] += (before + c->last_a[k]) * (s->interval / 2);
        c->last_a[k] = before;
        m.v[k] = run(&s->ground, &c->velocity[k], c->v[k]);
        if (!c->started) c->last_v[k] = -m.v[k];
        c->d[k] += (m.v[k] + c->last_v[k]) * (s->interval / 2);
        c->last_v[k] = m.v[k];
        m.d[k] = run(&s->ground, &c->displacement[k], c->d[k]);
        double q = run(&s->ratio[1], &c->ratio[k][1], run(&s->ratio[0], &c->ratio[k][0], a));
        power[k] = q * q;
        ratio_power += power[k];
    }
    if (++c->at == s->window) c->at = 0;
    c->started = 1;

    double ratio = 0;
    if (c->seen > 0) {
        c->sta += (ratio_power - c->sta) * s->sta_weight;
        if (!c->triggered) c->lta += (ratio_power - c->lta) * s->lta_weight;
    }
    if (c->seen < s->lta_samples) {
        c->seen++;
    } else {
        ratio = c->lta > 0 ? c->sta / c->lta : 0;
        c->triggered = c->triggered ? ratio >= s->off : ratio >= s->on;
    }

    int counts = guard(c, power, raw);
    int on = c->index >= s->settle && (flags || counts);
    if (on && !c->active && c->index >= c->dead_until) {
        c->active = 1;
        memset(&c->event, 0, sizeof c->event);
        c->event.onset = c->index;
        int first = c->history_at - c->history_count;
        for (int i = 0; i < c->history_count; i++) {
            add_event(c, &c->history[(first + i + s->history) % s->history], i > 0);
        }
        add_event(c, &m, c->history_count > 0);
    } else if (c->active) {
        add_event(c, &m, 1);
    }
    if (on) c->last_on = c->index;
    if (c->active && c->index - c->last_on >= s->post_event) {
        c->active = 0;
        c->dead_until = c->index + s->dead_time;
        c->out->event = c->event;
        c->out->events++;
    }
    c->history[c->history_at] = m;
    for (int k = 0; k < 3; k++) c->raw_history[3 * c->history_at + k] = raw[k];
    if (++c->history_at == s->history) c->history_at = 0;
    if (c->history_count < s->history) c->history_count++;

    add_levels(&c->now, m.a, m.v, m.d, ratio);
    double magnitude = sqrt(raw[0] * raw[0] + raw[1] * raw[1] + raw[2] * raw[2]);
    for (int k = 0; k < 4; k++) {
        double value = k < 3 ? raw[k] : magnitude;
        if (c->index == 0 || value < c->low[k]) c->low[k] = value;
        if (c->index == 0 || value > c->high[k]) c->high[k] = value;
    }
    if (++c->in_second == (int)s->rate) {
        c->in_second = 0;
        end_second(c);
    }
    double signals[9] = {raw[0], raw[1], raw[2], filtered[0], filtered[1], filtered[2], rms[0], rms[1], rms[2]};
    decimate(c, signals, flags);
    c->out->clipped += clipped;
    for (int k = 0; k < 3; k++) {
        c->out->filtered[k] = filtered[k];
        c->out->rms[k] = rms[k];
    }
    c->out->ratio = ratio;
    c->out->triggered = flags;
    c->index++;
}

void chain_process(
    struct chain *c, const double *x, const double *y, const double *z, int count, struct chain_outputs *out) {
    c->out = out;
    for (int i = 0; i < count; i++) {
        double raw[3] = {x[i], y[i], z[i]};
        sample(c, raw);
    }
    out->text_bytes = c->text_bytes;
}
