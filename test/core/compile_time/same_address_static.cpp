// SPDX-License-Identifier: Apache-2.0
// Addresses of static members of templates are compared in constant expressions, also where the
// compiler's flags let them be null.
#include <lamina/core/compile_time/same_address.hpp>

namespace {

template <class T>
struct member {
  static constexpr int value = 0;
};
constexpr int own = 1;

static_assert(lamina::same_address(&member<int>::value, &member<int>::value));
static_assert(!lamina::same_address(&member<int>::value, &member<char>::value));
static_assert(!lamina::same_address(&own, &member<int>::value));
static_assert(!lamina::is_null(&member<int>::value));
static_assert(lamina::is_null(static_cast<const int*>(nullptr)));

}  // namespace
