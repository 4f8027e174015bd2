// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/gradient_shards.hpp - decides which process sums and updates which part of
// each bucket of gradients.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <vector>

#include <lamina/core/padding.hpp>
#include <lamina/plan/gradient_buckets.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Buckets of gradients, each divided over the ranks. All counts are floats; in a program in
/// double, an element counts as two floats.
class gradient_shards {
 public:
  /// Floats [first, end) of array number `array`.
  struct range {
    int array;
    std::size_t first, end;
    std::size_t size() const { return end - first; }
  };
  /// The part of a bucket that belongs to one rank.
  struct shard {
    std::vector<range> ranges;
    std::size_t floats = 0;
    std::size_t at = 0;  // floats of the bucket in shards of earlier ranks
  };
  struct bucket {
    gradient_times times{-1, -1};  // the latest of all its parameters
    std::vector<shard> of_rank;
    std::size_t floats = 0;
  };

  /// `floats` has the size of each array, a multiple of alignment_floats; 0: no gradient. Without
  /// `times` or with `bytes` 0, one bucket has all arrays. With `whole`, arrays are not divided.
  LAMINA_COLD gradient_shards(int ranks, const std::vector<std::size_t>& floats,
                              const gradient_times* times, std::size_t bytes, bool whole) {
    const int count = static_cast<int>(floats.size());
    const std::vector<gradient_times> none(floats.size() + 1);
    std::vector<int> order(floats.size() + 1);
    std::size_t all = 0;
    for (const std::size_t n : floats) all += n;
    const bool divided = times != nullptr && bytes > 0;
    const std::size_t least = static_cast<std::size_t>(alignment_floats * ranks);
    const std::size_t most = divided ? bytes / sizeof(float) : all;
    std::vector<std::vector<range>> parts;
    each_bucket_part(divided ? times : none.data(), floats.data(), count,
                     most < least ? least : most, whole, order.data(), [&](const bucket_part& p) {
                       if (static_cast<std::size_t>(p.bucket) == parts.size()) {
                         parts.emplace_back();
                         buckets_.emplace_back();
                       }
                       bucket& b = buckets_.back();
                       parts.back().push_back({p.parameter, p.first, p.end});
                       b.floats += p.end - p.first;
                       if (times == nullptr) return;
                       const gradient_times& t = times[p.parameter];
                       if (b.times.complete < t.complete) b.times.complete = t.complete;
                       if (b.times.last_read < t.last_read) b.times.last_read = t.last_read;
                     });
    std::vector<std::size_t> load(static_cast<std::size_t>(ranks));
    for (std::size_t k = 0; k < parts.size(); ++k) {
      buckets_[k].of_rank.resize(load.size());
      for (const range& r : parts[k])
        if (whole) give(buckets_[k], lightest(load), r, load);
      if (!whole) divide(buckets_[k], parts[k], load);
      std::size_t at = 0;
      for (shard& s : buckets_[k].of_rank) s.at = at, at += s.floats;
    }
  }

  const std::vector<bucket>& buckets() const { return buckets_; }

 private:
  static std::size_t lightest(const std::vector<std::size_t>& load) {
    std::size_t found = 0;
    for (std::size_t r = 1; r < load.size(); ++r)
      if (load[r] < load[found]) found = r;
    return found;
  }
  static void give(bucket& b, std::size_t rank, const range& r, std::vector<std::size_t>& load) {
    b.of_rank[rank].ranges.push_back(r);
    b.of_rank[rank].floats += r.size();
    load[rank] += r.size();
  }
  /// Divides a bucket evenly: each rank gets consecutive floats, and the shares differ by one cache
  /// line at most.
  static void divide(bucket& b, const std::vector<range>& parts, std::vector<std::size_t>& load) {
    const std::size_t lines = b.floats / alignment_floats, ranks = load.size();
    std::size_t at = 0, rank = 0;
    for (range r : parts)
      while (r.first < r.end) {
        while (at >= lines * (rank + 1) / ranks * alignment_floats) ++rank;
        const std::size_t rest = lines * (rank + 1) / ranks * alignment_floats - at;
        const std::size_t end = r.size() < rest ? r.end : r.first + rest;
        at += end - r.first;
        give(b, rank, {r.array, r.first, end}, load);
        r.first = end;
      }
  }

  std::vector<bucket> buckets_;
};

}}}  // namespace lamina::distributed
