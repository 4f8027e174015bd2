// SPDX-License-Identifier: Apache-2.0
// char_rnn - a recurrence written by hand learns to write on, character by character; takes a text
//
// The step of a dynamic_rnn is a gated recurrent unit (Cho et al. 2014). A second program, of one
// step, shares the parameters and writes. The text is a file of UTF-8, best of 100 kB and more; the
// last tenth of it is for testing. Without one the program learns from made-up sentences.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/dataset/text.hpp>
#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;
namespace text = lamina::dataset::text;

constexpr int alphabet_size = 96, width = 256;

constexpr lamina::param_attr shared(std::string_view name) { return {.name = name}; }
// What the character itself adds to both gates and to the candidate, for all steps at once.
constexpr auto gates_of = [](auto characters) {
  return layer::embedding<alphabet_size, 2 * width>(characters, {.param = shared("gates_in")});
};
constexpr auto candidate_of = [](auto characters) {
  return layer::embedding<alphabet_size, width>(characters, {.param = shared("candidate_in")});
};
// The state behind a character from the one before it.
constexpr auto next_state = [](auto gates_in, auto candidate_in, auto before) {
  auto from_state = layer::fc<2 * width>(
      before, {.param = shared("gates_weight"), .bias_param = shared("gates_bias")});
  auto [update, reset] = layer::split<2>(layer::sigmoid(gates_in + from_state));
  auto rest = layer::fc<width>(reset * before, {.param = shared("candidate_weight"),
                                                .bias_param = shared("candidate_bias")});
  return before + update * (layer::tanh(candidate_in + rest) - before);
};
constexpr auto logits_of = [](auto state) {
  return layer::fc<alphabet_size>(
      state, {.param = shared("logits_weight"), .bias_param = shared("logits_bias")});
};

constexpr auto reads = lamina::program([](lamina::block& main) {
  auto characters = layer::sequence<"characters", std::int64_t>(main);
  auto next = layer::sequence<"next", std::int64_t>(characters);
  auto gates_in = gates_of(characters);
  auto candidate_in = candidate_of(characters);
  auto states = layer::dynamic_rnn(characters, [&](auto& step) {
    auto before = step.memory(lamina::dims<width>);
    auto state = next_state(step.input(gates_in), step.input(candidate_in), before);
    step.update(before, state);
    return state;
  });
  return layer::mean(layer::softmax_with_cross_entropy(logits_of(states), next));
});

constexpr auto writes = lamina::program([](lamina::block& main) {
  auto character = layer::data<"character", std::int64_t>(main);
  auto before = layer::data<"before", float, width>(main);
  auto state = next_state(gates_of(character), candidate_of(character), before);
  layer::assign(state, {.name = "state"});
  return layer::softmax(logits_of(state), {.name = "chances"});
});

using reading_model = decltype(lamina::model{reads});

// Writes `count` characters behind an empty line.
std::string written(const reading_model& model, const lamina::dataset::dictionary& alphabet,
                    int count) {
  lamina::model writer{writes, lamina::share_parameters_of(model)};
  lamina::evaluator step{writer};
  std::vector<float> state(width);
  std::int64_t character = alphabet.id("\n");
  std::string all;
  for (int i = 0; i < count; ++i) {
    step.forward(lamina::feed<"character">(&character, 1), lamina::feed<"before">(state));
    const auto after = step.activation<"state">();
    std::copy(after.begin(), after.end(), state.begin());
    const auto chances = step.activation<"chances">();
    float left = lamina::uniform_at(1, 0, static_cast<std::uint64_t>(i));
    for (character = 1; character + 1 < alphabet.size(); ++character)
      if ((left -= chances(0, character)) < 0) break;
    all += alphabet.word(character);
  }
  return all;
}

// Sentences of one word of each kind. Their entropy is 0.25 nats a character: nothing does better.
text::source made_up() {
  constexpr const char* words[][4] = {{"the ", "a ", "one ", "every "},
                                      {"grey ", "old ", "small ", "quick "},
                                      {"horse ", "cat ", "bird ", "fox "},
                                      {"follows ", "sees ", "fears ", "likes "},
                                      {"apples.\n", "rain.\n", "children.\n", "snow.\n"}};
  std::string all;
  for (std::uint64_t i = 0; i < 2600; ++i) all += words[i % 5][lamina::philox(1, 0, i).word[0] % 4];
  return text::parse(all, {.alphabet_size = alphabet_size});
}

int main(int count, char** argument) try {
  const bool real = count > 1;
  if (!real) std::puts("no text given: using made-up sentences");
  const auto data = real ? text::read(argument[1], {.alphabet_size = alphabet_size}) : made_up();
  const std::size_t length = real ? 100 : 50, batch = real ? 32 : 8;
  constexpr int passes = 10;
  const auto train = data.train(length);
  const auto updates = static_cast<std::int64_t>(train.size() / batch) * passes;
  lamina::model model{reads};
  lamina::optimizer::adam{
      .learning_rate = lamina::schedule::polynomial_decay{4e-3f, updates, 4e-5f},
      .clip = lamina::clip_by_global_norm(1)}
      .train(model, train | reader::shuffle(train.size()) | reader::batch(batch),
             {.passes = passes, .threads = 2, .on_event = lamina::progress_bar{passes}});
  std::puts(written(model, data.alphabet(), real ? 600 : 150).c_str());

  // Longer pieces than in training, for the first characters of each are guessed from little. The
  // last one is shorter: without it the mean over pieces is the mean over characters.
  const auto test = data.test(10 * length);
  const auto whole = test.slice(0, std::max<std::size_t>(test.size(), 2) - 1);
  const double loss = lamina::evaluator{model}.test(whole | reader::batch(10)).cost;
  std::printf("test loss %.3f nats a character\n", loss);
  return real || loss < 0.3 ? 0 : 1;
} catch (const lamina::error& e) {
  std::puts(e.what());
  return 1;
}
