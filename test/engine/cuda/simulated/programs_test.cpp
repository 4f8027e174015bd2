// SPDX-License-Identifier: Apache-2.0
// Whole programs by the calls to a device that device_backend makes: streams that work when they
// like, memory that the host cannot touch, captured graphs.
// clang-format off
#include "engine/cuda/simulated/device.hpp"  // before who includes the real headers
// clang-format on
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "engine/cuda/choice_programs.hpp"
#include "engine/cuda/dense_programs.hpp"
#include "engine/cuda/dynamic_sequence_programs.hpp"
#include "engine/cuda/image_programs.hpp"
#include "engine/cuda/loop_programs.hpp"
#include "engine/cuda/norm_programs.hpp"
#include "engine/cuda/product_programs.hpp"
#include "engine/cuda/recurrence_programs.hpp"
#include "engine/cuda/selected_rows_programs.hpp"
#include "engine/cuda/sequence_programs.hpp"
#include "engine/cuda/training_programs.hpp"
#include <catch2/catch.hpp>

namespace simulated = test::simulated;
namespace optimizer = lamina::optimizer;

namespace {

constexpr optimizer::sgd sgd{.learning_rate = 0.1f};
// Sizes that come back: run, captured as a graph, and replayed from then on.
const std::vector<int> sizes = {5, 9, 5, 5, 5, 9, 9, 1};

/// The worst difference from the CPU under every order of the streams' work; 1 where a rule of the
/// runtime is broken or something is not given back.
template <class P, class Opt>
double worst_of(P program, const Opt& opt, const std::vector<int>& rows = sizes, int classes = 5,
                test::sequence_lengths lengths = test::sequence_lengths::any) {
  double worst = 0;
  for (const auto order : {simulated::schedule::late, simulated::schedule::early,
                           simulated::schedule::random, simulated::schedule::random}) {
    simulated::begin_test(order, static_cast<unsigned>(worst * 1e9) + 7);
    {
      simulated::device d(0);
      worst = std::max(worst, test::train_both(program, opt, d, rows, classes, lengths).worst());
    }
    CHECK(simulated::now.broken_rules == "");
    CHECK(simulated::now.gave_all_back());
  }
  return worst;
}

/// The calls of a step of training that launches what was recorded, its cost and metric included.
template <class P, class Opt>
std::vector<std::string> calls_of_step(P program, const Opt& opt) {
  simulated::begin_test();
  simulated::device d(0);
  lamina::model m{program, 3};
  lamina::device_trainer<P, Opt, simulated::device> t(d, opt, m, 11);
  const test::random_samples<P> s(4, 5);
  for (int i = 0; i < 3; ++i) t.step(s.batch(0, 4));
  simulated::now.names.clear();
  const float cost = t.step(s.batch(0, 4));
  CHECK(cost > 0);
  if constexpr (lamina::program_metrics<P>::count > 0) CHECK(t.metric(0) >= 0);
  return simulated::now.names;
}

}  // namespace

TEST_CASE("a step asks a device for one graph, and waits for it once") {
  const auto count = [](const std::vector<std::string>& calls, const char* name) {
    return std::count(calls.begin(), calls.end(), name);
  };
  for (const auto& calls : {calls_of_step(test::lenet, sgd),
                            calls_of_step(test::lenet, optimizer::adam{.learning_rate = 0.01f}),
                            calls_of_step(test::steps, sgd)}) {
    CHECK(count(calls, "cudaGraphLaunch") == 1);
    CHECK(count(calls, "cudaStreamSynchronize") == 1);
    CHECK(count(calls, "cudaMemcpyAsync") == 0);
    CHECK(count(calls, "launch") == 0);
  }
}

TEST_CASE("with LAMINA_CUDA_GRAPHS=0 nothing is captured") {
  simulated::begin_test();
  setenv("LAMINA_CUDA_GRAPHS", "0", 1);
  simulated::device d(0);
  CHECK(test::train_both(test::classes, sgd, d, sizes).worst() < 1e-5);
  CHECK(simulated::now.graphs_launched == 0);
}

