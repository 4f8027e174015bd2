// SPDX-License-Identifier: Apache-2.0
// lamina/io/compiled/compiled_io.hpp - whether the writers of files are headers or a compiled
// library.
//
// A writer is a thousand small functions of text and lists that no program needs a second time. By
// default they are inline. Where LAMINA_IO_COMPILED is defined, as CMake's target lamina::io does,
// the headers of models in files declare the writers only, and the library has them. Both kinds
// have different names, so that a program may contain both.
#pragma once

#include <lamina/core/config.hpp>

#if defined(LAMINA_IO_COMPILED)
#define LAMINA_IO_ABI compiled_io
#define LAMINA_IO_INLINE
#else
#define LAMINA_IO_ABI header_io
#define LAMINA_IO_INLINE inline
#endif
