// SPDX-License-Identifier: Apache-2.0
// Threads, locks and conditions of the system: two threads count in turn.
#include <cstddef>

#include <catch2/catch.hpp>

#include <lamina/core/system/threads.hpp>

namespace {

namespace sys = lamina::detail::system;

struct counter {
  sys::lock_handle lock;
  sys::condition_handle changed;
  int count = 0;
};

void count_odd(void* given) {
  counter& c = *static_cast<counter*>(given);
  for (int i = 0; i < 1000; ++i) {
    c.lock.lock();
    while (c.count % 2 == 0) c.changed.wait(c.lock);
    ++c.count;
    c.lock.unlock();
    c.changed.notify_one();
  }
}

}  // namespace

TEST_CASE("two threads count in turn") {
  counter c;
  sys::thread_handle other;
  REQUIRE(other.start<&count_odd>(&c) == 0);
  for (int i = 0; i < 1000; ++i) {
    c.lock.lock();
    while (c.count % 2 == 1) c.changed.wait(c.lock);
    ++c.count;
    c.lock.unlock();
    c.changed.notify_all();
    sys::yield();
  }
  other.join();
  CHECK(c.count == 2000);
  c.changed.destroy();
  c.lock.destroy();
}
