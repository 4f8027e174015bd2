// SPDX-License-Identifier: Apache-2.0
// No gradient flows through what is marked.

#include "model/samples.hpp"

#include <lamina/layers/stop_gradient.hpp>
#include <lamina/model/gradient_machine.hpp>

namespace layer = lamina::layer;

namespace {

// What `given` is computed from does not learn by it; `hidden` learns by one of its two readers.
constexpr auto half_given = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto given =
      layer::stop_gradient(layer::fc<5>(x, {.act = lamina::activation::tanh, .name = "given"}));
  auto hidden = layer::fc<5>(x, {.act = lamina::activation::tanh, .name = "hidden"});
  auto logits = layer::fc<3>(given + hidden * layer::stop_gradient(layer::assign(hidden)),
                             {.name = "output"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

constexpr auto all_learn = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto given = layer::fc<5>(x, {.act = lamina::activation::tanh, .name = "given"});
  auto hidden = layer::fc<5>(x, {.act = lamina::activation::tanh, .name = "hidden"});
  auto logits = layer::fc<3>(given + hidden * layer::assign(hidden), {.name = "output"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

}  // namespace

TEST_CASE("no gradient flows through what is marked") {
  lamina::model marked{half_given, 3};
  lamina::model plain{all_learn, 3};
  lamina::gradient_machine g{marked};
  lamina::gradient_machine all{plain};
  const auto samples = test::samples(9);
  CHECK(g.backward(samples) == all.backward(samples));
  CHECK((g.gradient<"given.w_0">() == lamina::array<float>({6, 5})));
  CHECK((all.gradient<"given.w_0">() != lamina::array<float>({6, 5})));
  const auto of_output = g.gradient<"output.w_0">(), of_plain_output = all.gradient<"output.w_0">();
  for (std::size_t i = 0; i < of_output.size(); ++i)
    CHECK(of_output.data()[i] == Approx(of_plain_output.data()[i]).margin(1e-6));
  // d(h h) = 2 h dh, of which one reader of h passes on a half.
  const auto half = g.gradient<"hidden.w_0">(), whole = all.gradient<"hidden.w_0">();
  for (std::size_t i = 0; i < half.size(); ++i)
    CHECK(2 * half.data()[i] == Approx(whole.data()[i]).margin(1e-6));
}
