// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/emulated/export.hpp - functions of C++ by the names that compiled objects call.
#pragma once

#define LAMINA_TEST_EXPORT(result, name, parameters, arguments)       \
  extern "C" result lamina_emulated_##name parameters __asm__(#name); \
  extern "C" result lamina_emulated_##name parameters { return name arguments; }
