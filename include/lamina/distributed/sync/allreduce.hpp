// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/sync/allreduce.hpp - synchronises parameters without servers: processes
// exchange gradients and parameters.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/arrays/owned_array.hpp>
#include <lamina/core/files/checksum.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/distributed/embedding/row_mapping.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/distributed/sync/bucket_exchange.hpp>
#include <lamina/distributed/sync/bucket_memory.hpp>
#include <lamina/distributed/sync/rows_exchange.hpp>
#include <lamina/optimizer/option_text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Synchronises parameters without servers, for a process_group: each process sums and updates its
/// shard of every bucket of gradients. Processes send each other gradients and parameters as bytes.
class allreduce final : public parameter_sync {
 public:
  LAMINA_COLD allreduce(process_group& group, const trained_arrays& of)
      : parameter_sync(group.rank(), group.size()),
        group_(group),
        is_double_(of.is_double),
        parameters_(of.values, of.values + of.count),
        floats_(of.floats, of.floats + of.count),
        exchange_(group, arrays_of(of),
                  {group.size(), sizes_of(of), of.times, group.bucket_bytes(), of.whole}) {
    divides_states_ = of.divides_states && group.parameter_servers() == 0;
    sums_threads_ = true;
    for (int i = 0; i < of.count; ++i) {
      if (of.has_rows[i]) rows_.push_back(i);
      in_shards_.push_back(of.gradients[i] != nullptr);
    }
  }
  allreduce(const allreduce&) = delete;
  allreduce& operator=(const allreduce&) = delete;
  ~allreduce() override { exchange_.drop(); }

  // Stage 1: begin.

  LAMINA_COLD void begin(const sync_facts& mine, float* const* accumulators, int states) override {
    std::vector<sync_facts> all(static_cast<std::size_t>(ranks_));
    group_.gather(&mine, sizeof mine, all.data());
    const std::uint64_t bytes = group_.bucket_bytes();
    std::vector<std::uint64_t> of_bucket(all.size());
    group_.gather(&bytes, sizeof bytes, of_bucket.data());
    // Compared before the options, because these contain the learning rate of the current step.
    for (std::size_t r = 1; r < all.size(); ++r)
      require(r, "number of earlier steps", all[0].steps, all[r].steps);
    require_options();
    for (std::size_t r = 1; r < all.size(); ++r) {
      require(r, "program", all[0].program, all[r].program);
      require(r, "seed", all[0].seed, all[r].seed);
      require(r, "number of threads", all[0].threads, all[r].threads);
      require(r, "sync_batch_norm", all[0].sync_batch_norm, all[r].sync_batch_norm);
      require(r, "bucket_bytes", of_bucket[0], of_bucket[r]);
    }
    std::vector<float*> arrays = parameters_;
    std::vector<std::size_t> floats = floats_;
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      for (int s = 0; s < states; ++s) {
        if (divides_states_ && in_shards_[i]) continue;
        arrays.push_back(
            accumulators[i * static_cast<std::size_t>(states) + static_cast<std::size_t>(s)]);
        floats.push_back(floats_[i]);
      }
    spread(arrays, floats);
    for (int s = 0; s < states && divides_states_; ++s)
      exchange_.gather(state(accumulators, states, s).data(), true);
  }

  LAMINA_COLD void require_samples(std::uint64_t checksum, bool shards) override {
    std::vector<std::uint64_t> all(static_cast<std::size_t>(ranks_));
    group_.gather(&checksum, sizeof checksum, all.data());
    if (shards) {
      if (ranks_ == 1) return;  // one trainer with parameter servers
      for (const std::uint64_t one : all)
        if (one != all[0]) return;
      throw error(
          "lamina: train: expected other samples in each process, as reads_shard is set, found "
          "the same in all: put | lamina::reader::shard(world) behind the reader");
    }
    for (std::size_t r = 1; r < all.size(); ++r)
      if (all[r] != all[0])
        throw error(text() << "lamina: train: expected the same samples in each process, in the "
                              "same order, found others in rank "
                           << r
                           << " than in rank 0: is the reader's seed that of the process? A reader "
                              "of shards needs {.reads_shard = true}");
  }

