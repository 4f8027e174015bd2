// SPDX-License-Identifier: Apache-2.0
// test/sanitized.hpp - whether a sanitizer watches this program.
#pragma once

namespace test {

/// Whether a sanitizer of addresses or threads watches each access, which makes long loops take
/// minutes. What it sees it sees in few numbers; whether many of them are right is asked in a build
/// without one, where that has the same test.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_sanitized = true;
#elif defined(__has_feature)
inline constexpr bool is_sanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool is_sanitized = false;
#endif

}  // namespace test
