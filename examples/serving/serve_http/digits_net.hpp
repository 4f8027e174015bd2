// SPDX-License-Identifier: Apache-2.0
// serve_http/digits_net.hpp - what is trained and what is served; both have the same
// parameters.
#pragma once

#include <cstdint>

#include <lamina/lamina.hpp>

namespace serve_http {

inline constexpr auto logits = [](auto image) {
  auto hidden = lamina::layer::fc<128>(image, {.act = lamina::activation::relu});
  return lamina::layer::fc<10>(hidden, {.name = "output"});
};
inline constexpr auto training_net = lamina::program([](lamina::block& main) {
  auto image = lamina::layer::data<"image", float, 64>(main);
  auto label = lamina::layer::data<"label", std::int64_t>(main);
  return lamina::layer::mean(lamina::layer::softmax_with_cross_entropy(logits(image), label));
});
/// A request has `image` and gets `probabilities` and `digit`. No label is needed.
inline constexpr auto served_net = lamina::program([](lamina::block& main) {
  auto image = lamina::layer::data<"image", float, 64>(main);
  auto probabilities = lamina::layer::softmax(logits(image), {.name = "probabilities"});
  return lamina::layer::argmax<-1>(probabilities, {.name = "digit"});
});

}  // namespace serve_http
