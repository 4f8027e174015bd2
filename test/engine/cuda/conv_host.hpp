// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/conv_host.hpp - a host that counts by which tiles it convolves.
#pragma once

#include <lamina/engine/cuda/conv_kernels.hpp>

namespace test {

namespace cuda = lamina::engine::cuda;

/// What a body of a convolution makes, and how many rows its tile has; 0: none.
enum class conv_makes { nothing, small, large, filters };
template <class Body>
struct conv_facts {
  static constexpr conv_makes makes = conv_makes::nothing;
  static constexpr int rows = 0;
};
constexpr conv_makes made_by(cuda::conv_kind kind) {
  return kind == cuda::conv_kind::forward ? conv_makes::small : conv_makes::large;
}
template <cuda::conv_kind Kind, class S, class Shape>
struct conv_facts<cuda::conv_body<Kind, S, Shape>> {
  static constexpr conv_makes makes = made_by(Kind);
  static constexpr int rows = Shape::rows;
};
template <cuda::conv_kind Kind, class Shape>
struct conv_facts<cuda::part_conv_body<Kind, Shape>> {
  static constexpr conv_makes makes = made_by(Kind);
  static constexpr int rows = Shape::rows;
  static constexpr bool parts = true;
};
template <cuda::conv_kind Kind, class S>
struct conv_facts<cuda::direct_conv_body<Kind, S>> {
  static constexpr conv_makes makes = made_by(Kind);
  static constexpr int rows = 0;
};
template <class Shape>
struct conv_facts<cuda::conv_filter_body<Shape>> {
  static constexpr conv_makes makes = conv_makes::filters;
  static constexpr int rows = Shape::rows;
};
template <>
struct conv_facts<cuda::direct_conv_filter_body> {
  static constexpr conv_makes makes = conv_makes::filters;
  static constexpr int rows = 0;
};

/// How often each way was taken.
struct way_counts {
  int direct = 0, quarter = 0, half = 0, whole = 0;
  bool operator==(const way_counts&) const = default;
};

/// A host that counts the ways of what makes small images, large ones and gradients of filters.
/// Bodies without a tile are an error of the compiler where `Direct` is false.
template <class Base, bool Direct = true>
struct conv_host : Base {
  using Base::Base;
  way_counts small, large, filters;
  int cut = 0;  // those whose terms are cut

  template <class Body>
  void cells(const typename Body::arguments& g) {
    count<Body>();
    Base::template cells<Body>(g);
  }
  template <class Body>
  void teams(const typename Body::arguments& g) {
    count<Body>();
    Base::template teams<Body>(g);
  }
  template <class Body>
  void lines(const typename Body::arguments& a) {
    count<Body>();
    Base::template lines<Body>(a);
  }

 private:
  template <class Body>
  void count() {
    constexpr conv_makes makes = conv_facts<Body>::makes;
    constexpr int rows = conv_facts<Body>::rows, all = Base::product_tile::rows;
    if constexpr (makes != conv_makes::nothing) {
      static_assert(Direct || rows > 0, "no convolution of this program has so few channels");
      way_counts& of = makes == conv_makes::small   ? small
                       : makes == conv_makes::large ? large
                                                    : filters;
      cut += requires { conv_facts<Body>::parts; };
      ++(rows == 0         ? of.direct
         : rows == all / 4 ? of.quarter
         : rows == all / 2 ? of.half
                           : of.whole);
    }
  }
};

/// What a step of test::channels takes, by channels of a group:
///   small images    a 12, a2 16, e2 12 and the gradient of a3's input 12; 20, 32, 25; 33, 33, 50
///   large images    a2's 12, c2's 16; b2's 20, a3 20; d2's 33; e2's 3
///   filters         12 x 144, 12 x 180; 16 x 108, 20 x 144, 25 x 144; others are as empty as whole
inline constexpr way_counts small_of_channels{1, 4, 3, 3};
inline constexpr way_counts large_of_channels{1, 2, 2, 1};
inline constexpr way_counts filters_of_channels{1, 2, 3, 5};

}  // namespace test
