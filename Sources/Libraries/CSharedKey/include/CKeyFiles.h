// What certificate and key files (PEM) hold, read with the OpenSSL that the program has loaded already; it is not linked.
// Nobody is ever asked for a pass phrase.
#ifndef CKEYFILES_H
#define CKEYFILES_H
#include <stddef.h>
#include <stdint.h>

enum { CKEYFILES_UNKNOWN = -1, CKEYFILES_NO_KEY = -2, CKEYFILES_NO_MATCH = -3 };

// How many certificates a file has, up to the first that cannot be read; of the one at `index` the times (s since 1970)
// from and until which it is valid. -1: OpenSSL is not there.
int ckeyfiles_certificates(const void *text, size_t size, int index, int64_t *from, int64_t *until);

// The index of the first certificate that a private key belongs to, or one of the above: OpenSSL is not there, it is no key
// that can be read, it belongs to none of them.
int ckeyfiles_match(const void *certificates, size_t size, const void *key, size_t keySize);
#endif
