// SPDX-License-Identifier: Apache-2.0
// Training with gradients of selected rows: as with whole gradients, for what the rows cost.
#include <cmath>
#include <set>

#include "train/net.hpp"

#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/optimizer/minimize.hpp>
#include <lamina/train/run.hpp>

namespace layer = test::layer;
namespace optimizer = test::optimizer;
namespace reader = test::reader;

namespace {

constexpr int dictionary = 23;

// Two lookups of one table, one of them by the words of a sentence, and another table.
template <bool Sparse>
constexpr auto net = lamina::program([](lamina::block& main) {
  const auto look_up = [](auto ids, int padding) {
    return layer::embedding<dictionary, 19>(
        ids, {.param = {.name = "words"}, .padding_idx = padding, .is_sparse = Sparse});
  };
  auto word = layer::sequence<"word", std::int64_t>(main);
  auto user = layer::data<"user", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto text = layer::sequence_pool(look_up(word, 1), {.type = lamina::pooling_type::sum});
  auto about = text + look_up(user, layer::no_padding);
  auto other =
      layer::embedding<dictionary, 4>(user, {.param = {.name = "users"}, .is_sparse = Sparse});
  auto logits = layer::fc<3>(std::tuple{about, other});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

template <bool Sparse>
using program_of = std::remove_const_t<decltype(net<Sparse>)>;

struct sample {
  std::vector<std::int64_t> word;
  std::int64_t user, label;
};

// Numbers from 0 to 16 and 20: three rows of the tables are never read. Many are read twice, and
// every fourth sentence has no words.
std::vector<sample> samples(int count) {
  std::vector<sample> all;
  unsigned state = 7;
  const auto draw = [&](unsigned n) {
    state = state * 1664525u + 1013904223u;
    return static_cast<std::int64_t>(state >> 16) % n;
  };
  for (int i = 0; i < count; ++i) {
    sample s{{}, i % 5 == 0 ? 20 : draw(17), draw(3)};
    for (int k = 0; k < i % 4; ++k) s.word.push_back(draw(17));
    all.push_back(s);
  }
  return all;
}

bool is_read(int row) { return row < 17 || row == 20; }

// Mini-batches of 7 and one of 1: with three threads, one of them may have no rows.
template <bool Sparse, class Opt>
lamina::model<program_of<Sparse>> train(const Opt& opt, int threads = 1, int count = 36) {
  lamina::model<program_of<Sparse>> m{net<Sparse>, 3};
  opt.train(m, samples(count) | reader::batch(7), {.passes = 3, .threads = threads});
  return m;
}

template <class Opt>
void check_same(const Opt& opt) {
  for (const int threads : {1, 3}) {
    INFO(Opt::type << " with " << threads << " threads");
    CHECK(test::distance(train<true>(opt, threads), train<false>(opt, threads)) < 1e-6);
    // A single sample: fewer than there are threads, from the first mini-batch on.
    CHECK(test::distance(train<true>(opt, threads, 1), train<false>(opt, threads, 1)) < 1e-6);
  }
}

}  // namespace

TEST_CASE("selected rows train as whole gradients do", "[threads]") {
  check_same(optimizer::sgd{.learning_rate = 0.5f});
  check_same(optimizer::sgd{.learning_rate = 0.5f, .regularization = lamina::l2_decay(0.1f)});
  check_same(optimizer::sgd{.learning_rate = 0.5f, .clip = lamina::clip_by_global_norm(0.05f)});
  check_same(optimizer::adam{.learning_rate = 0.05f});
}

TEST_CASE("lazy adam leaves the rows that were not read as they are", "[threads]") {
  const optimizer::adam lazy{.learning_rate = 0.05f, .lazy_mode = true};
  using program = program_of<true>;
  for (const int threads : {1, 3}) {
    lamina::model<program> m{net<true>, 3};
    lamina::cpu_trainer<program, optimizer::adam> t(lazy, m, threads);
    lamina::gradient_machine<program> g{m};
    std::vector<double> m1[2], m2[2];
    const std::vector<sample> all = samples(12);
    for (int step = 0; step < 4; ++step) {
      const std::vector<sample> batch(all.begin() + 3 * step, all.begin() + 3 * step + 3);
      std::set<std::int64_t> read[2];
      for (const sample& s : batch) {
        read[0].insert(s.user), read[1].insert(s.user);
        for (const std::int64_t w : s.word)
          if (w != 1) read[0].insert(w);
      }
      lamina::feeder<program> feed;
      feed.fill(batch);
      g.backward(batch);
      const lamina::array<float> grad[2] = {g.gradient<"words">(), g.gradient<"users">()};
      const lamina::array<float> before[2] = {m.parameter<"words">(), m.parameter<"users">()};
      t.step(feed.view());
      const lamina::array<float> after[2] = {m.parameter<"words">(), m.parameter<"users">()};
      const double rate =
          0.05 * std::sqrt(1 - std::pow(0.999, step + 1)) / (1 - std::pow(0.9, step + 1));
      for (int p = 0; p < 2; ++p) {
        const std::size_t width = before[p].shape()[1];
        m1[p].resize(before[p].size()), m2[p].resize(before[p].size());
        double worst = 0;
        for (std::size_t k = 0; k < before[p].size(); ++k) {
          if (read[p].count(static_cast<std::int64_t>(k / width)) == 0) {
            REQUIRE(after[p].data()[k] == before[p].data()[k]);
            continue;
          }
          const double d = static_cast<double>(grad[p].data()[k]);
          m1[p][k] = 0.9 * m1[p][k] + 0.1 * d;
          m2[p][k] = 0.999 * m2[p][k] + 0.001 * d * d;
          const double expected = static_cast<double>(before[p].data()[k]) -
                                  rate * m1[p][k] / (std::sqrt(m2[p][k]) + 1e-8);
          worst = std::max(worst, std::abs(static_cast<double>(after[p].data()[k]) - expected));
        }
        INFO("parameter " << p << ", step " << step << ", " << threads << " threads");
        CHECK(worst < 2e-5);
      }
    }
  }
}

TEST_CASE("selected rows give the same bits each time, and go on after a stop", "[threads]") {
  const optimizer::adam lazy{.learning_rate = 0.05f, .lazy_mode = true};
  const auto one = train<true>(lazy), two = train<true>(lazy, 2);
  CHECK(test::bytes_of(two) == test::bytes_of(train<true>(lazy, 2)));
  CHECK(test::distance(one, two) < 1e-4);
  const lamina::array<float> first =
      lamina::model<program_of<true>>{net<true>, 3}.parameter<"words">();
  const lamina::array<float> last = one.parameter<"words">();
  for (int r = 0; r < dictionary; ++r) CHECK((last(r, 0) != first(r, 0)) == (is_read(r) && r != 1));

  const test::folder folder;
  lamina::model<program_of<true>> part{net<true>, 3}, whole{net<true>, 99};
  lamina::train_options o{.passes = 1};
  o.checkpoint = {.directory = folder.string(), .resume = true};
  lazy.train(part, samples(36) | reader::batch(7), o);
  o.passes = 3;
  lazy.train(whole, samples(36) | reader::batch(7), o);
  CHECK(test::bytes_of(whole) == test::bytes_of(one));
}

namespace {

// A table that a product reads too has a whole gradient, and so has one that a loop reads.
template <bool Sparse>
constexpr auto mixed = lamina::program([](lamina::block& main) {
  auto bag = layer::data<"bag", float, 6>(main);
  auto id = layer::data<"id", std::int64_t>(main);
  const auto look_up = [&](std::string_view name) {
    return layer::embedding<6, 5>(id, {.param = {.name = name}, .is_sparse = Sparse});
  };
  auto h = layer::fc<5>(bag, {.param = {.name = "both"}}) + look_up("both");
  auto i = layer::fill_constant<std::int64_t>(main, 0),
       n = layer::fill_constant<std::int64_t>(main, 3);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](lamina::block&) {
    h = layer::tanh(h + look_up("looped"));
    layer::increment(i);
    layer::less_than(i, n, going);
  });
  return layer::mean(layer::square(h));
});

template <bool Sparse>
std::vector<lamina::array<float>> gradients() {
  lamina::model m{mixed<Sparse>, 3};
  lamina::gradient_machine g{m};
  const float bag[2][6] = {{1, 2, 0, 0, -1, 0}, {0, 0, 3, 1, 0, 1}};
  const std::int64_t id[2] = {4, 4};
  const void* data[] = {bag, id};
  g.backward(2, data);
  return {g.template gradient<"both">(), g.template gradient<"looped">()};
}

// A training loop that is a program.
template <class Opt, const Opt& opt, bool Sparse>
constexpr auto loop = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto last = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& body) {
    auto [id, y] =
        layer::read_minibatch<"train", lamina::field<std::int64_t>, lamina::field<float>>(body,
                                                                                          more);
    auto e = layer::embedding<dictionary, 5>(id, {.param = {.name = "e"}, .is_sparse = Sparse});
    auto cost = layer::mean(layer::square(layer::fc<1>(layer::tanh(e)) - y));
    opt.minimize(cost);
    last = cost;
  });
  return last;
});

constexpr optimizer::adagrad adagrad{.learning_rate = 0.1f};

template <bool Sparse>
auto looped() {
  lamina::model m{loop<optimizer::adagrad, adagrad, Sparse>, 3};
  std::vector<std::vector<std::tuple<std::int64_t, float>>> batches;
  for (int b = 0; b < 6; ++b)
    batches.push_back({{b, 1.0f}, {2 * b, 0.5f}, {b, -1.0f}, {20, 0.25f * static_cast<float>(b)}});
  lamina::run(m, batches);
  return m;
}

}  // namespace

TEST_CASE("tables that products or loops read have whole gradients") {
  CHECK(gradients<true>() == gradients<false>());
}

TEST_CASE("a training loop that is a program updates rows") {
  CHECK(test::distance(looped<true>(), looped<false>()) < 1e-6);
}

TEST_CASE("memory for gradients of rows does not depend on the dictionary") {
  using training = lamina::training_program<program_of<true>, optimizer::adam>;
  using dense = lamina::training_program<program_of<false>, optimizer::adam>;
  STATIC_REQUIRE(lamina::plan<training>::memory.fixed_size + dictionary * lamina::padded(19) <=
                 lamina::plan<dense>::memory.fixed_size);
}