TEST_CASE("programs without loops by the calls of a device") {
  CHECK(worst_of(test::classes, optimizer::momentum{.learning_rate = 0.1f}) < 1e-5);
  CHECK(simulated::now.graphs_launched == 4);
  CHECK(worst_of(test::functions, optimizer::adam{.learning_rate = 0.01f}) < 1e-3);
  CHECK(worst_of(test::uneven, sgd) < 1e-4);
  CHECK(worst_of(test::lenet, sgd, {3, 3, 3}) < 1e-3);
  // Parts of sums end where the memory does.
  CHECK(worst_of(test::normalised_images<28, 28>, sgd, {11, 4, 11, 11, 16}) < 1e-3);
  CHECK(worst_of(test::normalised_columns, sgd, {300, 40, 300, 300, 700}) < 1e-3);
  CHECK(worst_of(test::normalised_rows, sgd, {60, 9, 60, 60, 100}) < 1e-3);
  CHECK(worst_of(test::sentences, sgd) < 1e-4);
  const optimizer::momentum limited{.learning_rate = 0.1f, .clip = lamina::clip_by_global_norm(1)};
  CHECK(worst_of(test::classes, limited) < 1e-5);
}

TEST_CASE("loops and branches by the calls of a device", "[loops]") {
  const std::vector<int> again = {5, 5, 5, 3, 5, 3, 3};
  CHECK(worst_of(test::steps, sgd, again) < 1e-4);
  CHECK(simulated::now.graphs_launched == 5);
  CHECK(worst_of(test::nested, sgd, again) < 1e-4);
  CHECK(worst_of(test::ragged, sgd, again) < 1e-4);
  CHECK(simulated::now.graphs_launched == 0);
  CHECK(worst_of(test::gated, sgd, again) < 1e-4);
  CHECK(simulated::now.graphs_launched == 5);
  CHECK(worst_of(test::repeated, sgd, again) < 1e-4);
  // The host waits for conditions and for the number of chosen rows: nothing is captured.
  for (const double apart :
       {worst_of(test::decided, sgd, again), worst_of(test::halved, sgd, again),
        worst_of(test::branches, sgd, again), worst_of(test::choices, sgd, again),
        worst_of(test::parted, sgd, {1, 1, 2, 2, 5, 5})}) {
    CHECK(apart < 1e-4);
    CHECK(simulated::now.graphs_launched == 0);
  }
  CHECK(worst_of(test::recurrence, sgd, again) < 1e-4);
  CHECK(worst_of(test::unit_cells, sgd, {3, 5, 3, 3}) < 1e-4);
}

TEST_CASE("tables and made sequences by the calls of a device") {
  const optimizer::adam lazy{.learning_rate = 0.01f, .lazy_mode = true};
  CHECK(worst_of(test::tables, lazy) < 1e-3);
  CHECK(worst_of(test::kept_words, sgd) < 1e-3);
  CHECK(worst_of(test::paragraphs, sgd) < 1e-3);
  CHECK(worst_of(test::recurrences, sgd, {3, 5, 3, 3}) < 1e-3);
}

TEST_CASE("training loops as programs by the calls of a device") {
  static constexpr optimizer::adam limited{.learning_rate = 0.02f,
                                           .clip = lamina::clip_by_global_norm(0.2f)};
  static constexpr optimizer::adam lazy{.learning_rate = 0.01f, .lazy_mode = true};
  for (const auto order : {simulated::schedule::late, simulated::schedule::random}) {
    simulated::begin_test(order);
    {
      simulated::device d(0);
      CHECK(test::run_both(test::trained<limited>, d, test::row_minibatches()).worst() < 1e-3);
      CHECK(test::run_both(test::passes<lazy>, d, test::sentence_minibatches()).worst() < 1e-3);
    }
    CHECK(simulated::now.broken_rules == "");
    CHECK(simulated::now.gave_all_back());
  }
}
