// SPDX-License-Identifier: Apache-2.0
// Operators that order, choose and measure compute on a device what they do on the CPU.
#include <string>
#include <utility>

#include "engine/cuda/choice_edges.hpp"
#include "engine/cuda/choice_programs.hpp"
#include "engine/cuda/host_backend.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/body/chosen_elements.cuh>

namespace cuda = lamina::engine::cuda;

namespace {

constexpr lamina::optimizer::sgd sgd{.learning_rate = 0.05f};

template <class P>
double apart(P program) {
  cuda::host_backend<1> backend;
  backend.record();
  backend.defer();
  return test::train_both(program, sgd, backend, {5, 3, 5, 5, 9}).worst();
}

}  // namespace

TEST_CASE("elements are ordered on a device as on the CPU") { CHECK(apart(test::orders) < 1e-5); }

TEST_CASE("elements at the edges of orders and choices are those of the CPU on a device") {
  CHECK(test::wrong_edges<cuda::host_backend<1>>() == 0);
  CHECK(test::wrong_edges<cuda::host_backend<4>>() == 0);
}

TEST_CASE("numbers choose entries and rows on a device as on the CPU") {
  CHECK(apart(test::chosen_rows) < 1e-5);
}

TEST_CASE("windows of volumes and regions hold on a device what they do on the CPU") {
  CHECK(apart(test::volumes) < 2e-5);
}

TEST_CASE("sequences are decoded and measured on a device as on the CPU") {
  CHECK(apart(test::measures) < 1e-5);
}

namespace {

/// What a step on numbers below `classes` says on the CPU, and on a device.
template <class P>
std::pair<std::string, std::string> messages(P program, int classes) {
  const test::random_samples<P> s(9, classes);
  const auto message_of = [&](auto& t) {
    try {
      t.step(s.batch(0, 9));
    } catch (const lamina::error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  lamina::model a{program, 3}, b{program, 3};
  cuda::host_backend<1> backend;
  lamina::cpu_trainer<P, lamina::optimizer::sgd> on_cpu(sgd, a, 1, 11);
  lamina::device_trainer<P, lamina::optimizer::sgd, cuda::host_backend<1>> on_device(backend, sgd,
                                                                                     b, 11);
  return {message_of(on_cpu), message_of(on_device)};
}

}  // namespace

TEST_CASE("numbers that choose nothing are told on a device as on the CPU") {
  const auto [id, id_on_device] = messages(test::chosen_rows, 9);
  CHECK_THAT(id, Catch::Contains("layer multiplex_0, feed 'which': id in row "));
  CHECK(id_on_device == id);
  const auto [tag, tag_on_device] = messages(test::measures, 9);
  CHECK_THAT(tag, Catch::Contains("layer chunk_eval_0, feed 'tag': tag in row "));
  CHECK(tag_on_device == tag);
  const auto [hypothesis, hypothesis_on_device] = messages(test::normalised_distance, 5);
  CHECK_THAT(hypothesis, Catch::Contains("to divide by their lengths, found none in sequence "));
  CHECK(hypothesis_on_device == hypothesis);
}
