// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/shard_exchange.hpp - sums gradients over processes and collects what each
// updated.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <vector>

#include <lamina/core/padding.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/train/tree_sum.hpp>

namespace lamina::inline LAMINA_ABI::distributed {

/// The arrays of all parameters as one sequence of floats, divided into one shard per rank. Rank r
/// sums and updates shard r; see reduce() and collect(). In a program in double, an element takes
/// the place of two floats.
class shard_exchange {
 public:
  /// Floats [first, end) of array number `array`.
  struct range {
    int array;
    std::size_t first, end;
  };

  /// `floats` is the size of each array; the sizes are multiples of alignment_floats. With `whole`,
  /// an array is not divided between two ranks.
  LAMINA_COLD shard_exchange(process_group& w, const std::vector<std::size_t>& floats, bool whole)
      : world_(w) {
    std::size_t all = 0;
    for (const std::size_t n : floats) all += n;
    const std::size_t ranks = static_cast<std::size_t>(w.size());
    shards_.resize(ranks);
    std::size_t at = 0;
    for (std::size_t i = 0; i < floats.size(); ++i) {
      for (std::size_t first = 0; first < floats[i];) {
        // The shard to which this float, or the middle of this array, belongs.
        const std::size_t lines = all / alignment_floats;
        const std::size_t here = whole ? at + floats[i] / 2 : at + first;
        std::size_t r = 0;
        while (r + 1 < ranks && here >= lines * (r + 1) / ranks * alignment_floats) ++r;
        const std::size_t bound =
            r + 1 < ranks ? lines * (r + 1) / ranks * alignment_floats - at : floats[i];
        const std::size_t end = whole || bound > floats[i] ? floats[i] : bound;
        shards_[r].push_back({static_cast<int>(i), first, end});
        first = end;
      }
      at += floats[i];
    }
    std::size_t longest = 0;
    for (const auto& s : shards_) longest = size_of(s) > longest ? size_of(s) : longest;
    received_.resize(longest * (ranks - 1));
    total_.resize(size_of(mine()));
  }

  /// The floats that this rank updates.
  const std::vector<range>& mine() const {
    return shards_[static_cast<std::size_t>(world_.rank())];
  }

  /// Sums gradients over all ranks. `of[i]` is this rank's array i. `weight` has the weight of each
  /// rank, as in tree_sum; it is null if the arrays are already sums of weighted gradients. has[r]
  /// says whether rank r has gradients at all. Afterwards total(k) is the sum over range k of
  /// mine().
  template <class T>
  LAMINA_NOINLINE void reduce(float* const* of, const T* weight, const bool* has) {
    const int ranks = world_.size(), me = world_.rank();
    messages_.clear();
    for (int r = 0; r < ranks; ++r)
      if (r != me && has[me]) add(r, shards_[static_cast<std::size_t>(r)], of);
    arriving_.clear();
    float* to = received_.data();
    std::vector<const float*> from(static_cast<std::size_t>(ranks));
    for (int r = 0; r < ranks; ++r) {
      if (r == me || !has[r]) continue;
      from[static_cast<std::size_t>(r)] = to;
      for (const range& a : mine()) {
        arriving_.push_back({r, to, (a.end - a.first) * sizeof(float)});
        to += a.end - a.first;
      }
    }
    world_.exchange(messages_, arriving_);
    std::vector<const T*> part(static_cast<std::size_t>(ranks));
    std::size_t at = 0;
    for (const range& a : mine()) {
      for (int r = 0; r < ranks; ++r) {
        const float* const array =
            r == me ? of[a.array] + a.first : from[static_cast<std::size_t>(r)] + at;
        part[static_cast<std::size_t>(r)] = has[r] ? reinterpret_cast<const T*>(array) : nullptr;
      }
      const std::size_t numbers = (a.end - a.first) * sizeof(float) / sizeof(T);
      tree_sum<T>({part.data(), weight, ranks})
          .add(0, numbers, reinterpret_cast<T*>(total_.data() + at));
      at += a.end - a.first;
    }
  }
  /// The sum over range number k of mine().
  float* total(std::size_t k) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < k; ++i) at += mine()[i].end - mine()[i].first;
    return total_.data() + at;
  }

  /// Makes the arrays equal on all ranks: each sends its shard to all others.
  LAMINA_NOINLINE void collect(float* const* of) {
    messages_.clear();
    arriving_.clear();
    for (int r = 0; r < world_.size(); ++r) {
      if (r == world_.rank()) continue;
      add(r, mine(), of);
      messages_.swap(arriving_);
      add(r, shards_[static_cast<std::size_t>(r)], of);
      messages_.swap(arriving_);
    }
    world_.exchange(messages_, arriving_);
  }
  /// Gives all ranks the arrays of rank 0.
  LAMINA_COLD void spread(float* const* of, const std::vector<std::size_t>& floats) {
    messages_.clear();
    arriving_.clear();
    std::vector<range> all;
    for (std::size_t i = 0; i < floats.size(); ++i)
      all.push_back({static_cast<int>(i), 0, floats[i]});
    if (world_.rank() == 0)
      for (int r = 1; r < world_.size(); ++r) add(r, all, of);
    else
      add(0, all, of), messages_.swap(arriving_);
    world_.exchange(messages_, arriving_);
  }

 private:
  static std::size_t size_of(const std::vector<range>& ranges) {
    std::size_t n = 0;
    for (const range& a : ranges) n += a.end - a.first;
    return n;
  }
  void add(int peer, const std::vector<range>& ranges, float* const* of) {
    for (const range& a : ranges)
      messages_.push_back({peer, of[a.array] + a.first, (a.end - a.first) * sizeof(float)});
  }

  process_group& world_;
  std::vector<std::vector<range>> shards_;  // by rank
  engine::aligned_buffer received_, total_;
  std::vector<process_group::message> messages_, arriving_;
};

}  // namespace lamina::inline LAMINA_ABI::distributed
