// SPDX-License-Identifier: Apache-2.0
// lamina/core/compiles.hpp - from here on headers have the bodies that lamina::compiled is made of.
//
// Each source of the library includes it after the headers of other sources (cmake/compiled).
#pragma once

#include <lamina/core/config.hpp>

// In a program without LAMINA_COMPILED every header has its bodies, and nothing changes.
#if defined(LAMINA_COMPILED)
#undef LAMINA_DEFINES
#undef LAMINA_KERNEL
#undef LAMINA_INSTANCE
#undef LAMINA_EXTERN
#define LAMINA_DEFINES 1
#define LAMINA_KERNEL inline
#define LAMINA_INSTANCE(...) template __VA_ARGS__;
#define LAMINA_EXTERN(...) template __VA_ARGS__;
#endif
