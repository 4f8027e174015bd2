// SPDX-License-Identifier: Apache-2.0
// Threads, locks and conditions.
#include <utility>

#include <catch2/catch.hpp>

#include <lamina/core/threads/threading.hpp>

namespace threading = lamina::threading;

TEST_CASE("threads count under a lock and wait for a condition", "[threads]") {
  threading::mutex m;
  threading::condition changed;
  int count = 0;
  bool go = false;
  const auto work = [&] {
    threading::guard g(m);
    changed.wait(g, [&] { return go; });
    for (int i = 0; i < 100; ++i) {
      ++count;
      g.unlock();
      threading::wait_step(i);
      g.lock();
    }
  };
  threading::thread first(work), second(work), empty;
  empty = std::move(first);
  {
    const threading::guard g(m);
    go = true;
  }
  changed.notify_all();
  empty.join();
  second.join();
  first.join();  // it has no thread any more
  CHECK(count == 200);
}
