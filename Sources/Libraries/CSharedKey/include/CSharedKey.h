// A context of OpenSSL for TLS with a key that is shared with the server and nothing else: no certificate is accepted,
// whatever the version of TLS. Made with the OpenSSL that the program has loaded already; it is not linked.
#ifndef CSHAREDKEY_H
#define CSHAREDKEY_H
#include <stdbool.h>
#include <stddef.h>

#include "CKeyFiles.h"

// Makes an SSL_CTX that gives out this identity and key; both are copied, and overwritten when the context goes.
//   newest: TLS 1.3 only, else 1.2 as well.
//   alpn: name of the protocol; empty: none.
// Null where OpenSSL is not there, or does not take what it is given.
void *csharedkey_create(const char *identity, const unsigned char *key, size_t size, bool newest, const char *alpn);

// Gives up one reference.
void csharedkey_release(void *context);
#endif
