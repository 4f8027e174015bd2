// SPDX-License-Identifier: Apache-2.0
// test/operators/sequence/sequence_rows.hpp - one row per operator of sequences.
#pragma once

#include <laws/operator_row.hpp>

namespace rows {

template <class To>
void sequence(To& to) {
  of_sequences(to, "sequence_pool_sum",
               [](auto x) { return layer::sequence_pool(x, {.type = pooling_type::sum}); });
  of_sequences(to, "sequence_pool_average",
               [](auto x) { return layer::sequence_pool(x, {.type = pooling_type::average}); });
  of_sequences(to, "sequence_pool_sqrt",
               [](auto x) { return layer::sequence_pool(x, {.type = pooling_type::sqrt}); });
  of_sequences(to, "sequence_pool_max",
               [](auto x) { return layer::sequence_pool(x, {.type = pooling_type::max}); });
  of_sequences(to, "sequence_pool_first", [](auto x) { return layer::sequence_first_step(x); });
  of_sequences(to, "sequence_pool_last", [](auto x) { return layer::sequence_last_step(x); });
  of_sequences(to, "sequence_softmax",
               [](auto x) { return layer::sequence_softmax(layer::fc<1>(x)); });
  of_sequences(to, "sequence_conv", [](auto x) { return layer::sequence_conv<3>(x); });
  of_sequences(to, "row_conv", [](auto x) { return layer::row_conv<2>(x); });
  of_sequences(to, "sequence_expand",
               [](auto x) { return layer::sequence_expand(layer::sequence_pool(x), x); });
  of_sequences(to, "sequence_expand_as",
               [](auto x) { return layer::sequence_expand_as(layer::sequence_pool(x), x); });
  of_sequences(to, "sequence_reverse", [](auto x) { return layer::sequence_reverse(x); });
  of_sequences(to, "sequence_reshape",
               [](auto x) { return layer::sequence_reshape<"wide", 2>(x); });
  of_sequences(to, "sequence_pad",
               [](auto x) { return std::get<0>(layer::sequence_pad<5>(x, 0.5)); });
  of_sequences(to, "sequence_unpad", [](auto x) {
    const auto [padded, length] = layer::sequence_pad<4>(x, 0.5);
    return layer::sequence_unpad<"again">(layer::square(padded), length);
  });
  of_sequences(to, "sequence_slice",
               [](auto x) {
                 // The second half of each sequence; NaN is no position.
                 auto ones = layer::scale(x, 0, {.bias = 1});
                 auto length = layer::reduce_mean<1>(
                     layer::sequence_pool(ones, {.type = pooling_type::sum}), layer::keep_dim);
                 auto half = layer::floor(layer::scale(length, 0.5f));
                 return layer::sequence_slice<"part">(x, layer::cast<integer>(half),
                                                      layer::cast<integer>(length - half));
               },
               {.edges = edge_kind::none});
  of_sequences(to, "lod_reset",
               [](auto x) {
                 auto other = layer::lod_reset<"halves", 0, 4, 6>(x);
                 return std::tuple{layer::sequence_pool(other, {.type = pooling_type::sum}),
                                   layer::sequence_pool(layer::lod_reset(other, x))};
               },
               {.feed = {{"x", noise({6, 4}, {1, 2, 3})}}, .any_rows = false});
  to.write("sequence_scatter", []<class T>(block& main) {
    auto x = layer::data<"x", T, 4>(main);
    auto ids = layer::sequence<"ids", integer>(main);
    auto updates = layer::sequence<"updates", T>(ids);
    return squared(layer::sequence_scatter(x, ids, updates));
  });
  to.write("sequence_concat", []<class T>(block& main) {
    auto x = layer::sequence<"x", T, 4>(main);
    return squared(layer::sequence_concat<"both">(std::tuple{x, layer::square(x)}));
  });
  to.write("sequence_enumerate", lamina::program([](block& main) {
             return layer::sequence_enumerate<2>(layer::sequence<"ids", integer>(main),
                                                 {.pad_value = 7});
           }),
           {.gradients = false});
  to.write("sequence_erase", lamina::program([](block& main) {
             return layer::sequence_erase<"left">(layer::sequence<"ids", integer>(main), {1});
           }),
           {.gradients = false});
  to.write("sequence_mask", lamina::program([](block& main) {
             return layer::sequence_mask<5>(layer::data<"lengths", integer>(main));
           }),
           {.gradients = false});
}

}  // namespace rows
