// SPDX-License-Identifier: Apache-2.0
// lamina/core/compiles.hpp - enables the function bodies in all following headers, which are
// compiled into lamina::compiled.
//
// Each source file of the library includes it before the headers whose bodies this source compiles,
// and after all headers whose bodies another source compiles (cmake/compiled).
#pragma once

#include <lamina/core/config.hpp>

// In a program without LAMINA_COMPILED every header already has its bodies, so this has no effect.
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
