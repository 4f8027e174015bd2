// SPDX-License-Identifier: Apache-2.0
// An operator of one's own, whose kernel computes in float alone, in a program in double.
// expect-error: static.assert.*a program in double: this computes in float alone
// expect-fact: as_it_is
// expect-lines: 12
#include <type_traits>

#include <lamina/layers/data.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>

namespace layer = lamina::layer;

struct as_it_is : lamina::operator_definition {
  static constexpr const char* type = "as_it_is";
  static constexpr auto inputs = lamina::slots_x;
  static constexpr auto outputs = lamina::slots_out;
};
template <>
struct lamina::engine::cpu::call_kernel<as_it_is> {
  static void run(const call_context&) {}
};

template <class V>
constexpr V own(V x) {
  layer::layer_helper helper(*x.builder, "as_it_is", {});
  const int y = helper.output_like(x.id);
  x.builder->add_operator(lamina::schema_of<as_it_is>(), {x.id}, {y});
  return helper.returns(V{x.builder, y});
}

template <class Real>
constexpr auto net = lamina::program([](lamina::block& main) {
  return layer::mean(layer::fc<4>(own(layer::data<"x", Real, 8>(main))));
});

int main() {
#ifdef SHOULD_FAIL
  using real = double;
#else
  using real = float;
#endif
  lamina::model m{net<real>};
  lamina::evaluator e{m};  // <- here
}