  LAMINA_COLD void gather_rows(std::int64_t* first, std::int64_t* count, int domains) override {
    const std::size_t n = static_cast<std::size_t>(domains), me = static_cast<std::size_t>(rank_);
    std::vector<std::int64_t> all(n * static_cast<std::size_t>(ranks_));
    group_.gather(count, n * sizeof *count, all.data());
    for (std::size_t d = 0; d < n; ++d) first[d] = count[d] = 0;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (k < me * n) first[k % n] += all[k];
      count[k % n] += all[k];
    }
  }

  void begin_step(const part_weights& weights, int samples, update_function how,
                  void* trainer) override {
    if (group_.bucket_bytes() > 0)
      exchange_.begin({values_of(weights), how, trainer, samples}, true);
  }

  // Stage 2: reduce.

  void gather_facts(void* all, std::size_t bytes, int local, int samples) override {
    const std::size_t mine = bytes * static_cast<std::size_t>(local);
    std::byte* const first = static_cast<std::byte*>(all);
    sent_.resize(mine + sizeof samples + sizeof update_);
    std::memcpy(sent_.data(), first + mine * static_cast<std::size_t>(rank_), mine);
    std::memcpy(sent_.data() + mine, &samples, sizeof samples);
    std::memcpy(sent_.data() + mine + sizeof samples, &update_, sizeof update_);
    gathered_.resize(sent_.size() * static_cast<std::size_t>(ranks_));
    group_.gather(sent_.data(), sent_.size(), gathered_.data());
    bool same_update = true;
    for (std::size_t r = 0; r < static_cast<std::size_t>(ranks_); ++r) {
      const std::byte* const from = gathered_.data() + r * sent_.size();
      std::memcpy(first + r * mine, from, mine);
      same_update =
          same_update && std::memcmp(from + mine + sizeof samples,
                                     gathered_.data() + mine + sizeof samples, sizeof update_) == 0;
      int others = 0;
      std::memcpy(&others, from + mine, sizeof others);
      if (others != samples)
        throw error(text() << "lamina: train: expected the same mini-batch in each process, found "
                           << samples << " samples in rank " << rank_ << " and " << others
                           << " in rank " << r);
    }
    if (!same_update) fail_update();
  }

  LAMINA_COLD void average(const float* const* copies, float* const* to, const std::size_t* floats,
                           int count, const part_weights& weights) override {
    if (is_double_)
      average_as<double>(copies, to, floats, static_cast<std::size_t>(count), weights);
    else
      average_as<float>(copies, to, floats, static_cast<std::size_t>(count), weights);
  }

  LAMINA_COLD void all_reduce_sum(double* numbers, std::size_t count) override {
    std::vector<double> all(count * static_cast<std::size_t>(ranks_));
    group_.gather(numbers, count * sizeof(double), all.data());
    for (std::size_t k = 0; k < count; ++k) numbers[k] = 0;
    for (std::size_t k = 0; k < all.size(); ++k) numbers[k % count] += all[k];
  }
  LAMINA_COLD void all_reduce_sum(metric_sum& sum, bool is_sum) override {
    std::vector<metric_sum> all(static_cast<std::size_t>(ranks_));
    group_.gather(&sum, sizeof sum, all.data());
    sum = {};
    for (const metric_sum& s : all) {
      sum.sums.add(s.sums);
      sum.numerator += s.numerator;
      sum.denominator = is_sum ? 1 : sum.denominator + s.denominator;
    }
  }

  LAMINA_COLD void reduce_rows(engine::cpu::basic_selected_rows<float>* const* mine, int columns,
                               const part_weights& weights) override {
    reduce_rows_as(mine, columns, weights);
  }
  LAMINA_COLD void reduce_rows(engine::cpu::basic_selected_rows<double>* const* mine, int columns,
                               const part_weights& weights) override {
    reduce_rows_as(mine, columns, weights);
  }

  void advance(int thread, int group) override {
    if (exchange_.is_open()) exchange_.advance(thread, group);
  }
  bool drop_step() noexcept override { return exchange_.drop(); }
  void reduce(const part_weights& weights, worker_pool& pool) override {
    if (!exchange_.is_open()) exchange_.begin({values_of(weights), nullptr, nullptr, 0}, false);
    pool.run([&](int t) { exchange_.finish(t); });
  }

  // Stage 3: update.

  LAMINA_COLD void gather_sums() override {
    bucket_memory& memory = exchange_.memory();
    float* const* const gradients = memory.arrays().gradients.data();
    for (int b = 0; b < memory.buckets(); ++b)
      for (std::size_t k = 0; k < memory.mine(b).ranges.size(); ++k) {
        const gradient_shards::range& a = memory.mine(b).ranges[k];
        std::memcpy(gradients[a.array] + a.first, memory.total(b, k), a.size() * sizeof(float));
      }
    exchange_.end();
    exchange_.all_gather(gradients);
  }

  void update(const update_facts&, update_function how, void* trainer, worker_pool& pool) override {
    const bool is_late = !exchange_.updates();
    if (is_late) exchange_.update_by(how, trainer);
    if (is_late || !rows_.empty())
      pool.run([&](int t) {
        for (std::size_t k = static_cast<std::size_t>(t); k < rows_.size();
             k += static_cast<std::size_t>(pool.size()))
          how(trainer, rows_[k], 0, 0, nullptr);
        exchange_.finish(t);
      });
    exchange_.end();
  }

  // Stage 4: gather.

  LAMINA_COLD std::int64_t gather_states(float* const* of, int states,
                                         std::int64_t steps) override {
    for (int s = 0; s < states; ++s) {
      const std::vector<float*> arrays = state(of, states, s);
      if (divides_states_)
        exchange_.gather(arrays.data(), false);
      else
        exchange_.all_gather(arrays.data());
    }
    return steps;
  }
  LAMINA_COLD void release_others(float* const* of, int states) noexcept override {
    if (!divides_states_) return;
    const bucket_memory& memory = exchange_.memory();
    const std::size_t me = static_cast<std::size_t>(rank_);
    for (std::size_t s = 0; s < static_cast<std::size_t>(states); ++s) {
      // Adjacent ranges of several ranks are merged, because only whole pages can be released.
      float *first = nullptr, *end = nullptr;
      for (int b = 0; b < memory.buckets(); ++b)
        for (std::size_t r = 0; r < static_cast<std::size_t>(ranks_); ++r)
          for (const gradient_shards::range& a : memory.of_rank(b, r).ranges) {
            if (r == me) continue;
            float* const at =
                of[static_cast<std::size_t>(a.array) * static_cast<std::size_t>(states) + s] +
                a.first;
            if (at != end) release_pages(std::exchange(first, at), end);
            end = at + a.size();
          }
      release_pages(first, end);
    }
  }

 private:
  /// Returns accumulator number s of all parameters.
  std::vector<float*> state(float* const* of, int states, int s) const {
    std::vector<float*> arrays(parameters_.size());
    for (std::size_t i = 0; i < arrays.size(); ++i)
      arrays[i] = of[i * static_cast<std::size_t>(states) + static_cast<std::size_t>(s)];
    return arrays;
  }
  static std::vector<std::size_t> sizes_of(const trained_arrays& of) {
    std::vector<std::size_t> sizes;
    for (int i = 0; i < of.count; ++i)
      sizes.push_back(of.gradients[i] != nullptr ? of.floats[i] : 0);
    return sizes;
  }
  static bucket_arrays arrays_of(const trained_arrays& of) {
    return {{of.gradients, of.gradients + of.threads * of.count},
            {of.values, of.values + of.count},
            of.count,
            of.threads,
            of.is_double};
  }
  /// Copies the arrays of rank 0 to all ranks.
  LAMINA_COLD void spread(const std::vector<float*>& of, const std::vector<std::size_t>& floats) {
    std::vector<process_group::message> messages;
    for (int r = rank_ == 0 ? 1 : 0; r < (rank_ == 0 ? ranks_ : 1); ++r)
      for (std::size_t i = 0; i < of.size(); ++i)
        messages.push_back({r, of[i], floats[i] * sizeof(float)});
    const std::vector<process_group::message> none;
    group_.exchange(rank_ == 0 ? messages : none, rank_ == 0 ? none : messages);
  }
  /// Throws lamina::error that names the options in which a rank differs from rank 0.
  LAMINA_COLD void require_options() {
    if (ranks_ == 1) return;
    const std::string mine = options();
    checksum sum;
    sum.add(mine.data(), mine.size());
    const std::uint64_t own = sum.value();
    std::vector<std::uint64_t> all(static_cast<std::size_t>(ranks_));
    group_.gather(&own, sizeof own, all.data());
    for (const std::uint64_t one : all)
      if (one != all[0]) fail_options(mine);
  }
  /// Throws the same error after options have changed. All ranks must call it.
  [[noreturn]] LAMINA_COLD void fail_update() { fail_options(options()); }
  std::string options() const {
    return options_.text != nullptr ? options_.text(options_.trainer) : std::string();
  }
  [[noreturn]] LAMINA_COLD void fail_options(const std::string& mine) {
    const std::vector<std::string> all = texts_of_ranks(group_, mine);
    std::size_t r = 1;
    while (r + 1 < all.size() && all[r] == all[0]) ++r;
    throw error(text() << "lamina: train: expected the same optimizer in each process, found "
                       << optimizer::lines_of_one(all[0], all[r]) << " in rank 0 and "
                       << optimizer::lines_of_one(all[r], all[0]) << " in rank " << r);
  }
  template <class T>
  static void require(std::size_t rank, std::string_view what, T first, T found) {
    if (first == found) return;
    throw error(text() << "lamina: train: expected the same " << what << " in each process, found "
                       << first << " in rank 0 and " << found << " in rank " << rank);
  }
  template <class T>
  static std::vector<T> weights_of(const part_weights& weights) {
    std::vector<T> all(static_cast<std::size_t>(weights.count));
    const std::byte* from = static_cast<const std::byte*>(weights.first);
    for (T& w : all) {
      std::memcpy(&w, from, sizeof w);
      from += weights.stride;
    }
    return all;
  }

  /// Returns the weights as doubles, which represent every float exactly.
  std::vector<double> values_of(const part_weights& weights) const {
    if (is_double_) return weights_of<double>(weights);
    const std::vector<float> all = weights_of<float>(weights);
    return {all.begin(), all.end()};
  }
  template <class T>
  void average_as(const float* const* copies, float* const* to, const std::size_t* floats,
                  std::size_t count, const part_weights& weights) {
    const std::vector<T> weight = weights_of<T>(weights);
    const std::size_t local = static_cast<std::size_t>(weights.local);
    std::size_t size = 0;
    for (std::size_t i = 0; i < count; ++i) size += floats[i];
    std::vector<float> mine(size * local), all(size * weight.size());
    for (std::size_t t = 0, at = 0; t < local; ++t)
      for (std::size_t i = 0; i < count; at += floats[i], ++i)
        std::memcpy(mine.data() + at, copies[t * count + i], floats[i] * sizeof(float));
    group_.gather(mine.data(), mine.size() * sizeof(float), all.data());
    std::size_t first = 0;
    for (std::size_t i = 0; i < count; first += floats[i], ++i) {
      T* const mean = reinterpret_cast<T*>(to[i]);
      const std::size_t n = floats[i] * sizeof(float) / sizeof(T);
      for (std::size_t k = 0; k < n; ++k) {
        T sum = 0, one = 0;
        bool found = false, equal = true;
        for (std::size_t p = 0; p < weight.size(); ++p) {
          if (weight[p] <= 0) continue;
          T value;
          std::memcpy(
              &value,
              reinterpret_cast<const std::byte*>(all.data() + p * size + first) + k * sizeof(T),
              sizeof value);
          sum = (found ? sum : T(0)) + weight[p] * value;
          if (!found) one = value;
          equal = equal && value == one;
          found = true;
        }
        if (found) mean[k] = equal ? one : sum;
      }
    }
  }
  template <class T>
  void reduce_rows_as(engine::cpu::basic_selected_rows<T>* const* mine, int columns,
                      const part_weights& weights) {
    rows_exchange<T>(group_).reduce({mine, mine + weights.local}, columns, weights_of<T>(weights));
  }

  process_group& group_;
  bool is_double_;
  std::vector<float*> parameters_;  // all parameters
  std::vector<std::size_t> floats_;
  std::vector<int> rows_;        // parameters with sparse gradients (selected rows)
  std::vector<bool> in_shards_;  // by parameter: whether it is sharded over the ranks
  bucket_exchange exchange_;
  std::vector<std::byte> sent_, gathered_;
};

}}}  // namespace lamina::distributed
