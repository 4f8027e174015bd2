// SPDX-License-Identifier: Apache-2.0
#include <lamina/core/config.hpp>

// This processor may have xsimd's vectors; the header also works if a file includes both.
#if !defined(LAMINA_PLAIN_VECTORS)
#define LAMINA_PLAIN_VECTORS 16
#define LAMINA_TEST_ADDED_PLAIN_VECTORS
#endif
#include "core/simd/plain_vector_checks.hpp"
#if defined(LAMINA_TEST_ADDED_PLAIN_VECTORS)
#undef LAMINA_PLAIN_VECTORS
#endif

#include <catch2/catch.hpp>

TEST_CASE("vectors without xsimd compute what the C library does", "[simd]") {
  int functions = 0;
  const auto check = [&](const char* name, long wrong) {
    INFO(name);
    CHECK(wrong == 0);
    ++functions;
  };
  plain_vector_checks::count_wrong_results<float>(check);
  plain_vector_checks::count_wrong_results<double>(check);
  CHECK(functions == 28);
}
