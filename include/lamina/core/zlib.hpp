// SPDX-License-Identifier: Apache-2.0
// lamina/core/zlib.hpp - zlib, if deflate and gzip can be read.
#pragma once

#include <lamina/core/config.hpp>

#if LAMINA_HAS_ZLIB
#include <zlib.h>
#endif
