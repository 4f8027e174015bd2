// SPDX-License-Identifier: Apache-2.0
// Recurrences with weights that stay on the chip compute what those do that read them at each step:
// bodies side by side, and whole programs.
#include <cstddef>
#include <limits>

#include "engine/cuda/host_backend.hpp"
#include "engine/cuda/kept_weights_check.hpp"
#include "engine/cuda/sequence_programs.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/body/kept_weights.cuh>

namespace cuda = lamina::engine::cuda;
namespace kept = test::kept;
namespace optimizer = lamina::optimizer;
using lamina::recurrent_activation;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

template <class Case>
void compare_widths() {
  for (const int n : {1, 2, 31, 32, 33, 63, 64, 65, 100, 101, 127, 128})
    for (const bool reverse : {false, true})
      for (const bool initial : {false, true})
        for (const bool flag : {false, true}) kept::compare<Case, 1>({n, reverse, initial, flag});
}

template <class Case>
void compare_functions() {
  using enum recurrent_activation;
  for (const auto gate : {sigmoid, tanh, relu, identity})
    for (const auto candidate : {sigmoid, tanh, relu, identity})
      for (const bool flag : {false, true})
        kept::compare<Case, 1>({5, false, true, flag, true, gate, gate, candidate},
                               [](kept::recurrence& r) {
                                 // Without limits states grow, and their differences with them.
                                 for (kept::array* a : {&r.x, &r.weight, &r.bias})
                                   for (cuda::pack& p : a->packs)
                                     for (float& v : p.v) v *= 0.3f;
                               });
}

template <class Case>
void compare_edges() {
  const int n = 6;
  for (const bool initial : {false, true})
    for (const bool flag : {false, true}) {
      const kept::options o{n, false, initial, flag};
      // Without an initial state a first step multiplies nothing by the weight.
      for (const float edge : {infinity, -infinity, nan}) {
        kept::compare<Case, 1>(o, [&](kept::recurrence& r) { r.weight.at(2, 3) = edge; });
        kept::compare<Case, 1>(
            o, [&](kept::recurrence& r) { r.weight.at(n - 1, Case::gates * n - 1) = edge; });
        // In one sequence: the team walks on to others.
        kept::compare<Case, 1>(o, [&](kept::recurrence& r) { r.x.at(1, 3) = edge; });
        kept::compare<Case, 1>(o, [&](kept::recurrence& r) { r.x.at(10, n + 1) = edge; });
        kept::compare<Case, 1>(o, [&](kept::recurrence& r) { r.d_hidden.at(2, 1) = edge; });
        kept::compare<Case, 1>(o, [&](kept::recurrence& r) { r.h0.at(0, 1) = edge; });
        kept::compare<Case, 1>(o, [&](kept::recurrence& r) { r.c0.at(4, n - 1) = edge; });
      }
    }
}

}  // namespace

TEST_CASE("an lstm that keeps its weights computes what others do, for all widths") {
  compare_widths<kept::lstm_case>();
}

TEST_CASE("a gru that keeps its weights computes what others do, for all widths") {
  compare_widths<kept::gru_case>();
}

TEST_CASE("recurrences that keep their weights know all functions") {
  compare_functions<kept::lstm_case>();
  compare_functions<kept::gru_case>();
}

TEST_CASE("recurrences that keep their weights hand on NaN and infinities as others do") {
  compare_edges<kept::lstm_case>();
  compare_edges<kept::gru_case>();
}

TEST_CASE("an lstm that keeps its weights needs no memory for a gradient that nobody wants") {
  for (const int n : {5, 128}) kept::compare<kept::lstm_case, 1>({n, true, false, true, false});
}

namespace {

/// Notes how many threads are asked to keep weights.
struct noting_backend {
  std::size_t memory;
  int threads = 0;
  template <class Body>
  bool fits() const {
    return sizeof(typename Body::shared) <= memory;
  }
  template <class Body>
  void teams(const typename Body::arguments&) {
    threads = Body::threads;
  }
};

template <template <int> class Steps, class Arguments>
int threads_for(int states, std::size_t memory) {
  noting_backend b{memory};
  Arguments a{};
  a.n = states;
  const bool walked = kept::detail::walk_with_kept_weights<Steps>(b, a);
  CHECK(walked == (b.threads > 0));
  return b.threads;
}

}  // namespace

TEST_CASE("weights are kept where they fit") {
  const auto lstm = [](int states, std::size_t kilobytes) {
    using kept::detail::kept_lstm_grad_steps, kept::detail::kept_lstm_steps;
    const int threads =
        threads_for<kept_lstm_steps, kept::detail::lstm_arguments>(states, kilobytes * 1024);
    CHECK(threads == threads_for<kept_lstm_grad_steps, kept::detail::lstm_arguments>(
                         states, kilobytes * 1024));
    return threads;
  };
  const auto gru = [](int states, std::size_t kilobytes) {
    using kept::detail::kept_gru_grad_steps, kept::detail::kept_gru_steps;
    const int threads =
        threads_for<kept_gru_steps, kept::detail::gru_arguments>(states, kilobytes * 1024);
    CHECK(threads ==
          threads_for<kept_gru_grad_steps, kept::detail::gru_arguments>(states, kilobytes * 1024));
    return threads;
  };
  // The least that a block has from sm_80 on, and what it has without asking.
  CHECK(lstm(1, 99) == 256);
  CHECK(lstm(64, 99) == 256);
  CHECK(lstm(65, 99) == 512);
  CHECK(lstm(128, 99) == 512);
  CHECK(lstm(129, 99) == 0);
  CHECK(lstm(64, 48) == 256);
  CHECK(lstm(65, 48) == 0);
  CHECK(gru(64, 48) == 192);
  CHECK(gru(128, 48) == 384);
  CHECK(gru(129, 99) == 0);
}

namespace {

/// A place whose blocks have no shared memory: no weights are kept.
struct plain : cuda::host_backend<1> {
  explicit plain(int number = 0) : cuda::host_backend<1>(number) { limit_shared_memory(0); }
};

const optimizer::sgd sgd{.learning_rate = 0.1f};

template <int States, class Backend>
double apart() {
  Backend backend;
  return test::train_both(test::recurrent_operators<States>, sgd, backend, {5, 1, 4}).worst();
}

}  // namespace

TEST_CASE("programs learn with weights that are kept what they do on the CPU") {
  using one = cuda::host_backend<1>;
  CHECK(apart<1, one>() < 1e-4);
  CHECK(apart<32, one>() < 1e-4);
  CHECK(apart<64, one>() < 1e-4);
  CHECK(apart<100, one>() < 1e-4);
  CHECK(apart<128, one>() < 1e-4);
}

TEST_CASE("programs learn where weights are not kept what they do on the CPU") {
  CHECK(apart<1, plain>() < 1e-4);
  CHECK(apart<100, plain>() < 1e-4);
  CHECK(apart<129, cuda::host_backend<1>>() < 1e-4);
}
