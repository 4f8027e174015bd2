// SPDX-License-Identifier: Apache-2.0
// type_of: from a pointer back to the type that registered it.
#include <catch2/catch.hpp>

#include <lamina/core/compile_time/type_of.hpp>

namespace {

struct first_operator {};
struct second_operator {};

template <class T>
struct registered_type {
  static constexpr int value = 0;
  static constexpr lamina::finds<&value, T> way_back{};
};

template <class T>
constexpr const int* address_of() {
  (void)registered_type<T>::way_back;
  return &registered_type<T>::value;
}

}  // namespace

TEST_CASE("a pointer to a registered value leads back to its type") {
  constexpr const int* first = address_of<first_operator>();
  constexpr const int* second = address_of<second_operator>();
  STATIC_REQUIRE(__is_same(lamina::type_of<first>, first_operator));
  STATIC_REQUIRE(__is_same(lamina::type_of<second>, second_operator));
}
