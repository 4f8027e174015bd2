// SPDX-License-Identifier: Apache-2.0
// Nets of all kinds whose training is divided: dense with dropout, convolutions with statistics of
// batches, sequences, loops, sparse rows, a CRF, and
// training loops that are programs. Without MPI, so that it is compiled once.

#include "distributed/nets.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <unistd.h>

#include <lamina/core/files/checksum.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/numbers/philox.hpp>
#include <lamina/distributed/transpile/grad_all_reduce.hpp>
#include <lamina/lamina.hpp>
#include <lamina/train/world.hpp>

namespace {

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;

/// Numbers that are the same in each process.
class numbers {
 public:
  explicit numbers(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::uint32_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state_ >> 33);
  }
  float real() { return static_cast<float>(next() % 2001) / 1000.0f - 1.0f; }
  std::int64_t below(std::uint32_t n) { return static_cast<std::int64_t>(next() % n); }

 private:
  std::uint64_t state_;
};

constexpr auto dense = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 20>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::dropout(layer::fc<33>(x, {.act = lamina::activation::relu}), 0.2f);
  auto logits = layer::fc<5>(h);
  return std::tuple{layer::mean(layer::softmax_with_cross_entropy(logits, label)),
                    layer::accuracy(logits, label, {.name = "metric"})};
});

constexpr auto conv = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1, 8, 8>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::batch_norm(layer::conv2d<6, 3, lamina::window{.padding = 1}>(x),
                             {.act = lamina::activation::relu});
  auto logits = layer::fc<2>(layer::pool2d<2, lamina::window{.stride = 2}>(h));
  return std::tuple{layer::mean(layer::softmax_with_cross_entropy(logits, label)),
                    layer::auc(layer::softmax(logits), label, {.name = "metric"})};
});

constexpr auto lstm = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto gates = layer::fc<48>(layer::embedding<30, 9>(words));
  auto hidden = std::get<0>(layer::dynamic_lstm<48>(gates));
  auto logits = layer::fc<3>(layer::sequence_pool(hidden, {.type = lamina::pooling_type::max}));
  return std::tuple{layer::mean(layer::softmax_with_cross_entropy(logits, label)),
                    layer::accuracy(logits, label, {.name = "metric"})};
});

/// A table that each process has whole, as parameter servers need it.
constexpr auto rows = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto found = layer::embedding<200, 10>(words, {.padding_idx = 3, .is_sparse = true});
  auto logits = layer::fc<3>(layer::sequence_pool(found));
  return std::tuple{layer::mean(layer::softmax_with_cross_entropy(logits, label)),
                    layer::accuracy(logits, label, {.name = "metric"})};
});

constexpr auto sparse = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  // Each process has the whole of one table and a part of the other.
  auto rows = layer::embedding<200, 10>(words, {.is_sparse = true});
  auto more = layer::embedding<200, 40>(words, {.padding_idx = 3, .is_distributed = true});
  auto logits = layer::fc<3>(
      layer::concat(std::tuple{layer::sequence_pool(rows), layer::sequence_pool(more)}));
  return std::tuple{layer::mean(layer::softmax_with_cross_entropy(logits, label)),
                    layer::accuracy(logits, label, {.name = "metric"})};
});

/// A table that is much larger than what a mini-batch reads of it.
constexpr auto table = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto rows = layer::embedding<1000000, 16>(words, {.is_distributed = true});
  auto logits = layer::fc<3>(layer::sequence_pool(rows));
  return std::tuple{layer::mean(layer::softmax_with_cross_entropy(logits, label)),
                    layer::accuracy(logits, label, {.name = "metric"})};
});

/// The same with a gradient of the whole table: its accumulators are most of the memory.
constexpr auto wide = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto logits = layer::fc<3>(layer::sequence_pool(layer::embedding<100000, 64>(words)));
  return std::tuple{layer::mean(layer::softmax_with_cross_entropy(logits, label)),
                    layer::accuracy(logits, label, {.name = "metric"})};
});

constexpr auto crf = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto tags = layer::sequence<"tags", std::int64_t>(words);
  auto scores = layer::fc<4>(layer::embedding<30, 8>(words));
  return layer::mean(layer::linear_chain_crf(scores, tags));
});

