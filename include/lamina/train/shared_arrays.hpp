// SPDX-License-Identifier: Apache-2.0
// lamina/train/shared_arrays.hpp - the parameters that the processes of a training update together.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/train/shard_exchange.hpp>
#include <lamina/train/world.hpp>

namespace lamina::inline LAMINA_ABI {

/// What all processes of a training must have in common. They compare it before the first step.
struct shared_facts {
  std::uint64_t program = 0;    // checksum of the program
  std::uint64_t optimizer = 0;  // checksum of the optimizer's options
  std::uint64_t seed = 0;
  std::int64_t steps = 0;
  std::int64_t threads = 0;
};

/// The parameters with dense gradients, as arrays that are summed and updated in shards. Parameter
/// numbers are those of the program.
class shared_arrays {
 public:
  /// `gradients`, `parameters` and `floats` are by parameter; parameters without a gradient of
  /// their own (null) are left out. With `whole`, updates cannot be divided within a parameter.
  LAMINA_COLD shared_arrays(world& w, const std::vector<float*>& gradients,
                            float* const* parameters, const std::vector<std::size_t>& floats,
                            bool whole)
      : world_(w),
        parameters_(parameters, parameters + floats.size()),
        floats_(floats),
        exchange_(w, sizes_of(gradients, floats), whole) {
    for (std::size_t i = 0; i < floats.size(); ++i) {
      if (gradients[i] == nullptr) continue;
      number_.push_back(static_cast<int>(i));
      gradients_.push_back(gradients[i]);
      values_.push_back(parameters[i]);
    }
  }

  world& of() const { return world_; }
  /// The ranges that this rank updates; `array` in them is an index for parameter().
  const std::vector<shard_exchange::range>& mine() const { return exchange_.mine(); }
  int parameter(int array) const { return number_[static_cast<std::size_t>(array)]; }
  float* total(std::size_t range) { return exchange_.total(range); }

  /// Sums the gradients over all ranks; see shard_exchange::reduce.
  template <class T>
  void reduce(const T* weight, const bool* has) {
    exchange_.reduce(gradients_.data(), weight, has);
  }
  /// Copies the sums to the gradients, on all ranks.
  LAMINA_COLD void bring_totals() {
    for (std::size_t k = 0; k < mine().size(); ++k) {
      const shard_exchange::range& a = mine()[k];
      std::memcpy(gradients_[static_cast<std::size_t>(a.array)] + a.first, total(k),
                  (a.end - a.first) * sizeof(float));
    }
    exchange_.collect(gradients_.data());
  }
  /// Makes the parameters equal on all ranks after each has updated its shard.
  void collect() { exchange_.collect(values_.data()); }
  /// The same for the accumulators, of which `of[i * states + s]` belongs to parameter i.
  LAMINA_COLD void collect(float* const* of, int states) {
    std::vector<float*> arrays(number_.size());
    for (int s = 0; s < states; ++s) {
      for (std::size_t k = 0; k < number_.size(); ++k) arrays[k] = of[number_[k] * states + s];
      exchange_.collect(arrays.data());
    }
  }

  /// Compares the facts of all ranks, and gives all of them the parameters and accumulators of rank
  /// 0. Throws lamina::error that names the first rank that differs, and in what.
  LAMINA_COLD void begin(const shared_facts& mine, float* const* accumulators, int states) {
    std::vector<shared_facts> all(static_cast<std::size_t>(world_.size()));
    world_.gather(&mine, sizeof mine, all.data());
    for (std::size_t r = 1; r < all.size(); ++r) {
      require(r, "program", all[0].program, all[r].program);
      require(r, "optimizer", all[0].optimizer, all[r].optimizer);
      require(r, "seed", all[0].seed, all[r].seed);
      require(r, "number of threads", all[0].threads, all[r].threads);
      require(r, "number of earlier steps", all[0].steps, all[r].steps);
    }
    std::vector<float*> arrays = parameters_;
    std::vector<std::size_t> floats = floats_;
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      for (int s = 0; s < states; ++s) {
        arrays.push_back(
            accumulators[i * static_cast<std::size_t>(states) + static_cast<std::size_t>(s)]);
        floats.push_back(floats_[i]);
      }
    exchange_.spread(arrays.data(), floats);
  }

 private:
  static std::vector<std::size_t> sizes_of(const std::vector<float*>& gradients,
                                           const std::vector<std::size_t>& floats) {
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < floats.size(); ++i)
      if (gradients[i] != nullptr) sizes.push_back(floats[i]);
    return sizes;
  }
  template <class T>
  static void require(std::size_t rank, std::string_view what, T first, T found) {
    if (first == found) return;
    throw error(text() << "lamina: train: expected the same " << what << " in each process, found "
                       << first << " in rank 0 and " << found << " in rank " << rank);
  }

  world& world_;
  std::vector<float*> parameters_;  // all of them
  std::vector<std::size_t> floats_;
  std::vector<int> number_;  // by shared array: the parameter
  std::vector<float*> gradients_, values_;
  shard_exchange exchange_;
};

}  // namespace lamina::inline LAMINA_ABI
