// SPDX-License-Identifier: Apache-2.0
// Costs that a loop sums up over the mini-batches that it reads have on a device the gradients that
// they have on the CPU, whatever the rows and the lengths of sequences.
#include "engine/cuda/host_backend.hpp"
#include "engine/cuda/training_programs.hpp"
#include <catch2/catch.hpp>

namespace cuda = lamina::engine::cuda;

namespace {
constexpr lamina::optimizer::sgd sgd{.learning_rate = 0.125f};

template <class P, class Batches>
double apart(P program, const Batches& batches) {
  cuda::host_backend<1> backend;
  backend.record();
  backend.defer();
  return test::run_both(program, backend, batches).worst();
}
}  // namespace

// PaddlePaddle/Paddle#21162
TEST_CASE("costs summed up over mini-batches of rows are minimised on a device as on the CPU") {
  CHECK(apart(test::summed_rows<sgd>, test::row_minibatches()) < 2e-5);
}
TEST_CASE("costs summed up over mini-batches of sentences are minimised on a device, too") {
  auto sentences = test::sentence_minibatches();
  // Equal rows, other lengths.
  sentences.push_back(sentences.back());
  for (auto& [words, label] : sentences.back()) std::swap(words, std::get<0>(sentences.back()[0]));
  CHECK(apart(test::summed_sentences<sgd>, sentences) < 2e-5);
}
