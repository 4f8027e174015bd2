// SPDX-License-Identifier: Apache-2.0
// Training loops that are programs, run by ranks that are threads of this process.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>

#include <lamina/distributed/transpile/grad_all_reduce.hpp>
#include <lamina/lamina.hpp>

namespace {

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
using integer = std::int64_t;

/// Rows of two kinds, a recurrence, random masks, a limit on the norm of all gradients, a count
/// that the program stores, and a schedule.
constexpr auto recurrent = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto sum = layer::fill_constant<float>(main, 0);
  auto steps = layer::create_global_var<float>(main, 0, {.name = "steps"});
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [words, label] = layer::read_minibatch<"train", lamina::sequence_field<"words", integer>,
                                                lamina::field<integer>>(loop, more);
    auto e = layer::embedding<12, 6>(words);
    auto last = layer::dynamic_rnn(e, [&](auto& step) {
      auto h = step.memory(lamina::dims<9>);
      step.update(h, layer::tanh(layer::fc<9>(std::tuple{step.input(e), h})));
      return step.last(h);
    });
    auto logits = layer::fc<3>(layer::dropout(last, 0.3f));
    auto cost = layer::mean(layer::softmax_with_cross_entropy(logits, label));
    optimizer::momentum{
        .learning_rate = 0.2f, .momentum = 0.9f, .clip = lamina::clip_by_global_norm(0.4f)}
        .minimize(cost);
    layer::store(steps + 1.0f, steps);
    sum = sum + cost;
  });
  return sum;
});
constexpr auto divided = lamina::transform::grad_all_reduce(recurrent);
constexpr auto divided_by_two = lamina::transform::grad_all_reduce<2>(recurrent);
using divided_type = std::remove_const_t<decltype(divided)>;

// -- what the transform records ------------------------------------------------------------------

template <class P>
constexpr int count_of(std::string_view type) {
  int n = 0;
  for (int k = 0; k < lamina::counts_of<P>.operators; ++k)
    n += P::desc.operators[k].schema->type == type;
  return n;
}
/// Whether updates and clips read only gradients that are summed over processes.
template <class P>
constexpr bool reads_sums() {
  const auto& p = P::desc;
  bool all = true;
  const auto require = [&](int gradient, int before) {
    bool made = false;
    for (int k = 0; k < before; ++k)
      made = made || (std::string_view(p.operators[k].schema->type) == "c_allreduce_sum" &&
                      p.arguments[p.operators[k].outputs] == gradient);
    all = all && made;
  };
  for (int k = 0; k < p.count.operators; ++k) {
    const lamina::operator_desc& op = p.operators[k];
    if (op.schema->kind == lamina::operator_kind::update) require(p.arguments[op.inputs + 1], k);
    if (std::string_view(op.schema->type) != "gradient_scale") continue;
    for (int i = 1; i <= p.arguments[op.inputs]; ++i) require(p.arguments[op.inputs + i], k);
  }
  return all;
}
using recurrent_type = std::remove_const_t<decltype(recurrent)>;
using fixed_type = std::remove_const_t<decltype(divided_by_two)>;
constexpr int parameters = recurrent_type::desc.count.parameters - 1;  // without `steps`
static_assert(reads_sums<divided_type>() && reads_sums<fixed_type>());
static_assert(!reads_sums<recurrent_type>());
// One per gradient; the samples, the cost and the stored count, or the count alone.
static_assert(count_of<divided_type>("c_allreduce_sum") == parameters + 3);
static_assert(count_of<fixed_type>("c_allreduce_sum") == parameters + 1);
static_assert(count_of<divided_type>("c_allreduce_max") == 1);
static_assert(count_of<fixed_type>("scale") == count_of<recurrent_type>("scale") + 1);
// An evaluation has none of them but for the cost.
using test_type = std::remove_const_t<decltype(lamina::transform::clone_for_test(divided))>;
static_assert(count_of<test_type>("c_allreduce_max") == 0);

// -- what runs -----------------------------------------------------------------------------------

using sample = std::tuple<std::vector<integer>, integer>;
std::vector<sample> texts(int count) {
  std::vector<sample> all;
  std::uint32_t state = 7;
  const auto draw = [&](std::uint32_t n) {
    state = state * 1664525u + 1013904223u;
    return static_cast<integer>((state >> 16) % n);
  };
  for (int i = 0; i < count; ++i) {
    sample s;
    for (integer n = draw(6) + (i % 5 == 0 ? 7 : 0); n >= 0; --n)
      std::get<0>(s).push_back(draw(12));
    std::get<1>(s) = draw(3);
    all.push_back(s);
  }
  return all;
}

