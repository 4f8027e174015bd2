// SPDX-License-Identifier: Apache-2.0
// lamina/core/compiles.hpp - makes the following headers contain the bodies of their functions, for
// the sources of the library lamina::compiled.
//
// A source file of the library (cmake/compiled) first includes the headers whose bodies another
// source file compiles, then this header, then the headers whose bodies it compiles itself.
#pragma once

#include <lamina/core/config.hpp>

// Without LAMINA_COMPILED, headers always contain the bodies, so this header has no effect.
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
