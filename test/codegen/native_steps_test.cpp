// SPDX-License-Identifier: Apache-2.0
// Loops over sequences and branches of rows come back from files, with the same bits.
#include <codegen/imported/branches.imported>
#include <codegen/imported/reads.imported>
#include <codegen/imported/steps.imported>
#include <codegen/imported_program.hpp>

#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using imported_program::path_of;
using imported_program::random_tensor;
using imported_program::text_of;

namespace {

namespace recorded {

// Steps over the sentences of documents, over their words, and a state of each document.
constexpr auto steps = lamina::program([](lamina::block& main) {
  auto x = layer::nested_sequence<"x", float, 3>(main);
  auto like = layer::sequence<"like", float, 2>(x);
  auto start = layer::data<"start", float, 4>(main);
  auto sentences = layer::dynamic_rnn<0>(x, [&](auto& step) {
    auto h = step.memory(lamina::dims<3>, {.value = 0.5f});
    auto next = layer::tanh(layer::sequence_pool(step.input(x)) + h);
    step.update(h, next);
    return next;
  });
  auto [states, last] = layer::dynamic_rnn(sentences, [&](auto& step) {
    auto h = step.memory(start);
    auto kept = step.static_input(start);
    auto next = layer::tanh(layer::fc<4>(std::tuple{step.input(sentences), h, kept}));
    step.update(h, next);
    return std::tuple{next, step.last(h)};
  });
  return std::tuple{layer::sequence_pool(states), last, layer::sequence_pool(like)};
});

// Rows that are chosen by a mask, in rows that were chosen, and whole sequences.
constexpr auto branches = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 3>(main);
  auto words = layer::sequence<"words", float, 2>(main);
  auto first = layer::slice<layer::along<1, 0, 1>>(x);
  auto zero = layer::scale(first, 0);
  auto half = layer::slice<layer::along<1, 1, 2>>(x);
  auto y = layer::if_else(
      layer::greater_than(first, zero),
      [&](auto& yes) {
        auto some = yes.input(x);
        auto inner = yes.input(half);
        return layer::if_else(
            layer::greater_than(inner, layer::scale(inner, 0)),
            [&](auto& all) { return layer::fc<2>(all.input(some)); },
            [&](auto& none) { return layer::scale(layer::fc<2>(none.input(some)), 3); });
      },
      [&](auto& no) { return layer::sequence_pool(no.input(words)); });
  return y;
});

// The sum of the means of all mini-batches.
constexpr auto reads = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto sum = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [x, words] =
        layer::read_minibatch<"train", lamina::field<float, 3>,
                              lamina::sequence_field<"words", std::int64_t>>(loop, more);
    auto read = layer::sequence_pool(layer::embedding<9, 3>(words)) + x;
    sum = sum + layer::mean(read);
  });
  return sum;
});

}  // namespace recorded

lamina::lod_tensor nested(const lamina::tensor& values) {
  return lamina::lod_tensor(values, lamina::lod::from_lengths({{2, 1, 3}, {1, 2, 3, 1, 2, 1}}));
}

}  // namespace

TEST_CASE("native steps: loops over sequences come back") {
  imported_program::compare("steps", recorded::steps, steps,
                            {{"x", nested(random_tensor({10, 3}))},
                             {"like", nested(random_tensor({10, 2}))},
                             {"start", random_tensor({3, 4})}});
}

TEST_CASE("native steps: branches of rows come back") {
  imported_program::compare(
      "branches", recorded::branches, branches,
      {{"x", random_tensor({5, 3})},
       {"words",
        lamina::lod_tensor(random_tensor({9, 2}), lamina::lod::from_lengths({{2, 1, 3, 0, 3}}))}});
}

TEST_CASE("native steps: a program that reads mini-batches comes back") {
  const auto saved = [](const lamina::program_view& p) {
    lamina::program_message m = lamina::to_program_message(p);
    lamina::add_feed_and_fetch(m, {}, {lamina::variable_name(p, p.outputs[0])});
    return m;
  };
  const lamina::loaded_program read(saved(decltype(recorded::reads)::view()), "reads");
  const std::string text =
      lamina::native_source(read, {.name = "reads", .origin = "the program of a test"});
  CHECK(text == lamina::read_file(path_of("reads")));
  CHECK(same_program::comparison::of(saved(decltype(recorded::reads)::view()),
                                     saved(decltype(reads)::view())) == "");
}

// ./test "native steps: write the headers" after a change of the text.
TEST_CASE("native steps: write the headers", "[.]") {
  lamina::write_file(path_of("steps"), text_of(decltype(recorded::steps)::view(), "steps"));
  lamina::write_file(path_of("branches"),
                     text_of(decltype(recorded::branches)::view(), "branches"));
  lamina::program_message m = lamina::to_program_message(decltype(recorded::reads)::view());
  lamina::add_feed_and_fetch(m, {},
                             {lamina::variable_name(decltype(recorded::reads)::view(),
                                                    decltype(recorded::reads)::view().outputs[0])});
  lamina::write_file(path_of("reads"),
                     lamina::native_source(lamina::loaded_program(m, "reads"),
                                           {.name = "reads", .origin = "the program of a test"}));
}
