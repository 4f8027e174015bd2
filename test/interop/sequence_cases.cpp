// SPDX-License-Identifier: Apache-2.0
// Cases of operators over sequences of different length.
#include <interop/case_writer.hpp>

#include <lamina/core/random.hpp>

namespace interop {
namespace {

/// One operator of sequences x of [.., 4].
template <class F>
void of_sequences(case_writer& to, const char* name, F, const case_options& options = {}) {
  to.write(
      name, []<class T>(block& main) { return squared(F{}(layer::sequence<"x", T, 4>(main))); },
      options);
}
tensor noise(const lamina::tensor_shape& shape) {
  std::vector<float> values;
  for (std::size_t i = 0; i < lamina::size_of(shape); ++i)
    values.push_back(lamina::random_uniform_at(7, 99, i, -1.f, 1.f));
  return tensor(shape, values);
}

}  // namespace

void write_sequence_cases(case_writer& to) {
  using lamina::pooling_type;
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
                 auto zero = layer::reduce_sum<1>(layer::sequence_pool(layer::scale(x, 0)),
                                                  layer::keep_dim);
                 auto none = layer::cast<integer>(zero);
                 return layer::sequence_slice<"part">(x, none, none + 1);
               },
               {.edges = false});  // NaN is not a place
  of_sequences(to, "lod_reset",
               [](auto x) {
                 auto other = layer::lod_reset<"halves", 0, 4, 6>(x);
                 return std::tuple{layer::sequence_pool(other, {.type = pooling_type::sum}),
                                   layer::sequence_pool(layer::lod_reset(other, x))};
               },
               {.any_rows = false});
  to.write("ctc_align",
           []<class T>(block& main) {
             return layer::ctc_greedy_decoder<"labels">(layer::sequence<"x", T, 4>(main));
           },
           {.gradients = false});
  to.write("sequence_scatter", []<class T>(block& main) {
    auto x = layer::data<"x", T, 4>(main);
    auto ids = layer::sequence<"ids", integer>(main);
    auto updates = layer::sequence<"updates", T>(ids);
    return squared(layer::sequence_scatter(x, ids, updates));
  });
  const auto given = [](std::vector<integer> ids, std::vector<std::size_t> lengths,
                        lamina::dtype type = lamina::dtype::int64) {
    const std::size_t n = ids.size();
    return lod_tensor(tensor({n, 1}, ids).cast(type), lamina::lod::from_lengths({lengths}));
  };
  to.write("warpctc",
           []<class T>(block& main) {
             auto x = layer::sequence<"x", T, 5>(main);
             return squared(layer::warpctc(x, layer::sequence<"label", std::int32_t>(main)));
           },
           {.feed = {{"x", lod_tensor(noise({9, 5}), lamina::lod::from_lengths({{4, 2, 3}}))},
                     {"label", given({1, 1, 3, 2, 4}, {2, 1, 2}, lamina::dtype::int32)}},
            .any_rows = false});
  to.write("chunk_eval", lamina::program([](block& main) {
             auto found = layer::sequence<"found", integer>(main);
             return layer::chunk_eval<2>(found, layer::sequence<"label", integer>(found));
           }),
           {.feed = {{"found", given({0, 1, 4, 2, 0, 0, 1, 3, 3}, {4, 2, 3})},
                     {"label", given({0, 1, 4, 2, 1, 4, 1, 2, 3}, {4, 2, 3})}},
            .gradients = false,
            .any_rows = false});
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
  to.write("embedding_of_sequences", []<class T>(block& main) {
    auto e = layer::embedding<5, 3, T>(layer::sequence<"ids", integer>(main));
    return squared(layer::sequence_pool(e));
  });
  of_sequences(to, "lstm",
               [](auto x) { return std::get<0>(layer::dynamic_lstm<8>(layer::fc<8>(x))); });
  of_sequences(to, "lstm_reverse", [](auto x) {
    return std::get<0>(
        layer::dynamic_lstm<8>(layer::fc<8>(x), {.use_peepholes = false, .is_reverse = true}));
  });
  of_sequences(to, "lstmp",
               [](auto x) { return std::get<0>(layer::dynamic_lstmp<8, 3>(layer::fc<8>(x))); });
  of_sequences(to, "gru", [](auto x) { return layer::dynamic_gru<2>(layer::fc<6>(x)); });
  of_sequences(to, "gru_origin", [](auto x) {
    return layer::dynamic_gru<2>(layer::fc<6>(x), {.origin_mode = true});
  });
  to.write("gru_unit", []<class T>(block& main) {
    auto x = layer::data<"x", T, 6>(main);
    return squared(std::get<0>(layer::gru_unit<6>(x, layer::data<"h", T, 2>(main))));
  });
  to.write("lstm_unit", []<class T>(block& main) {
    auto x = layer::data<"x", T, 4>(main);
    auto h = layer::data<"h", T, 2>(main);
    return squared(std::get<0>(layer::lstm_unit(x, h, layer::data<"c", T, 2>(main))));
  });
  to.write("linear_chain_crf", []<class T>(block& main) {
    auto x = layer::sequence<"x", T, 4>(main);
    return squared(layer::linear_chain_crf(x, layer::sequence<"label", integer>(x)));
  });
  to.write(
      "crf_decoding",
      []<class T>(block& main) { return layer::crf_decoding(layer::sequence<"x", T, 4>(main)); },
      {.gradients = false});
  to.write("edit_distance", lamina::program([](block& main) {
             auto a = layer::sequence<"a", integer>(main);
             auto b = layer::sequence<"b", integer>(main);
             return std::get<0>(layer::edit_distance(a, b));
           }),
           {.gradients = false});
}

}  // namespace interop