/// A loop in a loop: a recurrence over words, whose state a second loop of two steps goes on with.
constexpr auto loop = lamina::program([](lamina::block& main) {
  auto words = layer::sequence<"words", std::int64_t>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto e = layer::embedding<30, 9>(words);
  auto state = layer::dynamic_rnn(e, [&](auto& step) {
    auto h = step.memory(lamina::dims<11>);
    step.update(h, layer::tanh(layer::fc<11>(std::tuple{step.input(e), h})));
    return step.last(h);
  });
  auto i = layer::fill_constant<std::int64_t>(main, 0),
       n = layer::fill_constant<std::int64_t>(main, 2);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](lamina::block&) {
    state = layer::tanh(layer::fc<11>(state));
    layer::increment(i);
    layer::less_than(i, n, going);
  });
  auto logits = layer::fc<3>(state);
  return std::tuple{layer::mean(layer::softmax_with_cross_entropy(logits, label)),
                    layer::accuracy(logits, label, {.name = "metric"})};
});

/// A training loop that is a program. With Leaves, a process leaves it by its own samples.
template <bool Leaves>
constexpr auto training_loop = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  auto sum = layer::fill_constant<float>(main, 0);
  layer::while_loop(more, [&](lamina::block& body) {
    auto [x, label] =
        layer::read_minibatch<"train", lamina::field<float, 20>, lamina::field<std::int64_t>>(body,
                                                                                              more);
    auto h = layer::fc<33>(x, {.act = lamina::activation::tanh});
    auto cost = layer::mean(layer::softmax_with_cross_entropy(layer::fc<5>(h), label));
    optimizer::adam{.learning_rate = 0.01f}.minimize(cost);
    if constexpr (Leaves)
      more = layer::logical_and(more, layer::less_than(layer::reduce_max(x), sum + 100.0f));
    sum = sum + cost;
  });
  return sum;
});

template <std::size_t N>
auto images(std::uint32_t classes) {
  std::vector<std::tuple<std::array<float, N>, std::int64_t>> all;
  numbers draw(3);
  for (int i = 0; i < 90; ++i) {
    std::tuple<std::array<float, N>, std::int64_t> s;
    for (float& f : std::get<0>(s)) f = draw.real();
    std::get<1>(s) = draw.below(classes);
    all.push_back(s);
  }
  return all;
}
/// Samples whose label is the largest of the first five numbers.
auto ruled(int part, int parts) {
  auto all = images<20>(5);
  decltype(all) mine;
  numbers draw(6);
  for (int i = 0; i < 600; ++i) {
    auto s = all[0];
    auto& x = std::get<0>(s);
    for (float& f : x) f = draw.real();
    std::get<1>(s) = std::max_element(x.begin(), x.begin() + 5) - x.begin();
    if (i % parts == part) mine.push_back(s);
  }
  return mine;
}
auto texts(std::uint32_t words) {
  std::vector<std::tuple<std::vector<std::int64_t>, std::int64_t>> all;
  numbers draw(4);
  for (int i = 0; i < 90; ++i) {
    std::tuple<std::vector<std::int64_t>, std::int64_t> s;
    for (std::int64_t n = draw.below(7) + (i % 11 == 0 ? 20 : 0); n > 0; --n)
      std::get<0>(s).push_back(draw.below(words));
    std::get<1>(s) = draw.below(3);
    all.push_back(s);
  }
  return all;
}
auto tagged() {
  std::vector<std::tuple<std::vector<std::int64_t>, std::vector<std::int64_t>>> all;
  numbers draw(5);
  for (int i = 0; i < 90; ++i) {
    std::tuple<std::vector<std::int64_t>, std::vector<std::int64_t>> s;
    for (std::int64_t n = 1 + draw.below(9); n > 0; --n) {
      std::get<0>(s).push_back(draw.below(30));
      std::get<1>(s).push_back(draw.below(4));
    }
    all.push_back(s);
  }
  return all;
}

/// A number of bytes that the system tells of this process.
std::size_t bytes_of(std::string_view name) {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::size_t kibibytes = 0;
  while (status >> word)
    if (word == name) status >> kibibytes;
  return kibibytes * 1024;
}
/// The memory of this process that belongs to no file.
std::size_t resident_bytes() { return bytes_of("RssAnon:"); }
template <class Model>
std::uint64_t sum_of(const Model& m) {
  lamina::checksum sum;
  for (int i = 0; i < m.parameter_arrays(); ++i) {
    const auto a = m.get(i);
    sum.add(a.data(), a.size() * sizeof(float));
  }
  return sum.value();
}

