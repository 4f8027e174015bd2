// SPDX-License-Identifier: Apache-2.0
// Tables with is_sparse in double: training as with whole gradients, to the digits of double.
#include "train/optimizer_step.hpp"

#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/minimize.hpp>
#include <lamina/train/run.hpp>

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;

namespace {

constexpr int dictionary = 23;

// Two lookups of one table, wider than a panel; a table that a product reads too.
template <bool Sparse>
constexpr auto net = lamina::program([](lamina::block& main) {
  auto bag = layer::data<"bag", double, dictionary>(main);
  auto word = layer::data<"word", std::int64_t>(main);
  auto other = layer::data<"other", std::int64_t>(main);
  const auto look_up = [](auto ids, std::string_view name) {
    return layer::embedding<dictionary, 19, double>(ids,
                                                    {.param = {.name = name}, .is_sparse = Sparse});
  };
  auto read = layer::fc<19>(bag, {.param = {.name = "both"}}) + look_up(word, "both");
  auto about = layer::tanh(read + look_up(word, "rows") * look_up(other, "rows"));
  return layer::mean(layer::square(layer::fc<3>(about)));
});
template <bool Sparse>
using program_of = std::remove_const_t<decltype(net<Sparse>)>;

struct sample {
  std::vector<double> bag;
  std::int64_t word, other;
};
std::vector<sample> samples(int count) {
  std::vector<sample> all;
  for (int i = 0; i < count; ++i) {
    sample s{std::vector<double>(dictionary), (7 * i) % 17, i % 3 == 0 ? 20 : i % 5};
    for (std::size_t k = 0; k < s.bag.size(); ++k)
      s.bag[k] = 0.01 * static_cast<double>((i * 31 + static_cast<int>(k) * 17) % 101) - 0.5;
    all.push_back(s);
  }
  return all;
}

// Mini-batches of 7 and one of 1: with three threads, one of them may have no rows.
template <bool Sparse, class Opt>
lamina::model<program_of<Sparse>> train(const Opt& opt, int threads) {
  lamina::model<program_of<Sparse>> m{net<Sparse>, 3};
  opt.train(m, samples(36) | lamina::reader::batch(7), {.passes = 3, .threads = threads});
  return m;
}
template <class Opt>
void check_same(const Opt& opt) {
  for (const int threads : {1, 3}) {
    INFO(Opt::type << " with " << threads << " threads");
    const auto of_rows = train<true>(opt, threads);
    CHECK(test::distance(of_rows, train<false>(opt, threads)) < 1e-14);
    CHECK(test::distance(of_rows, lamina::model<program_of<true>>{net<true>, 3}) > 1e-3);
  }
}

constexpr optimizer::adagrad adagrad{.learning_rate = 0.1f};

// A training loop that is a program.
template <bool Sparse>
constexpr auto loop = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto last = layer::fill_constant<double>(main, 0);
  layer::while_loop(more, [&](lamina::block& body) {
    auto [id, y] =
        layer::read_minibatch<"train", lamina::field<std::int64_t>, lamina::field<double>>(body,
                                                                                           more);
    auto e =
        layer::embedding<dictionary, 5, double>(id, {.param = {.name = "e"}, .is_sparse = Sparse});
    auto cost = layer::mean(layer::square(layer::fc<1>(layer::tanh(e)) - y));
    adagrad.minimize(cost);
    last = cost;
  });
  return last;
});
template <bool Sparse>
auto looped() {
  lamina::model m{loop<Sparse>, 3};
  std::vector<std::vector<std::tuple<std::int64_t, double>>> batches;
  for (int b = 0; b < 6; ++b)
    batches.push_back({{b, 1.0}, {2 * b, 0.5}, {b, -1.0}, {20, 0.25 * b}});
  lamina::run(m, batches);
  return m;
}

}  // namespace

TEST_CASE("selected rows in double train as whole gradients do", "[threads]") {
  check_same(optimizer::sgd{.learning_rate = 0.5f});
  check_same(optimizer::sgd{.learning_rate = 0.5f, .clip = lamina::clip_by_global_norm(0.05f)});
  check_same(optimizer::adam{.learning_rate = 0.05f});
}

TEST_CASE("lazy adam in double leaves the rows that were not read as they are", "[threads]") {
  const optimizer::adam lazy{.learning_rate = 0.05f, .lazy_mode = true};
  const auto first = lamina::model<program_of<true>>{net<true>, 3}.parameter<"rows">();
  const auto one = train<true>(lazy, 1), three = train<true>(lazy, 3);
  CHECK(test::distance(one, three) < 1e-12);
  const lamina::array<double> last = one.parameter<"rows">();
  for (std::size_t r = 0; r < dictionary; ++r)
    for (std::size_t k = 0; k < 19; ++k) CHECK((last(r, k) != first(r, k)) == (r < 17 || r == 20));
}

TEST_CASE("gradients of rows in double are those of whole tables") {
  lamina::model sparse{net<true>, 3};
  lamina::model whole{net<false>, 3};
  lamina::gradient_machine of_rows{sparse};
  lamina::gradient_machine of_tables{whole};
  const std::vector<sample> batch = samples(9);
  CHECK(of_rows.backward(batch) == of_tables.backward(batch));
  CHECK(of_rows.gradient<"rows">() == of_tables.gradient<"rows">());
  CHECK(of_rows.gradient<"both">() == of_tables.gradient<"both">());
}

TEST_CASE("a training loop in double that is a program updates rows") {
  CHECK(test::distance(looped<true>(), looped<false>()) < 1e-15);
}
