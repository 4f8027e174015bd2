/* SPDX-License-Identifier: Apache-2.0
 * plugin_library/digits.h - the C interface of libdigits.so. Functions that return an int
 * return 0, or -1 after an error, whose text digits_error() tells. */
#ifndef DIGITS_H
#define DIGITS_H

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct digits digits;

/* Trains a net, "small" or "large", on the bundled digits and writes it to a file. */
int digits_train(const char* net, int passes, const char* path);
/* A net with the parameters of such a file; null after an error. */
digits* digits_open(const char* net, const char* path);
void digits_close(digits* of);
/* Writes the digits of `count` images of 64 pixels. */
int digits_classify(digits* of, const float* pixels, int count, int* result);
/* The text of this thread's last error. */
const char* digits_error(void);

#if defined(__cplusplus)
}
#endif

#endif
