// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/sync/bucket_memory.hpp - buckets of gradients: which process sums and updates
// which shard of each, their sums, and the messages that transport them.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include <lamina/core/arrays/padding.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/plan/gradient_buckets.hpp>
#include <lamina/train/gradients/tree_sum.hpp>

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
    each_bucket_range(divided ? times : none.data(), floats.data(), count,
                      most < least ? least : most, whole, order.data(), [&](const bucket_range& p) {
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
  /// Divides a bucket evenly: each rank gets consecutive floats, and the shards differ by one cache
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

/// The arrays of a training. The gradients of thread t begin at index t * count of `gradients`.
struct bucket_arrays {
  std::vector<float*> gradients, values;
  int count = 0, threads = 1;
  bool is_double = false;
};

/// Holds gradients and parameters by bucket: sums gradients over threads and processes, and lists
/// the messages by which processes exchange a bucket. A message transports a range of an array in
/// place; in small buckets of several arrays it transports everything that one process owns of the
/// bucket, packed.
class bucket_memory {
 public:
  using range = gradient_shards::range;
  using shard = gradient_shards::shard;
  /// The messages of one exchange.
  struct messages {
    std::vector<process_group::message> sends, receives;
    void clear() { sends.clear(), receives.clear(); }
  };

  LAMINA_COLD bucket_memory(int rank, int ranks, bucket_arrays of, gradient_shards shards)
      : of_(std::move(of)),
        shards_(std::move(shards)),
        me_(static_cast<std::size_t>(rank)),
        ranks_(static_cast<std::size_t>(ranks)) {
    std::size_t others = 0, own = 0, mixed = 0;
    for (const gradient_shards::bucket& b : shards_.buckets()) {
      place p{others, own, mixed};
      others += b.of_rank[me_].floats * (ranks_ - 1);
      own += b.of_rank[me_].floats;
      for (const shard& s : b.of_rank)
        p.packs = p.packs || (s.ranges.size() > 1 && b.floats <= most_packed);
      if (p.packs) mixed += b.floats;
      places_.push_back(p);
    }
    received_.resize(others);
    total_.resize(own);
    packed_.resize(mixed);
  }

  const bucket_arrays& arrays() const { return of_; }
  const gradient_shards::bucket& bucket(int b) const {
    return shards_.buckets()[static_cast<std::size_t>(b)];
  }
  int buckets() const { return static_cast<int>(shards_.buckets().size()); }
  const shard& of_rank(int b, std::size_t r) const { return bucket(b).of_rank[r]; }
  /// Returns the shard of bucket b that this process sums and updates.
  const shard& mine(int b) const { return of_rank(b, me_); }
  /// Returns the sums for range number k of mine(b): element i of the array is the sum of element i
  /// of this range over all processes.
  float* total(int b, std::size_t k) {
    std::size_t at = at_of(b).total;
    for (std::size_t i = 0; i < k; ++i) at += mine(b).ranges[i].size();
    return total_.data() + at;
  }

  /// Lists the messages by which each process receives the gradients of its part of a bucket.
  /// has[r] tells whether rank r has gradients.
  void list_sums(int b, const std::vector<bool>& has, messages& to) {
    to.clear();
    float* at = received_.data() + at_of(b).received;
    for (std::size_t r = 0; r < ranks_; ++r) {
      if (r == me_) continue;
      if (has[r]) add(to.receives, b, r, me_, nullptr, at), at += mine(b).floats;
      if (!has[me_]) continue;
      copy(b, r, of_.gradients.data(), true);
      add(to.sends, b, r, r, of_.gradients.data(), packed(b, r));
    }
  }
  /// Lists the messages by which each process sends its part of a bucket of parameters to all
  /// others. Call store_news() when all of them have arrived.
  void list_news(int b, messages& to) {
    to.clear();
    copy(b, me_, of_.values.data(), true);
    for (std::size_t r = 0; r < ranks_; ++r) {
      if (r == me_) continue;
      add(to.sends, b, r, me_, of_.values.data(), packed(b, me_));
      add(to.receives, b, r, r, of_.values.data(), packed(b, r));
    }
  }
  void store_news(int b) {
    for (std::size_t r = 0; r < ranks_; ++r)
      if (r != me_) copy(b, r, of_.values.data(), false);
  }
  /// Lists the messages by which each process sends its part of other arrays to all others.
  LAMINA_COLD void list_arrays(float* const* of, messages& to) {
    to.clear();
    for (int b = 0; b < buckets(); ++b)
      for (std::size_t r = 0; r < ranks_; ++r) {
        if (r == me_) continue;
        for (const range& a : mine(b).ranges)
          to.sends.push_back(
              {static_cast<int>(r), of[a.array] + a.first, a.size() * sizeof(float)});
        for (const range& a : of_rank(b, r).ranges)
          to.receives.push_back(
              {static_cast<int>(r), of[a.array] + a.first, a.size() * sizeof(float)});
      }
  }

  /// Lists the messages by which each process sends its part of other arrays to rank 0 or, with
  /// `back`, receives it from rank 0.
  LAMINA_COLD void list_at_first(float* const* of, bool back, messages& to) const {
    to.clear();
    std::vector<process_group::message>& list = back == (me_ == 0) ? to.sends : to.receives;
    for (int b = 0; b < buckets(); ++b)
      for (std::size_t r = 1; r < ranks_; ++r) {
        if (me_ != 0 && r != me_) continue;
        const int peer = static_cast<int>(me_ == 0 ? r : 0);
        for (const range& a : of_rank(b, r).ranges)
          list.push_back({peer, of[a.array] + a.first, a.size() * sizeof(float)});
      }
  }

  /// Sums the gradients of this process's threads, weighted by part, into the gradients of thread
  /// 0.
  void add_threads(int b, const std::vector<double>& weights) {
    if (of_.is_double)
      add_threads_as<double>(b, weights);
    else
      add_threads_as<float>(b, weights);
  }
  /// Sums this process's part of a bucket over the processes into total(). If each process has one
  /// thread, the gradients are not weighted yet.
  void add_ranks(int b, const std::vector<double>& weights, const std::vector<bool>& has) {
    if (of_.is_double)
      add_ranks_as<double>(b, weights, has);
    else
      add_ranks_as<float>(b, weights, has);
  }

 private:
  /// Offsets, in floats, of a bucket in each kind of memory.
  struct place {
    std::size_t received, total, packed;
    bool packs = false;  // some process owns several ranges of the bucket
  };

  static constexpr std::size_t most_packed = usual_bucket_bytes / sizeof(float);

  const place& at_of(int b) const { return places_[static_cast<std::size_t>(b)]; }
  float* packed(int b, std::size_t rank) {
    if (!at_of(b).packs) return nullptr;
    return packed_.data() + at_of(b).packed + of_rank(b, rank).at;
  }
  /// Copies a rank's part of a bucket to packed memory, or back.
  void copy(int b, std::size_t rank, float* const* of, bool packs) {
    if (!at_of(b).packs) return;
    float* at = packed(b, rank);
    for (const range& a : of_rank(b, rank).ranges) {
      float* const array = of[a.array] + a.first;
      std::memcpy(packs ? at : array, packs ? array : at, a.size() * sizeof(float));
      at += a.size();
    }
  }
  /// Appends the messages to or from `peer` that transport the floats of `rank`. The floats are in
  /// `of`, or in `together` if they are packed or `of` is null.
  void add(std::vector<process_group::message>& to, int b, std::size_t peer, std::size_t rank,
           float* const* of, float* together) {
    const shard& s = of_rank(b, rank);
    if (s.floats == 0) return;
    const int number = static_cast<int>(peer);
    if (at_of(b).packs) return to.push_back({number, together, s.floats * sizeof(float)});
    for (const range& a : s.ranges) {
      to.push_back(
          {number, of == nullptr ? together : of[a.array] + a.first, a.size() * sizeof(float)});
      together += of == nullptr ? a.size() : 0;
    }
  }

  template <class T>
  void add_threads_as(int b, const std::vector<double>& weights) {
    const std::size_t threads = static_cast<std::size_t>(of_.threads);
    std::vector<const T*> part(threads);
    std::vector<T> weight(threads);
    for (std::size_t t = 0; t < threads; ++t)
      weight[t] = static_cast<T>(weights[me_ * threads + t]);
    for (const shard& s : bucket(b).of_rank)
      for (const range& a : s.ranges) {
        for (std::size_t t = 0; t < threads; ++t)
          part[t] = reinterpret_cast<const T*>(gradient(t, a.array) + a.first);
        tree_sum<T>({part.data(), weight.data(), of_.threads})
            .add(0, numbers<T>(a), reinterpret_cast<T*>(gradient(0, a.array) + a.first));
      }
  }
  template <class T>
  void add_ranks_as(int b, const std::vector<double>& weights, const std::vector<bool>& has) {
    std::vector<const T*> part(ranks_);
    std::vector<T> weight;
    if (of_.threads == 1)
      for (const double w : weights) weight.push_back(static_cast<T>(w));
    std::size_t at = 0;
    for (const range& a : mine(b).ranges) {
      const float* from = received_.data() + at_of(b).received + at;
      for (std::size_t r = 0; r < ranks_; ++r) {
        const float* array = nullptr;
        if (r == me_)
          array = gradient(0, a.array) + a.first;
        else if (has[r])
          array = std::exchange(from, from + mine(b).floats);
        part[r] = has[r] ? reinterpret_cast<const T*>(array) : nullptr;
      }
      tree_sum<T>({part.data(), weight.empty() ? nullptr : weight.data(), static_cast<int>(ranks_)})
          .add(0, numbers<T>(a), reinterpret_cast<T*>(total_.data() + at_of(b).total + at));
      at += a.size();
    }
  }
  template <class T>
  static std::size_t numbers(const range& a) {
    return a.size() * sizeof(float) / sizeof(T);
  }
  float* gradient(std::size_t thread, int array) const {
    return of_
        .gradients[thread * static_cast<std::size_t>(of_.count) + static_cast<std::size_t>(array)];
  }

  bucket_arrays of_;
  gradient_shards shards_;
  std::size_t me_, ranks_;
  std::vector<place> places_;  // the offsets of each bucket
  engine::aligned_buffer received_, total_, packed_;
};

}}}  // namespace lamina::distributed
