// SPDX-License-Identifier: Apache-2.0
// lamina/layers/conv1d.hpp - convolutions along one dimension.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <string_view>
#include <tuple>

#include <lamina/operators/conv/layer_conv2d.hpp>
#include <lamina/operators/shape/concat/layer_concat.hpp>
#include <lamina/operators/shape/concat/layer_slice.hpp>
#include <lamina/operators/shape/reshape/layer.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The positions of the windows of conv1d: `window1{.stride = 2, .padding = 1}`.
struct window1 {
  int stride = 1;       // distance from one window to the next
  int padding = 0;      // zeros before the first element and after the last one
  int dilation = 1;     // distance from one element of a filter to the next
  int groups = 1;       // number of independent groups of channels
  bool causal = false;  // zeros only before the first element, so that no window sees later ones
};

namespace layer {

/// act(x * F + b): `Filters` filters of `Size` elements slide along x [C, L]. The result is
/// [Filters, OL] with OL = (L + 2 padding - (dilation (Size - 1) + 1)) / stride + 1. With
/// window1::causal, dilation (Size - 1) zeros are before x and none after it, and output i depends
/// on x up to element i * stride. Parameters: filters [Filters, C / groups, 1, Size] and a bias
/// [Filters], as in conv2d. Sequences of different lengths have sequence_conv and row_conv.
/// PyTorch: nn.Conv1d.
template <int Filters, int Size, window1 Window = window1{}, class T, class R, int C, int L>
constexpr auto conv1d(variable<T, R, C, L> x, const options<conv2d_attr, T>& attr = {},
                      int line = __builtin_LINE()) {
  constexpr int reach = Window.dilation * (Size - 1);
  constexpr bool sound = detail::is_real<T> && has_rows<R> && Filters > 0 && Size > 0 &&
                         Window.stride > 0 && Window.padding >= 0 && Window.dilation > 0 &&
                         Window.groups > 0;
  static_assert(check<sound, gets<Filters, Size>, gets_type<variable<T, R, C, L>>>,
                "lamina: conv1d: floating point, one [channels, length] per row; filters, their "
                "size, stride, dilation and groups are positive, padding is not negative");
  constexpr bool either = !Window.causal || Window.padding == 0;
  static_assert(check<either, gets<Window.padding>>,
                "lamina: conv1d: causal sets the padding; expected a padding of 0");
  constexpr bool fits = !sound || !either || Window.causal || L + 2 * Window.padding > reach;
  static_assert(check<fits, expects<reach + 1>, gets<L + 2 * Window.padding>>,
                "lamina: conv1d: a filter fits into the padded length");
  if constexpr (sound && either && fits) {
    constexpr window along{.stride = {1, Window.stride},
                           .padding = {0, Window.padding},
                           .dilation = {1, Window.dilation},
                           .groups = Window.groups};
    layer_helper layer(*x.builder, "conv1d", attr.name);
    const auto padded = [x] {
      if constexpr (Window.causal && reach > 0)
        return pad<0, 0, 0, 0, reach, 0>(x);
      else
        return x;
    }();
    constexpr int length = whole_shape<decltype(padded)>.at[2];
    const auto y =
        conv2d<Filters, extent2{1, Size}, along>(reshape<C, 1, length>(padded), attr, line);
    return layer.returns(reshape<Filters, whole_shape<decltype(y)>.at[3]>(y));
  } else {
    return x;
  }
}

namespace detail {

/// Calls make with the name NAME_next if `state` is the data layer NAME; otherwise with no name.
template <class S, class Make>
constexpr auto with_name_of_next(S state, const Make& make) {
  const program_builder& b = *state.builder;
  const variable_desc& v = b.variables.items[state.id];
  const name_desc& d = b.names.items[v.base];
  if (v.kind != variable_kind::data || d.key != nullptr) return make(std::string_view());
  constexpr std::string_view suffix = "_next";
  const auto length = static_cast<std::size_t>(d.length);
  char* const name = new char[length + suffix.size()];
  for (std::size_t i = 0; i < length; ++i)
    name[i] = b.characters.items[d.offset + static_cast<int>(i)];
  for (std::size_t i = 0; i < suffix.size(); ++i) name[length + i] = suffix[i];
  const auto made = make(std::string_view(name, length + suffix.size()));
  delete[] name;
  return made;
}

}  // namespace detail

/// One block of a causal conv1d over a stream of samples: `auto [y, state] = conv1d_with_state<16,
/// 3, window1{.dilation = 4}>(x, past)`. x [C, L] holds the next L samples of C channels, and past
/// [C, dilation (Size - 1)] the samples before them, zeros at the beginning. Returns y [Filters,
/// L], as conv1d with window1::causal computes it over the whole stream, and `state`, the `past` of
/// the next block. If `past` is a data layer NAME, the name of `state` is NAME_next, which
/// static_evaluator::feed_back() copies back. It has the parameters of conv1d. ONNX:
/// CausalConvWithState.
template <int Filters, int Size, window1 Window = window1{}, class T, class R, int C, int L, int P>
constexpr auto conv1d_with_state(variable<T, R, C, L> x, variable<T, R, C, P> past,
                                 const options<conv2d_attr, T>& attr = {},
                                 int line = __builtin_LINE()) {
  constexpr int reach = Window.dilation * (Size - 1);
  constexpr bool plain = Window.stride == 1 && Window.padding == 0;
  static_assert(check<plain, gets<Window.stride, Window.padding>>,
                "lamina: conv1d_with_state: the stride is 1 and the padding 0");
  static_assert(check<(P == reach && reach > 0), expects<reach>, gets<P>>,
                "lamina: conv1d_with_state: the state has dilation * (size - 1) samples, at least "
                "one");
  if constexpr (plain && P == reach && reach > 0) {
    const auto seen = concat<2>(std::tuple{past, x});
    constexpr window1 whole{.dilation = Window.dilation, .groups = Window.groups};
    const auto y = conv1d<Filters, Size, whole>(seen, attr, line);
    const auto next = detail::with_name_of_next(past, [&](std::string_view name) {
      return slice<along<2, L, L + P>>(seen, {.name = name});
    });
    return std::tuple{y, next};
  } else {
    return std::tuple{x, past};
  }
}

}  // namespace layer
}}  // namespace lamina
