// SPDX-License-Identifier: Apache-2.0
// Programs are saved, read and written as C++; the text is compared with the headers of imported/,
// which this file includes, and what these record with what was saved.
#include <catch2/catch.hpp>
#include <codegen/imported/images.imported>
#include <codegen/imported/lenet.imported>
#include <codegen/imported/loops.imported>
#include <codegen/imported/sentences.imported>
#include <codegen/imported_program.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using imported_program::path_of;
using imported_program::random_tensor;
using imported_program::text_of;
using lamina::activation;

namespace { namespace recorded {

constexpr auto lenet = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 1, 28, 28>(main);
  auto act = activation::relu;
  auto first =
      layer::pool2d<2, lamina::window{.stride = 2}>(layer::conv2d<6, 5>(image, {.act = act}));
  auto second =
      layer::pool2d<2, lamina::window{.stride = 2}>(layer::conv2d<16, 5>(first, {.act = act}));
  auto hidden = layer::fc<84>(layer::fc<120>(second, {.act = act}), {.act = act});
  return layer::softmax(layer::fc<10>(hidden), {.name = "p"});
});

// Sequences, one parameter in two layers, an input with the rows of another, names of users.
constexpr auto sentences = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto marks = layer::sequence<"class", float, 3>(words);
  auto embedded = layer::embedding<50, 8>(words, {.param = {.name = "table"}, .padding_idx = 7});
  auto again = layer::embedding<50, 8>(
      words, {.param = {.name = "table"}, .is_distributed = true, .name = "again"});
  auto both = layer::concat(std::tuple{embedded, again, marks});
  auto wide = layer::sequence_conv<6>(both, {.act = activation::tanh});
  auto [hidden, cell] = layer::dynamic_lstm<4 * 5>(
      layer::fc<20>(std::tuple{both, wide}, {.bias = false}),
      {.is_reverse = true, .candidate_activation = lamina::recurrent_activation::relu});
  auto last = layer::sequence_last_step(layer::dynamic_gru<4>(layer::fc<12>(hidden)));
  auto most = layer::sequence_pool(cell, {.type = lamina::pooling_type::max});
  auto kept = layer::dropout(
      layer::fc<4>({last, layer::scale(last, 0.1)}, {.param = {.name = "shared"}}), 0.25f,
      {.is_test = true,
       .implementation = layer::dropout_implementation::upscale_in_train,
       .name = "my \"kept\"\n"});
  auto table = layer::create_parameter<float, 4, 5>(main, {.name = "tied"});
  auto tied = layer::matmul(kept, table) + most;
  return std::tuple{layer::softmax(tied, {.name = "p"}), layer::reduce_mean<1>(tied)};
});

// Batch norm and a sum of two paths, doubles among operators without a layer in the text.
constexpr auto images = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 4, 9, 8>(main);
  auto normed = layer::batch_norm(
      layer::conv2d<8, lamina::extent2{3, 2}, lamina::window{.stride = {2, 1}, .padding = {1, 0}}>(
          image, {.bias = false}),
      {.act = activation::relu, .is_test = true, .moving_mean_name = "mean"});
  auto deep = layer::conv2d<8, 3, lamina::window{.padding = 1, .groups = 8}>(normed);
  auto joined = layer::elementwise_add(deep, normed, {.act = activation::leaky_relu});
  auto bent = layer::prelu(joined, {.mode = layer::prelu_mode::channel});
  auto cut = layer::slice<layer::along<2, 0, 3>>(bent);
  auto mean = layer::global_pool2d(cut, {.type = lamina::pooling_type::average});
  auto flat = layer::reshape<8>(mean);
  auto norm = layer::layer_norm(flat, {.shift = false, .epsilon = 1e-3f});
  auto [most, where] = layer::topk<2>(layer::clip(norm, -1.5, 2.25));
  layer::increment(where);
  return std::tuple{most, where};
});

