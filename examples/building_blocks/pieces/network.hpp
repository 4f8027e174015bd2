// SPDX-License-Identifier: Apache-2.0
// pieces/network.hpp - what is read, and the network: parts of several programs.
#pragma once

#include <lamina/lamina.hpp>

namespace pieces {

template <class Image, class Label>
struct digit {
  Image image;
  Label label;
};

/// Records the data layers into the program of `main`.
constexpr auto read_digit(lamina::block& main) {
  auto image = lamina::layer::data<"image", float, 64>(main);
  auto label = lamina::layer::data<"label", std::int64_t>(main);
  return digit<decltype(image), decltype(label)>{image, label};
}

/// Records the network; a handle knows its program.
template <class Image>
constexpr auto scores(Image image) {
  auto hidden = lamina::layer::fc<48>(image, {.act = lamina::activation::relu, .name = "hidden"});
  return lamina::layer::fc<10>(hidden, {.name = "scores"});
}

}  // namespace pieces
