// SPDX-License-Identifier: Apache-2.0
// test/model/draws.hpp - the same numbers in every run, for data that tests make up.
#pragma once

#include <cstdint>

namespace test {

/// Whole numbers from 0, one after the other, by a linear congruence.
class draws {
 public:
  explicit draws(unsigned seed) : state_(seed) {}
  std::int64_t operator()(unsigned below) {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<std::int64_t>((state_ >> 10) % below);
  }

 private:
  unsigned state_;
};

}  // namespace test