struct found {
  std::vector<float> parameters;
  double cost = 0;
  integer samples = 0, minibatches = 0;
  float steps = 0;
  std::string error;
};
template <class Net, class Reader>
found outcome(const Net& net, const Reader& reader, lamina::run_program_options options) {
  // Ranks begin with different numbers: they take those of rank 0.
  lamina::model m{net,
                  1u + static_cast<unsigned>(options.world == nullptr ? 0 : options.world->rank())};
  found f;
  try {
    const lamina::run_summary r = lamina::run(m, reader, options);
    f.cost = r.cost, f.samples = r.samples, f.minibatches = r.minibatches;
  } catch (const lamina::error& e) {
    f.error = e.what();
  }
  for (int i = 0; i < m.parameter_arrays(); ++i) {
    const auto a = m.get(i);
    f.parameters.insert(f.parameters.end(), a.data(), a.data() + a.size());
  }
  return f;
}
/// Runs a net in ranks; reader_of(world) is the reader of a rank.
template <class Net, class ReaderOf, class Change>
std::vector<found> in_ranks(int ranks, const Net& net, const ReaderOf& reader_of,
                            const Change& change) {
  std::vector<found> all(static_cast<std::size_t>(ranks));
  test::in_ranks(ranks, [&](test::thread_group& w) {
    lamina::run_program_options options{.seed = 5, .world = &w};
    change(options, w.rank());
    all[static_cast<std::size_t>(w.rank())] = outcome(net, reader_of(w), options);
  });
  return all;
}
const auto as_they_are = [](lamina::run_program_options&, int) {};

void require_near(const found& a, const found& b) {
  REQUIRE(a.parameters.size() == b.parameters.size());
  for (std::size_t i = 0; i < a.parameters.size(); ++i)
    REQUIRE(a.parameters[i] == Approx(b.parameters[i]).margin(2e-6));
  CHECK(a.cost == Approx(b.cost).epsilon(1e-6));
}

TEST_CASE("Ranks train a program as one process does, and have the same bits") {
  // The last mini-batch has fewer samples than there are ranks.
  const auto data = texts(43);
  const auto reader = data | lamina::reader::batch(10);
  const found alone = outcome(recurrent, reader, {.seed = 5});
  REQUIRE(alone.error.empty());
  for (const int ranks : {1, 2, 3, 4}) {
    const auto all = in_ranks(
        ranks, divided, [&](auto&) { return reader; }, as_they_are);
    for (const found& f : all) {
      INFO(ranks << " ranks: " << f.error);
      REQUIRE(f.error.empty());
      CHECK(f.samples == 43);
      CHECK(f.minibatches == 5);
      CHECK(f.parameters == all[0].parameters);
      CHECK(f.cost == all[0].cost);
    }
    if (ranks == 1) CHECK(all[0].parameters == alone.parameters);
    require_near(all[0], alone);
  }
}

TEST_CASE("Without a world, the transformed program runs in one process") {
  const auto data = texts(20);
  const auto reader = data | lamina::reader::batch(10);
  CHECK(outcome(divided, reader, {.seed = 5}).parameters ==
        outcome(recurrent, reader, {.seed = 5}).parameters);
}

TEST_CASE("Ranks read shards of different lengths") {
  const auto data = texts(46);
  // Mini-batches of 2 * 4 samples; rank 0 has one shard more than rank 1.
  const found alone = outcome(recurrent, data | lamina::reader::batch(8), {.seed = 5});
  const auto all = in_ranks(
      2, divided,
      [&](test::thread_group& w) {
        return data | lamina::reader::shard(w, 4) | lamina::reader::batch(4);
      },
      [](lamina::run_program_options& options, int) { options.reads_shard = true; });
  for (const found& f : all) {
    INFO(f.error);
    REQUIRE(f.error.empty());
    CHECK(f.samples == 46);
    CHECK(f.parameters == all[0].parameters);
  }
  require_near(all[0], alone);
}

TEST_CASE("With a number of ranks, each counts the same") {
  const auto data = texts(40);
  const auto reader = data | lamina::reader::batch(10);
  const auto by = [&](int ranks) {
    return in_ranks(
        ranks, divided_by_two, [&](auto&) { return reader; }, as_they_are);
  };
  const auto two = by(2);
  REQUIRE(two[0].error.empty());
  CHECK(two[0].parameters == two[1].parameters);
  for (const found& f : by(3))
    CHECK(f.error ==
          "lamina: run: expected 2 processes, for which grad_all_reduce made the "
          "program, found 3");
  // One rank of two has no sample.
  for (const found& f : in_ranks(
           2, divided_by_two, [&](auto&) { return data | lamina::reader::batch(1); }, as_they_are))
    CHECK(f.error.find("expected samples for each of 2 processes in mini-batch 0") != f.error.npos);
}

