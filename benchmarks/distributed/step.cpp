// SPDX-License-Identifier: Apache-2.0
// step ROWS STEPS THREADS BUCKET_BYTES [thread | buckets] - trains a network with all processes
// that the launcher has started. With `thread`, each process has a communication thread. Rank 0
// prints the median duration of a step in microseconds. With `buckets`, it prints a line "run
// MICROSECONDS" and a line per bucket.

#include "step.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include <lamina/core/messages/error.hpp>
#include <lamina/distributed/session.hpp>

int main(int argc, char** argv) {
  try {
    if (argc < 5) throw lamina::error("step: expected ROWS STEPS THREADS BUCKET_BYTES");
    const std::size_t bytes = static_cast<std::size_t>(std::atoll(argv[4]));
    const std::string_view how = argc > 5 ? argv[5] : "";
    const bool buckets = how == "buckets";
    lamina::distributed::session world{
        argc, argv, {.bucket_bytes = bytes, .communication_thread = how == "thread"}};
    const step_request request{std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3]), &world};
    if (buckets) {
      double run = 0;
      const auto found = time_buckets(request, bytes, run);
      std::printf("run %.1f\n", run);
      for (const bucket_times& b : found)
        std::printf("bucket %zu %.1f %.1f\n", b.bytes, b.complete, b.free);
      return 0;
    }
    std::vector<double> took = time_steps(request);
    took.erase(took.begin(), took.begin() + static_cast<std::ptrdiff_t>(took.size() / 4));
    const auto middle = took.begin() + static_cast<std::ptrdiff_t>(took.size() / 2);
    std::nth_element(took.begin(), middle, took.end());
    if (world.rank() == 0) std::printf("step %.1f\n", *middle);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
