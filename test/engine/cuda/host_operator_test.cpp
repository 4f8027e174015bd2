// SPDX-License-Identifier: Apache-2.0
// Operators that few networks need compute on a device what they do on the CPU.
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/cuda/check_areas.hpp"
#include "engine/cuda/host_backend.hpp"
#include "engine/cuda/operator_programs.hpp"
#include "stderr_text.hpp"
#include <catch2/catch.hpp>

#include <lamina/model/device/device_machine.hpp>
#include <lamina/model/evaluator.hpp>

namespace cuda = lamina::engine::cuda;
namespace optimizer = lamina::optimizer;

TEST_CASE("operators that few networks need learn on a device what they do on the CPU") {
  const std::vector<int> sizes = {5, 3, 5};
  const optimizer::sgd sgd{.learning_rate = 0.1f};
  cuda::host_backend<1> one;
  SECTION("likenesses") {
    CHECK(test::train_both(test::likenesses, sgd, one, sizes).worst() < 1e-5);
  }
  SECTION("tags") { CHECK(test::train_both(test::tags, sgd, one, sizes).worst() < 1e-5); }
  SECTION("spoken") {
    CHECK(
        test::train_both(test::spoken, sgd, one, sizes, 5, test::sequence_lengths::halves).worst() <
        1e-5);
  }
  SECTION("noises") { CHECK(test::train_both(test::noises, sgd, one, sizes).worst() < 1e-5); }
  SECTION("units") { CHECK(test::train_both(test::units, sgd, one, sizes).worst() < 1e-5); }
  SECTION("costs") { CHECK(test::train_both(test::costs, sgd, one, sizes).worst() < 1e-5); }
  SECTION("patches") { CHECK(test::train_both(test::patches, sgd, one, sizes).worst() < 1e-5); }
  SECTION("regions") { CHECK(test::train_both(test::regions, sgd, one, sizes).worst() < 1e-5); }
}

namespace {

/// The message of a step with the labels of `spoken` changed to `found`.
template <class Backend>
std::string message_of_label(Backend& backend, std::int64_t found) {
  using P = std::remove_const_t<decltype(test::spoken)>;
  lamina::model model{test::spoken, 3};
  lamina::device_trainer<P, optimizer::sgd, Backend> t(backend, {}, model);
  const std::vector<float> x(16);
  const std::vector<std::int64_t> label{1, found};
  const int rows[] = {0, 4}, labels[] = {0, 2};
  lamina::batch_view<P> batch;
  batch.rows.count[lamina::batch::domain] = 1;
  for (int d = lamina::batch::domain + 1; d < lamina::counts_of<P>.domains; ++d) {
    const bool first = d == lamina::batch::domain + 1;
    batch.rows.count[d] = first ? 4 : 2;
    batch.rows.offsets[d] = first ? rows : labels;
  }
  batch.data[0] = reinterpret_cast<const std::byte*>(x.data());
  batch.data[1] = reinterpret_cast<const std::byte*>(label.data());
  try {
    t.step(batch);
  } catch (const lamina::error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("labels that no path of a sequence has are errors on a device") {
  cuda::host_backend<1> backend;
  CHECK(message_of_label(backend, 2).empty());
  CHECK(message_of_label(backend, 6) ==
        "lamina: layer warpctc_0, feed 'label': label in row 1: expected 0 to 5, found 6");
  CHECK(
      message_of_label(backend, 5) ==
      "lamina: layer warpctc_0, feed 'label': label in row 1: expected another than the blank, and "
      "enough rows of scores, found 5");
}

TEST_CASE("statistics over all mini-batches on a device are those of the CPU") {
  test::check_areas<cuda::host_backend<1>>();
}

TEST_CASE("statistics that do not begin with zeros do so when a place trains, too") {
  const optimizer::sgd sgd{.learning_rate = 0.1f};
  cuda::host_backend<1> backend;
  CHECK(test::train_both(test::counted_areas, sgd, backend, {6, 9, 6}, 2).worst() < 1e-5);
}

TEST_CASE("a place prints what the CPU does") {
  using P = std::remove_const_t<decltype(test::printed)>;
  const test::random_samples<P> s(4, 5);
  lamina::model on_cpu{test::printed, 3}, on_device{test::printed, 3};
  lamina::cpu_trainer<P, optimizer::sgd> expected({}, on_cpu, 1, 11);
  cuda::host_backend<1> backend;
  backend.record();
  lamina::device_trainer<P, optimizer::sgd, cuda::host_backend<1>> found(backend, {}, on_device,
                                                                         11);
  // Behind the times.
  const auto texts = [](std::string all) {
    std::string kept;
    for (std::size_t at = all.find("\tseen"); at != std::string::npos;
         at = all.find("\tseen", at + 1)) {
      const std::size_t end = all.find("data:", at);
      kept += all.substr(at, end - at);
    }
    return kept;
  };
  const std::string wanted = texts(test::written_by([&] { expected.step(s.batch(0, 4)); }));
  REQUIRE(wanted.find("LoD: [[ 0,") != std::string::npos);
  REQUIRE(wanted.find("@GRAD") != std::string::npos);
  // Nothing of it is recorded: each step prints.
  for (int step = 0; step < 3; ++step) {
    const std::string text = test::written_by([&] { found.step(s.batch(0, 4)); });
    CHECK(texts(text) == wanted);
  }
  for (const char* const type : {"print", "print_grad"}) laws::note_compared_operator("cuda", type);
}
