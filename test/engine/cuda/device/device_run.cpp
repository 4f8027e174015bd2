// SPDX-License-Identifier: Apache-2.0
// What host_run_test.cpp tests on the host, on the device itself: exit code 0 when all agrees, 1
// when not, 77 where there is no device. `test/engine/cuda/device/check.py` builds and runs it.
// clang-format off
#include <lamina/lamina.cuh>  // before all others
// clang-format on

#include <cstdio>
#include <string>
#include <vector>

#include "engine/cuda/dense_programs.hpp"

namespace {

namespace optimizer = lamina::optimizer;
using backend = lamina::engine::cuda::device_backend;

int wrong = 0;

void report(const char* what, const test::difference& d, double most) {
  const bool agrees = d.worst() < most;
  wrong += agrees ? 0 : 1;
  std::printf("%s %-28s cost %.1e metrics %.1e parameters %.1e\n", agrees ? "ok   " : "WRONG", what,
              d.cost, d.metric, d.parameters);
}

void run_all(backend& device) {
  // Sizes that come back: run, recorded as a graph, and launched from then on.
  const std::vector<int> sizes = {7, 12, 7, 7, 7, 12, 12, 1};
  report("sgd",
         test::train_both(test::classes, optimizer::sgd{.learning_rate = 0.1f}, device, sizes),
         1e-4);
  report("momentum",
         test::train_both(test::classes, optimizer::momentum{.learning_rate = 0.1f}, device, sizes),
         1e-4);
  report("adam, every function",
         test::train_both(test::functions, optimizer::adam{.learning_rate = 0.01f}, device, sizes),
         1e-3);
  report("larger mini-batches",
         test::train_both(test::functions, optimizer::sgd{.learning_rate = 0.01f}, device,
                          {300, 1000, 300, 300}),
         1e-3);
  // The same seed gives the same bits.
  const auto a =
      test::train_both(test::functions, optimizer::adam{.learning_rate = 0.01f}, device, sizes);
  const auto b =
      test::train_both(test::functions, optimizer::adam{.learning_rate = 0.01f}, device, sizes);
  const bool same = a.parameters == b.parameters && a.cost == b.cost;
  wrong += same ? 0 : 1;
  std::printf("%s twice the same bits\n", same ? "ok   " : "WRONG");
  const std::string message = test::message_of_wrong_label(device);
  const bool told = message == test::wrong_label_message;
  wrong += told ? 0 : 1;
  std::printf("%s %s\n", told ? "ok   " : "WRONG", message.c_str());
}

}  // namespace

int main() {
  try {
    backend device(0);
    run_all(device);
  } catch (const lamina::error& e) {
    std::printf("%s\n", e.what());
    return std::string(e.what()).find("found none") != std::string::npos ? 77 : 1;
  }
  return wrong == 0 ? 0 : 1;
}