template <class Net, class Samples, class Opt>
test::trained_net train(const Net& net, const Samples& samples, const Opt& opt,
                        lamina::train_options options) {
  const std::size_t before = resident_bytes();
  // One process, or several that divide the tables with is_distributed.
  lamina::model m =
      options.world != nullptr ? lamina::model{net, *options.world} : lamina::model{net};
  test::trained_net reached;
  const lamina::optimizer::event_handler given = options.on_event;
  options.on_event = [&](const lamina::event& e) {
    if (e.kind == lamina::event_kind::end_pass && !e.metrics.empty())
      reached.metric = e.metrics[0].value;
    if (e.kind == lamina::event_kind::end_iteration)
      reached.bytes_in_steps = (std::max)(reached.bytes_in_steps, resident_bytes() - before);
    if (given) given(e);
  };
  const lamina::train_result r =
      opt.train(m, samples | lamina::reader::shuffle(64, 7) | lamina::reader::batch(26), options);
  reached.cost = r.cost;
  reached.steps = r.steps;
  reached.bytes = resident_bytes() - before;
  reached.peak_bytes = bytes_of("VmHWM:");
  if (m.embedding() == nullptr) {
    reached.parameters = sum_of(m);
    return reached;
  }
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("lamina_nets_" + std::to_string(::getpid()));
  m.save(file);  // by all processes, into the file of the first
  if (options.world->rank() == 0) {
    lamina::model whole{net};
    whole.load(file);
    reached.parameters = sum_of(whole);
    std::filesystem::remove(file);
  }
  return reached;
}

/// Runs a training loop; the metric is the sum of the sizes of all parameters.
template <class Net, class Samples>
test::trained_net run(const Net& net, const Samples& samples,
                      const lamina::train_options& options) {
  lamina::model m{net};
  const lamina::run_summary r = lamina::run(m, samples | lamina::reader::batch(26),
                                            {.seed = options.seed, .world = options.world});
  test::trained_net reached{.parameters = sum_of(m), .cost = r.cost, .steps = r.minibatches};
  for (int i = 0; i < m.parameter_arrays(); ++i)
    for (const float p : m.get(i)) reached.metric += p < 0 ? -p : p;
  return reached;
}

template <class Net, class Samples>
test::trained_net with(std::string_view opt, const Net& net, const Samples& samples,
                       const lamina::train_options& options) {
  if (opt == "sgd") return train(net, samples, optimizer::sgd{.learning_rate = 0.1f}, options);
  if (opt == "momentum")
    return train(net, samples, optimizer::momentum{.learning_rate = 0.05f, .momentum = 0.9f},
                 options);
  if (opt == "adam") return train(net, samples, optimizer::adam{.learning_rate = 0.01f}, options);
  if (opt == "lazy")
    return train(net, samples, optimizer::adam{.learning_rate = 0.01f, .lazy_mode = true}, options);
  if (opt == "clipped")
    return train(net, samples,
                 optimizer::sgd{.learning_rate = 0.1f, .clip = lamina::clip_by_global_norm(0.05f)},
                 options);
  throw lamina::error("lamina: test: no optimizer of this name");
}

}  // namespace

namespace test {

std::vector<std::string> net_names() {
  return {"dense", "conv",  "lstm", "sparse", "rows",    "crf",
          "loop",  "table", "wide", "wrong",  "program", "leaves"};
}
std::vector<std::string> optimizer_names() {
  return {"sgd", "momentum", "adam", "clipped", "lazy"};
}

trained_net train_net(std::string_view net, std::string_view opt,
                      const lamina::train_options& options, int part, int parts) {
  if (net == "rule") return with(opt, dense, ruled(part, parts), options);
  if (net == "dense") return with(opt, dense, images<20>(5), options);
  if (net == "conv") return with(opt, conv, images<64>(2), options);
  if (net == "lstm") return with(opt, lstm, texts(30), options);
  if (net == "rows") return with(opt, rows, texts(200), options);
  if (net == "loop") return with(opt, loop, texts(30), options);
  if (net == "program")
    return run(lamina::transform::grad_all_reduce(training_loop<false>), images<20>(5), options);
  if (net == "leaves") {
    auto samples = images<20>(5);
    std::get<0>(samples[51])[3] = 1000;  // the last sample of the second mini-batch
    return run(lamina::transform::grad_all_reduce(training_loop<true>), samples, options);
  }
  if (net == "sparse") return with(opt, sparse, texts(200), options);
  if (net == "wrong") {
    auto samples = texts(200);
    std::get<0>(samples[40]) = {5, 200};  // an id that the tables do not have
    return with(opt, sparse, samples, options);
  }
  if (net == "table")
    return train(table, texts(1000000), optimizer::adam{.learning_rate = 0.01f, .lazy_mode = true},
                 options);
  if (net == "wide") return with(opt, wide, texts(100000), options);
  if (net == "crf") return with(opt, crf, tagged(), options);
  throw lamina::error("lamina: test: no net of this name");
}

}  // namespace test
