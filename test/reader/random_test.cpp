// SPDX-License-Identifier: Apache-2.0
// Random numbers of a reader depend on seed, pass and position alone.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include "reader/read.hpp"
#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/threads/worker_pool.hpp>
#include <lamina/reader/random.hpp>
#include <lamina/reader/reader.hpp>

namespace reader = lamina::reader;
using test::iota;
using test::read;

// Sources: TorchDSP/torchsig#343, pytorch/pytorch#5059.
TEST_CASE("random numbers of map and xmap depend on seed, pass and position alone",
          "[reader][threads]") {
  const auto noise = [](int x, std::uint64_t position, std::uint64_t pass, reader::random& random) {
    std::this_thread::sleep_for(std::chrono::microseconds(x % 7 * 30));
    std::vector<double> all{double(x), double(position), double(pass)};
    for (int i = 0; i < 5; ++i) all.push_back(double(random()));
    all.push_back(double(random.uniform(-1, 1)));
    all.push_back(double(random.normal()));
    all.push_back(double(random.below(10)));
    return all;
  };
  const auto source = iota(64);
  const auto one = read(source | reader::map(noise), 3);
  for (const std::size_t threads : {1U, 2U, 5U}) {
    CHECK(read(source | reader::xmap(noise, threads, 8), 3) == one);
    CHECK(read(source | reader::xmap(noise, threads, 8) | reader::skip_n(20), 3) ==
          std::vector(one.begin() + 20, one.end()));
    auto any = read(source | reader::xmap(noise, threads, 8, false), 3);
    std::sort(any.begin(), any.end());
    CHECK(any == one);
  }
  CHECK(read(reader::map([&](int x, int, std::uint64_t position, std::uint64_t pass,
                             reader::random& random) { return noise(x, position, pass, random); },
                         source, source),
             3) == one);
  std::set<std::vector<double>> different;
  for (const auto& numbers : {one, read(source | reader::map(noise), 4),
                              read(source | reader::map(noise, {.seed = 1}), 3),
                              read(source | reader::xmap(noise, {.threads = 2, .seed = 2}), 3)})
    for (const auto& v : numbers) different.insert({v.begin() + 3, v.end()});
  CHECK(different.size() == 4 * 64);
  double sum = 0, squares = 0;
  reader::random random(1, 2, 3);
  for (int i = 0; i < 10000; ++i) {
    const double x = random.normal();
    sum += x, squares += x * x;
    CHECK(random.below(3) < 3);
  }
  CHECK(std::abs(sum / 10000) < 0.05);
  CHECK(std::abs(squares / 10000 - 1) < 0.05);
}
