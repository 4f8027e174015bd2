// SPDX-License-Identifier: Apache-2.0
// Sums over the parts of a mini-batch: the order of the additions, parts without numbers, errors.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/core/threads/worker_pool.hpp>
#include <lamina/train/gradients/parts_reduction.hpp>

namespace {

void add(double* to, const double* more, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) to[k] += more[k];
}

/// A world whose other ranks are told what they gave.
class told_world final : public lamina::world {
 public:
  explicit told_world(std::vector<double> others)
      : world(0, static_cast<int>(others.size()) + 1), others_(std::move(others)) {}
  std::int64_t all_reduce_sum(std::int64_t mine) override { return mine; }
  std::unique_ptr<lamina::parameter_sync> make_sync(const lamina::trained_arrays&) override {
    return nullptr;
  }
  void gather(const void* mine, std::size_t bytes, void* all) override {
    REQUIRE(bytes == sizeof(double));
    double* const to = static_cast<double*>(all);
    to[0] = *static_cast<const double*>(mine);
    for (std::size_t r = 0; r < others_.size(); ++r) to[r + 1] = others_[r];
  }
  void fail(std::string_view) noexcept override {}

 private:
  std::vector<double> others_;
};

// Numbers whose sum depends on the order of the additions.
double number(int part) { return 0.1 + static_cast<double>(part) * 1e15 / 7; }

}  // namespace

TEST_CASE("parts get the sum of all, in the order of a tree", "[threads]") {
  lamina::worker_pool pool(3);
  lamina::parts_reduction all(3, nullptr, {2, 1, 1});
  for (int round = 0; round < 200; ++round) {
    all.begin();
    std::vector<double> found(9);
    pool.run([&](int t) {
      all.run(t, [&] {
        const lamina::engine::cpu::batch_sums& mine = *all.part(t);
        for (std::size_t k = 0; k < 3; ++k) {
          mine.numbers[0] = number(t + static_cast<int>(k));
          mine.numbers[1] = 1;
          mine.all_reduce(k == 0 ? 2 : 1, &add);
          found[static_cast<std::size_t>(t) * 3 + k] = mine.numbers[0];
          if (k == 0 && mine.numbers[1] != 3) throw std::runtime_error("the second number");
        }
      });
    });
    for (std::size_t k = 0; k < 9; ++k) {
      const int first = static_cast<int>(k % 3);
      CHECK(found[k] == number(first) + number(first + 1) + number(first + 2));
    }
  }
}

TEST_CASE("a part without rows adds nothing, but takes part", "[threads]") {
  for (const int empty : {0, 1, 3}) {
    lamina::worker_pool pool(4);
    lamina::parts_reduction all(4, nullptr, {1, 1});
    all.begin();
    std::vector<double> found(4);
    pool.run([&](int t) {
      all.run(t, [&] {
        if (t == empty) return;
        const lamina::engine::cpu::batch_sums& mine = *all.part(t);
        for (int k = 0; k < 2; ++k) {
          mine.numbers[0] = 1 + k;
          mine.all_reduce(1, &add);
        }
        found[static_cast<std::size_t>(t)] = mine.numbers[0];
      });
    });
    for (int t = 0; t < 4; ++t) CHECK(found[static_cast<std::size_t>(t)] == (t == empty ? 0 : 6));
  }
}

TEST_CASE("parts of several processes are summed in the order of one tree", "[threads]") {
  // Two threads in each of three processes, as six threads.
  lamina::worker_pool pool(2), six(6);
  told_world world({number(2) + number(3), number(4) + number(5)});
  lamina::parts_reduction own(2, &world, {1}), whole(6, nullptr, {1});
  double found = 0, expected = 0;
  const auto reduces = [](lamina::parts_reduction& parts, double& to) {
    parts.begin();
    return [&parts, &to](int t) {
      parts.run(t, [&] {
        const lamina::engine::cpu::batch_sums& mine = *parts.part(t);
        mine.numbers[0] = number(t);
        mine.all_reduce(1, &add);
        if (t == 1) to = mine.numbers[0];
      });
    };
  };
  pool.run(reduces(own, found));
  six.run(reduces(whole, expected));
  CHECK(found == expected);
}

TEST_CASE("an error in one part ends the others with it, and the next run is right", "[threads]") {
  lamina::worker_pool pool(3);
  lamina::parts_reduction all(3, nullptr, {1, 1});
  for (int round = 0; round < 60; ++round) {
    all.begin();
    const int bad = round % 4;  // 3: none
    const auto run = [&] {
      pool.run([&](int t) {
        all.run(t, [&] {
          const lamina::engine::cpu::batch_sums& mine = *all.part(t);
          for (int k = 0; k < 2; ++k) {
            if (t == bad && k == round / 4 % 2) throw std::runtime_error("the disk is full");
            mine.numbers[0] = 1;
            mine.all_reduce(1, &add);
            if (mine.numbers[0] != 3) throw std::logic_error("a wrong sum");
          }
        });
      });
    };
    if (bad < 3)
      CHECK_THROWS_WITH(run(), "the disk is full");
    else
      CHECK_NOTHROW(run());
  }
}
