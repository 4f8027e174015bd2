// SPDX-License-Identifier: Apache-2.0
// Whole programs by the calls to a device that device_backend makes: streams that work when they
// like, memory that the host cannot touch, graphs with conditional nodes.
// clang-format off
#include "engine/cuda/simulated/device.hpp"  // before who includes the real headers
// clang-format on
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "engine/cuda/chain_programs.hpp"
#include "engine/cuda/choice_programs.hpp"
#include "engine/cuda/dense_programs.hpp"
#include "engine/cuda/image_programs.hpp"
#include "engine/cuda/loop_programs.hpp"
#include "engine/cuda/made_sequence_programs.hpp"
#include "engine/cuda/norm_programs.hpp"
#include "engine/cuda/places_both.hpp"
#include "engine/cuda/row_loop_programs.hpp"
#include "engine/cuda/selected_rows_programs.hpp"
#include "engine/cuda/sequence_programs.hpp"
#include "engine/cuda/training_programs.hpp"
#include <catch2/catch.hpp>

namespace simulated = test::simulated;
namespace optimizer = lamina::optimizer;

namespace {

constexpr optimizer::sgd sgd{.learning_rate = 0.1f};
// Sizes that come back: run, recorded as a graph, and launched from then on.
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

/// What a step of training launches where all sequences are as long.
int launches_of(int length) {
  using P = std::remove_const_t<decltype(test::recurrence)>;
  simulated::begin_test();
  simulated::device d(0);
  lamina::model m{test::recurrence, 3};
  lamina::device_trainer<P, optimizer::sgd, simulated::device> t(d, sgd, m, 11);
  const int offsets[] = {0, length, 2 * length, 3 * length};
  const std::vector<float> x(static_cast<std::size_t>(3 * 8 * length), 0.1f);
  lamina::batch_view<P> batch;
  batch.data[0] = reinterpret_cast<const std::byte*>(x.data());
  batch.rows.count[1] = 3, batch.rows.count[2] = 3 * length, batch.rows.offsets[2] = offsets;
  t.step(batch);
  simulated::now.names.clear();
  t.step(batch);
  return static_cast<int>(
      std::count(simulated::now.names.begin(), simulated::now.names.end(), "launch"));
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
  const auto plain = calls_of_step(test::lenet, sgd);
  CHECK(count(plain, "cudaGraphLaunch") == 1);
  CHECK(count(plain, "cudaStreamSynchronize") == 1);
  CHECK(count(plain, "cudaMemcpyAsync") == 0);
  // Nor does the host take part in the iterations of loops that values decide.
  const auto loops = calls_of_step(test::told_by_values, sgd);
  CHECK(count(loops, "cudaGraphLaunch") == 1);
  CHECK(count(loops, "cudaStreamSynchronize") == 1);
  CHECK(count(loops, "launch") == 0);
  // Adam's factors are others each step, and so is the seed of a dropout.
  for (const auto& calls : {calls_of_step(test::lenet, optimizer::adam{.learning_rate = 0.01f}),
                            calls_of_step(test::classes, sgd)}) {
    CHECK(count(calls, "cudaGraphLaunch") == 1);
    CHECK(count(calls, "cudaStreamSynchronize") == 1);
    CHECK(count(calls, "cudaMemcpyAsync") == 1);
  }
}

TEST_CASE("a recurrence written by hand is as many launches, however many steps it has") {
  // Rows of all steps go in and out at once, and forward and backward are a kernel each.
  CHECK(launches_of(9) == launches_of(4));
}

TEST_CASE("groups that have nothing to do with each other are branches of a graph") {
  // Weights, bias and input of a layer have gradients beside each other.
  CHECK(worst_of(test::classes, sgd) < 1e-5);
  CHECK(simulated::now.widest > 1);
  CHECK(worst_of(test::gated, sgd, {5, 5, 5}) < 1e-4);
  CHECK(simulated::now.graphs_launched == 2);
  CHECK(simulated::now.widest == 1);
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
  // Branches and loops that values decide are conditional nodes.
  CHECK(worst_of(test::decided, sgd, again) < 1e-4);
  CHECK(simulated::now.graphs_launched == 5);
  CHECK(simulated::now.conditions_made > 0);
  CHECK(worst_of(test::ragged, sgd, again) < 1e-4);
  CHECK(simulated::now.graphs_launched == 0);
  CHECK(worst_of(test::recurrence, sgd, again) < 1e-4);
  CHECK(worst_of(test::gated, sgd, again) < 1e-4);
  CHECK(simulated::now.graphs_launched == 5);
  CHECK(worst_of(test::repeated, sgd, again) < 1e-4);
  CHECK(worst_of(test::unit_cells, sgd, {3, 5, 3, 3}) < 1e-4);
  // So are loops whose gradients are wanted; where there is no room for another frame, the host
  // walks along, and then the program is recorded anew.
  CHECK(worst_of(test::halved, sgd, again) < 1e-4);
  CHECK(simulated::now.graphs_launched == 5);
  CHECK(worst_of(test::told_by_values, sgd, std::vector<int>(24, 3)) < 1e-4);
  CHECK(simulated::now.graphs_launched > 12);
  CHECK(simulated::now.graphs_launched < 23);
  // Branches of rows have as many rows as there are in all.
  CHECK(worst_of(test::branches, sgd, again) < 1e-4);
  CHECK(simulated::now.graphs_launched == 5);
  CHECK(worst_of(test::choices, sgd, again) < 1e-4);
  CHECK(simulated::now.graphs_launched == 5);
  CHECK(worst_of(test::parted, sgd, {1, 1, 1, 1, 1, 2, 2, 2, 2, 5, 5}) < 1e-4);
  CHECK(simulated::now.graphs_launched == 8);
}

TEST_CASE("a driver without conditional nodes leaves them to the host") {
  simulated::begin_test();
  simulated::now.driver = 12030;
  simulated::device d(0);
  CHECK(test::train_both(test::decided, sgd, d, {5, 5, 5, 3}).worst() < 1e-4);
  CHECK(simulated::now.conditions_made == 0);
  CHECK(simulated::now.broken_rules == "");
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
      // Before and behind the learning rate, for the last three mini-batches: others as large lay
      // in the same range since both have memory for them.
      CHECK(simulated::now.graphs_launched == 2 * 3);
      CHECK(test::run_both(test::passes<lazy>, d, test::sentence_minibatches()).worst() < 1e-3);
    }
    CHECK(simulated::now.broken_rules == "");
    CHECK(simulated::now.gave_all_back());
  }
}

TEST_CASE("several devices, each with a stream that works when it likes") {
  const optimizer::momentum momentum{.learning_rate = 0.1f};
  for (const bool peers : {true, false})
    for (const auto order :
         {simulated::schedule::late, simulated::schedule::early, simulated::schedule::random}) {
      simulated::begin_test(order);
      simulated::now.devices = 3;
      simulated::now.peers = peers;
      simulated::now.reached.clear();
      {
        const test::several<simulated::device> places(3);
        CHECK(test::train_at_all(test::classes, momentum, places, {7, 12, 7, 7, 2}).worst() < 1e-4);
        CHECK(test::train_at_all(test::tables, momentum, places, {7, 12, 7, 7}).worst() < 1e-4);
      }
      CHECK(simulated::now.reached.size() == (peers ? 6 : 0));
      CHECK(simulated::now.broken_rules == "");
      CHECK(simulated::now.gave_all_back());
    }
}
