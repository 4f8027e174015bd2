// SPDX-License-Identifier: Apache-2.0
// A communication thread calls its function between resume() and pause(), and at no other time.

#include <atomic>
#include <string>
#include <thread>

#include <catch2/catch.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/distributed/sync/communication_thread.hpp>

using lamina::distributed::communication_thread;

TEST_CASE("the function is called between resume and pause alone", "[threads]") {
  std::atomic<int> calls{0};
  bool finds = false;
  int unprotected = 0;  // what the function writes can be read after pause()
  communication_thread thread([&] {
    ++unprotected;
    ++calls;
    return finds;
  });
  CHECK(calls == 0);
  for (const bool f : {false, true, false}) {
    finds = f;
    const int before = calls;
    thread.resume();
    while (calls < before + 3) std::this_thread::yield();
    thread.pause();
    const int after = unprotected;
    CHECK(after == calls);
    for (int k = 0; k < 100; ++k) std::this_thread::yield();
    CHECK(calls == after);
    thread.pause();
    CHECK_NOTHROW(thread.require());
  }
}

TEST_CASE("an error of the function ends its calls and reaches the other thread", "[threads]") {
  std::atomic<int> calls{0};
  communication_thread thread([&]() -> bool {
    if (++calls == 2) throw lamina::error("lamina: test: the link is cut");
    return calls < 2;
  });
  thread.resume();
  while (calls < 2) std::this_thread::yield();
  thread.pause();
  CHECK(calls == 2);
  CHECK_THROWS_WITH(thread.require(), "lamina: test: the link is cut");
  CHECK_THROWS_WITH(thread.require(), "lamina: test: the link is cut");
  thread.resume();
  while (calls < 4) std::this_thread::yield();
  thread.pause();
  CHECK_NOTHROW(thread.require());
}

TEST_CASE("a thread that runs, and one that never ran, can be destroyed", "[threads]") {
  std::atomic<int> calls{0};
  for (int k = 0; k < 50; ++k) {
    communication_thread thread([&] { return ++calls % 2 == 0; });
    if (k % 2 == 0) thread.resume();
    if (k % 4 == 0)
      while (calls == 0) std::this_thread::yield();
  }
  CHECK(calls > 0);
}
