#define _GNU_SOURCE
#include "CKeyFiles.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// As openssl/pem.h, openssl/x509.h and openssl/bio.h of OpenSSL 3 have them.
typedef struct bio BIO;
typedef struct x509 X509;
typedef struct evp_pkey EVP_PKEY;
typedef struct asn1_time ASN1_TIME;
typedef int Asked(char *, int, int, void *);

#define CALLS(CALL) \
    CALL(BIO_new_mem_buf, BIO *, (const void *, int)) \
    CALL(BIO_free, int, (BIO *)) \
    CALL(PEM_read_bio_X509_AUX, X509 *, (BIO *, X509 **, Asked *, void *)) \
    CALL(PEM_read_bio_PrivateKey, EVP_PKEY *, (BIO *, EVP_PKEY **, Asked *, void *)) \
    CALL(X509_check_private_key, int, (const X509 *, const EVP_PKEY *)) \
    CALL(X509_get0_notBefore, const ASN1_TIME *, (const X509 *)) \
    CALL(X509_get0_notAfter, const ASN1_TIME *, (const X509 *)) \
    CALL(ASN1_TIME_to_tm, int, (const ASN1_TIME *, struct tm *)) \
    CALL(X509_free, void, (X509 *)) \
    CALL(EVP_PKEY_free, void, (EVP_PKEY *)) \
    CALL(ERR_clear_error, void, (void))

#define FIELD(NAME, RESULT, ARGUMENTS) RESULT(*NAME) ARGUMENTS;
static struct { CALLS(FIELD) } ssl;
static bool isThere;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find(void) {
    bool all = true;
#define FIND(NAME, RESULT, ARGUMENTS) all = (*(void **)&ssl.NAME = dlsym(RTLD_DEFAULT, #NAME)) && all;
    CALLS(FIND)
    isThere = all;
}

// Nobody is asked for a pass phrase.
static int refuse(char *text, int size, int writes, void *data) {
    (void)text, (void)size, (void)writes, (void)data;
    return 0;
}

static int64_t seconds(const ASN1_TIME *time) {
    struct tm tm = {0};
    return time && ssl.ASN1_TIME_to_tm(time, &tm) == 1 ? (int64_t)timegm(&tm) : 0;
}

int ckeyfiles_certificates(const void *text, size_t size, int index, int64_t *from, int64_t *until) {
    pthread_once(&once, find);
    if (!isThere) return -1;
    BIO *bio = ssl.BIO_new_mem_buf(text, (int)size);
    int count = 0;
    X509 *one;
    while (bio && (one = ssl.PEM_read_bio_X509_AUX(bio, NULL, refuse, NULL))) {
        if (count == index) {
            *from = seconds(ssl.X509_get0_notBefore(one));
            *until = seconds(ssl.X509_get0_notAfter(one));
        }
        ssl.X509_free(one);
        count++;
    }
    if (bio) ssl.BIO_free(bio);
    ssl.ERR_clear_error();
    return count;
}

int ckeyfiles_match(const void *certificates, size_t size, const void *key, size_t keySize) {
    pthread_once(&once, find);
    if (!isThere) return CKEYFILES_UNKNOWN;
    BIO *bio = ssl.BIO_new_mem_buf(key, (int)keySize);
    EVP_PKEY *secret = bio ? ssl.PEM_read_bio_PrivateKey(bio, NULL, refuse, NULL) : NULL;
    if (bio) ssl.BIO_free(bio);
    int found = CKEYFILES_NO_KEY;
    if (secret) {
        found = CKEYFILES_NO_MATCH;
        bio = ssl.BIO_new_mem_buf(certificates, (int)size);
        X509 *one;
        for (int index = 0; bio && (one = ssl.PEM_read_bio_X509_AUX(bio, NULL, refuse, NULL)); index++) {
            if (found == CKEYFILES_NO_MATCH && ssl.X509_check_private_key(one, secret) == 1) found = index;
            ssl.X509_free(one);
        }
        if (bio) ssl.BIO_free(bio);
        ssl.EVP_PKEY_free(secret);
    }
    ssl.ERR_clear_error();
    return found;
}
