// SPDX-License-Identifier: Apache-2.0
// lamina/core/files/zlib.hpp - includes zlib if LAMINA_HAS_ZLIB is 1.
#pragma once

#include <lamina/core/config.hpp>

#if LAMINA_HAS_ZLIB
#include <zlib.h>
#endif
