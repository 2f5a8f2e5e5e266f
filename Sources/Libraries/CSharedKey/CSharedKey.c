#define _GNU_SOURCE
#include "CSharedKey.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// As openssl/ssl.h and openssl/crypto.h of OpenSSL 3 have them.
typedef struct ssl SSL;
typedef struct ssl_ctx SSL_CTX;
typedef struct ssl_method SSL_METHOD;
typedef unsigned Asked(SSL *, const char *hint, char *identity, unsigned, unsigned char *key, unsigned);
typedef void Dropped(void *parent, void *value, void *data, int index, long, void *);
enum { PEER = 1, CONTEXTS = 1, MODE = 33, LEAST_VERSION = 123, RELEASE_BUFFERS = 0x10, TLS12 = 0x0303, TLS13 = 0x0304 };

#define CALLS(CALL) \
    CALL(TLS_client_method, const SSL_METHOD *, (void)) \
    CALL(SSL_CTX_new, SSL_CTX *, (const SSL_METHOD *)) \
    CALL(SSL_CTX_free, void, (SSL_CTX *)) \
    CALL(SSL_CTX_ctrl, long, (SSL_CTX *, int, long, void *)) \
    CALL(SSL_CTX_set_verify, void, (SSL_CTX *, int, void *)) \
    CALL(SSL_CTX_set_cipher_list, int, (SSL_CTX *, const char *)) \
    CALL(SSL_CTX_set_alpn_protos, int, (SSL_CTX *, const unsigned char *, unsigned)) \
    CALL(SSL_CTX_set_psk_client_callback, void, (SSL_CTX *, Asked *)) \
    CALL(SSL_CTX_set_ex_data, int, (SSL_CTX *, int, void *)) \
    CALL(SSL_CTX_get_ex_data, void *, (const SSL_CTX *, int)) \
    CALL(SSL_get_SSL_CTX, SSL_CTX *, (const SSL *)) \
    CALL(CRYPTO_get_ex_new_index, int, (int, long, void *, void *, void *, Dropped *))

#define FIELD(NAME, RESULT, ARGUMENTS) RESULT(*NAME) ARGUMENTS;
static struct { CALLS(FIELD) } ssl;
static int place = -1;
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct key {
    size_t size;
    unsigned char bytes[256];
    char identity[257];
};

static void drop(void *parent, void *value, void *data, int index, long number, void *pointer) {
    (void)parent, (void)data, (void)index, (void)number, (void)pointer;
    if (value) explicit_bzero(value, sizeof(struct key));
    free(value);
}

static void find(void) {
    bool all = true;
#define FIND(NAME, RESULT, ARGUMENTS) all = (*(void **)&ssl.NAME = dlsym(RTLD_DEFAULT, #NAME)) && all;
    CALLS(FIND)
    if (all) place = ssl.CRYPTO_get_ex_new_index(CONTEXTS, 0, NULL, NULL, NULL, drop);
}

static unsigned give(SSL *connection, const char *hint, char *identity, unsigned room, unsigned char *to, unsigned most) {
    (void)hint;
    const struct key *key = ssl.SSL_CTX_get_ex_data(ssl.SSL_get_SSL_CTX(connection), place);
    if (!key || strlen(key->identity) >= room || key->size > most) return 0;
    strcpy(identity, key->identity);
    memcpy(to, key->bytes, key->size);
    return (unsigned)key->size;
}

void *csharedkey_create(const char *identity, const unsigned char *key, size_t size, bool newest, const char *alpn) {
    unsigned char protocol[256];
    size_t length = strlen(alpn);
    pthread_once(&once, find);
    struct key *kept = calloc(1, sizeof *kept);
    SSL_CTX *context = place < 0 ? NULL : ssl.SSL_CTX_new(ssl.TLS_client_method());
    if (!context || !kept || strlen(identity) >= sizeof kept->identity || size > sizeof kept->bytes || length > 255 ||
        ssl.SSL_CTX_set_ex_data(context, place, kept) != 1) {
        free(kept);
        csharedkey_release(context);
        return NULL;
    }
    kept->size = size;
    memcpy(kept->bytes, key, size);
    strcpy(kept->identity, identity);
    protocol[0] = (unsigned char)length;
    memcpy(protocol + 1, alpn, length);
    ssl.SSL_CTX_set_psk_client_callback(context, give);
    // There is no authority that a certificate could be of.
    ssl.SSL_CTX_set_verify(context, PEER, NULL);
    ssl.SSL_CTX_ctrl(context, MODE, RELEASE_BUFFERS, NULL);
    if (ssl.SSL_CTX_ctrl(context, LEAST_VERSION, newest ? TLS13 : TLS12, NULL) == 1 &&
        ssl.SSL_CTX_set_cipher_list(context, "kECDHEPSK:kDHEPSK:kPSK:!eNULL") == 1 &&
        (length == 0 || ssl.SSL_CTX_set_alpn_protos(context, protocol, (unsigned)length + 1) == 0))
        return context;
    csharedkey_release(context);
    return NULL;
}

void csharedkey_release(void *context) {
    if (context) ssl.SSL_CTX_free(context);
}