// Loops in a loop, branches, arrays, the steps of a static_rnn.
constexpr auto loops = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 5, 3>(main);
  auto states = layer::static_rnn(x, [&](auto& step) {
    auto h = step.template memory<float>(lamina::dims<4>, {.value = 0.5f});
    auto next = layer::tanh(layer::fc<4>(std::tuple{step.input(x), h}));
    step.update(h, next);
    return std::tuple{next, step.last(h)};
  });
  auto h = layer::scale(std::get<1>(states), 1);
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto n = layer::fill_constant<std::int64_t>(main, 3);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](lamina::block& body) {
    auto least = layer::fill_constant<float>(body, 0.05f);
    auto more = layer::greater_than(layer::mean(layer::square(h)), least);
    layer::while_loop(more, [&](lamina::block&) {
      h = layer::scale(layer::fc<4>(h, {.bias = false, .name = "inner"}), 0.5f);
      layer::greater_than(layer::mean(layer::square(h)), least, more);
    });
    h = layer::scale(h, 1.9f);
    layer::increment(i);
    layer::less_than(i, n, going);
  });
  auto chosen = layer::cond(
      layer::less_than(layer::mean(h), layer::fill_constant<float>(main, 0.01)),
      [&](lamina::block&) {
        return std::tuple{layer::fc<2>(h), layer::mean(h)};
      },
      [&](lamina::block& no) {
        return std::tuple{layer::tanh(layer::fc<2>(h)), layer::fill_constant<float>(no, 2)};
      });
  return std::tuple{std::get<0>(states), h, std::get<0>(chosen), std::get<1>(chosen)};
});

}  // namespace recorded

}  // namespace

TEST_CASE("native source: saved programs come back as layers, with the same bits") {
  imported_program::compare("lenet", recorded::lenet, lenet,
                            {{"image", random_tensor({3, 1, 28, 28})}});
  const lamina::lod lengths = lamina::lod::from_lengths({{2, 1, 4}});
  imported_program::compare(
      "sentences", recorded::sentences, sentences,
      {{"words",
        lamina::lod_tensor(lamina::tensor({7, 1}, std::vector<std::int64_t>{3, 7, 49, 0, 7, 1, 20}),
                           lengths)},
       {"class", lamina::lod_tensor(random_tensor({7, 3}), lengths)}});
  imported_program::compare("images", recorded::images, images,
                            {{"image", random_tensor({2, 4, 9, 8})}});
  imported_program::compare("loops", recorded::loops, loops, {{"x", random_tensor({6, 5, 3})}});
}

TEST_CASE("native source: LeNet has less than 40 lines") {
  const std::string text = text_of(decltype(recorded::lenet)::view(), "lenet");
  CHECK(std::count(text.begin(), text.end(), '\n') < 40);
}

// ./test --  "native source: write the headers" after a change of the text.
TEST_CASE("native source: write the headers", "[.]") {
  lamina::write_file(path_of("lenet"), text_of(decltype(recorded::lenet)::view(), "lenet"));
  lamina::write_file(path_of("sentences"),
                     text_of(decltype(recorded::sentences)::view(), "sentences"));
  lamina::write_file(path_of("images"), text_of(decltype(recorded::images)::view(), "images"));
  lamina::write_file(path_of("loops"), text_of(decltype(recorded::loops)::view(), "loops"));
}

TEST_CASE("native source: what later versions flatten is reshaped") {
  lamina::program_message m = same_program::as_saved(recorded::images.view());
  for (lamina::operator_message& op : m.blocks[0].operators) {
    if (op.type != "reshape2") continue;
    op.type = "flatten_contiguous_range";
    op.attributes.resize(2);
    op.attributes[0] = {};
    op.attributes[0].name = "start_axis";
    op.attributes[0].integer = 1;
    op.attributes[1] = {};
    op.attributes[1].name = "stop_axis";
    op.attributes[1].integer = 3;
    std::erase_if(op.inputs, [](const lamina::slot_message& s) { return s.slot != "X"; });
  }
  CHECK_THAT(lamina::native_source(lamina::loaded_program(m)),
             Contains("auto reshape2_0 = layer::reshape<8>(pool2d_0);"));
}
