#ifndef CMINISEED_SHIM_H
#define CMINISEED_SHIM_H
#include <libmseed.h>
#endif
