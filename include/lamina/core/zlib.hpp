// SPDX-License-Identifier: Apache-2.0
// lamina/core/zlib.hpp - whether deflate and gzip can be read; includes zlib if so.
#pragma once

/// 1 if compressed files can be read; the program then links zlib. Define it yourself to decide.
#if !defined(LAMINA_HAS_ZLIB)
#if __has_include(<zlib.h>)
#define LAMINA_HAS_ZLIB 1
#else
#define LAMINA_HAS_ZLIB 0
#endif
#endif

#if LAMINA_HAS_ZLIB
#include <zlib.h>
#endif
