// SPDX-License-Identifier: Apache-2.0
// Throws an error of lamina.
#include <lamina/core/messages/error.hpp>

#if !defined(LAMINA_HAS_ZLIB)
#error "expected what the target says of zlib"
#endif
#if defined(EXPECTED_ZLIB) && LAMINA_HAS_ZLIB != EXPECTED_ZLIB
#error "expected what the project says of zlib"
#endif

void fail() { throw lamina::error("lamina: expected, found"); }
