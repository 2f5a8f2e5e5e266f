#include "CMeasure.h"

#include <math.h>
#include <stdlib.h>

struct section {
    double b0, b1, b2, a1, a2;
};

// High pass 0.1 Hz of order 2, then band pass 0.5 to 10 Hz of order 2, all Butterworth at 100 Hz.
static const struct section sections[3] = {
    {0.9955669720176472, -1.9911339440352944, 0.9955669720176472, -1.9911142922016536, 0.9911535958689355},
    {0.061869497462970414, 0.12373899492594083, 0.061869497462970414, -1.1954325155143637, 0.4505552336613235},
    {1.0, -2.0, 1.0, -1.9559289715351784, 0.9569862817098911},
};

struct reference_chain {
    double state[3][3][2];
    double sum[3];
    double *squares[3];
    int window, at;
};

struct reference_chain *reference_chain_new(int window) {
    struct reference_chain *chain = calloc(1, sizeof *chain);
    if (!chain) return NULL;
    chain->window = window;
    for (int axis = 0; axis < 3; axis++) chain->squares[axis] = calloc((size_t)window, sizeof(double));
    return chain;
}

void reference_chain_free(struct reference_chain *chain) {
    for (int axis = 0; axis < 3; axis++) free(chain->squares[axis]);
    free(chain);
}

int reference_chain_process(struct reference_chain *chain, const double *x, const double *y, const double *z, int count) {
    const double *planes[3] = {x, y, z};
    int above = 0;
    for (int i = 0; i < count; i++) {
        for (int axis = 0; axis < 3; axis++) {
            double value = planes[axis][i];
            for (int s = 0; s < 3; s++) {
                const struct section *c = &sections[s];
                double *w = chain->state[axis][s];
                double out = c->b0 * value + w[0];
                w[0] = c->b1 * value - c->a1 * out + w[1];
                w[1] = c->b2 * value - c->a2 * out;
                value = out;
            }
            double *slot = &chain->squares[axis][chain->at];
            chain->sum[axis] += value * value - *slot;
            *slot = value * value;
            above += sqrt(chain->sum[axis] / chain->window) > 0.05;
        }
        if (++chain->at == chain->window) chain->at = 0;
    }
    return above;
}