TEST_CASE("Ranks that differ are an error in all of them") {
  const auto data = texts(40), others = texts(41);
  const auto batches = [&](int n) { return data | lamina::reader::batch(n); };
  const auto errors = [&](const auto& reader_of, const auto& change) {
    std::set<std::string> found_;
    for (const found& f : in_ranks(2, divided, reader_of, change)) found_.insert(f.error);
    REQUIRE(found_.size() == 1);
    return *found_.begin();
  };
  CHECK(errors([&](auto&) { return batches(10); },
               [](lamina::run_program_options& o, int r) { o.seed = static_cast<unsigned>(r); })
            .find("expected the same seed in each process") != std::string::npos);
  CHECK(errors([&](auto& w) { return batches(10 + w.rank()); }, as_they_are)
            .find("expected the same mini-batch 0 in each process, found 10 samples in rank 0 and "
                  "11 in rank 1") != std::string::npos);
  CHECK(errors(
            [&](auto& w) {
              auto changed = data;
              std::get<1>(changed[3]) = (std::get<1>(changed[3]) + w.rank()) % 3;
              return std::move(changed) | lamina::reader::batch(10);
            },
            as_they_are)
            .find("expected the same first mini-batch") != std::string::npos);
  CHECK(errors([&](auto&) { return batches(10); },
               [](lamina::run_program_options& o, int) { o.reads_shard = true; })
            .find("expected samples of its own") != std::string::npos);
}

/// A loop that a rank leaves by its own samples, statistics of a batch, and a cost in all.
template <bool Leaves>
constexpr auto with_statistics = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto last = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [x, y] =
        layer::read_minibatch<"train", lamina::field<float, 4>, lamina::field<float>>(loop, more);
    auto h = layer::batch_norm(layer::fc<5>(x), {.act = lamina::activation::tanh});
    auto cost = layer::mean(layer::square_error_cost(layer::fc<1>(h), y));
    optimizer::sgd{.learning_rate = 0.1f}.minimize(cost);
    if constexpr (Leaves)
      more = layer::logical_and(more, layer::less_than(layer::mean(y), last + 100.0f));
    else
      last = cost;
  });
  return last;
});

std::vector<std::tuple<std::array<float, 4>, float>> points(int count) {
  std::vector<std::tuple<std::array<float, 4>, float>> all;
  for (int i = 0; i < count; ++i)
    all.push_back({{static_cast<float>(i % 7) - 3, static_cast<float>(i * 5 % 11) / 4,
                    static_cast<float>(i * i % 13) - 6, 1.0f},
                   static_cast<float>(i * 3 % 10) / 5});
  return all;
}

TEST_CASE("A rank that leaves the loop alone is an error in all ranks") {
  auto data = points(40);
  std::get<1>(data[19]) = 10000;  // a sample of rank 1 in the second mini-batch
  const auto reader = data | lamina::reader::batch(10);
  constexpr auto net = lamina::transform::grad_all_reduce(with_statistics<true>);
  const auto all = in_ranks(
      2, net, [&](auto&) { return reader; }, as_they_are);
  CHECK(all[0].error == all[1].error);
  CHECK(all[0].error ==
        "lamina: run: expected each process to do the same, found rank 0 reading mini-batch 2 and "
        "rank 1 at the end of its program, after 2 mini-batches");
}

TEST_CASE("Moving statistics are the means over the ranks") {
  const auto data = points(41);
  const auto reader = data | lamina::reader::batch(10);
  constexpr auto net = lamina::transform::grad_all_reduce(with_statistics<false>);
  const auto all = in_ranks(
      2, net, [&](auto&) { return reader; }, as_they_are);
  for (const found& f : all) {
    INFO(f.error);
    REQUIRE(f.error.empty());
    CHECK(f.parameters == all[0].parameters);
    for (const float p : f.parameters) CHECK(std::isfinite(p));
  }
  // The same training from outside, on two threads.
  constexpr auto outside = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 4>(main);
    auto y = layer::data<"y", float>(main);
    auto h = layer::batch_norm(layer::fc<5>(x), {.act = lamina::activation::tanh});
    return layer::mean(layer::square_error_cost(layer::fc<1>(h), y));
  });
  lamina::model m{outside, 1u};
  optimizer::sgd{.learning_rate = 0.1f}.train(m, reader, {.passes = 1, .threads = 2});
  std::size_t at = 0;
  for (int i = 0; i < m.parameter_arrays(); ++i) {
    const auto a = m.get(i);
    for (std::size_t k = 0; k < a.size(); ++k, ++at)
      REQUIRE(all[0].parameters[at] == Approx(a.data()[k]).margin(1e-5));
  }
}

TEST_CASE("Programs are run by sessions without parameter servers") {
  const auto data = texts(20);
  std::vector<std::string> errors(3);
  test::in_ranks(3,
                 [&](test::thread_group& w) {
                   errors[static_cast<std::size_t>(w.rank())] =
                       outcome(divided, data | lamina::reader::batch(10), {.world = &w}).error;
                 },
                 {.parameter_servers = 1});
  for (const std::string& e : errors)
    CHECK(e == "lamina: run: expected a session without parameter servers, found 1");
}

TEST_CASE("A program without sums over processes refuses several of them") {
  const auto data = texts(20);
  for (const found& f : in_ranks(
           2, recurrent, [&](auto&) { return data | lamina::reader::batch(10); }, as_they_are))
    CHECK(f.error.find("expected a program with c_allreduce_sum for several processes, found "
                       "none") != f.error.npos);
}

}  // namespace
