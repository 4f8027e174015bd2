// SPDX-License-Identifier: Apache-2.0
// lamina/benchmarks/signal.hpp - the signal that programs for sound process, of lamina and of other
// libraries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "job.hpp"

namespace peer {

/// The samples of a signal that are processed together.
inline constexpr int block = 64;

/// Returns evenly distributed numbers from -0.5 to 0.5, the same in every run.
inline std::vector<float> signal(std::size_t count) {
  std::vector<float> x(count);
  std::uint32_t state = 1;
  for (float& now : x) {
    state = state * 1664525u + 1013904223u;
    now = static_cast<float>(state >> 8) / static_cast<float>(1 << 24) - 0.5f;
  }
  return x;
}

/// Makes a job of process(x, y, count), which processes the next `count` samples of a signal. The
/// results are those of the first 4096 samples; a repetition is one block.
template <class Process>
workload::job job_of_signal(Process process) {
  const std::vector<float> x = signal(4096);
  return {[=] {
            std::vector<float> y(x.size());
            for (std::size_t t = 0; t < x.size(); t += block)
              process(x.data() + t, y.data() + t, block);
            return y;
          },
          [=, at = std::size_t{0}](int n) mutable {
            float y[block];
            for (int i = 0; i < n; ++i, at = (at + block) % x.size())
              process(x.data() + at, y, block);
          }};
}

}  // namespace peer
