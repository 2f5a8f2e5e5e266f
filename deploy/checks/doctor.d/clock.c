/* For LD_PRELOAD: what the kernel says of its clock, from SEISMOTE_CHECK_CLOCK, `synced` or anything else. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>

int adjtimex(struct timex *state) {
    const char *said = getenv("SEISMOTE_CHECK_CLOCK");
    memset(state, 0, sizeof *state);
    state->status = said && strcmp(said, "synced") == 0 ? 0 : STA_UNSYNC;
    state->maxerror = 2500;
    state->esterror = 900;
    return 0;
}
