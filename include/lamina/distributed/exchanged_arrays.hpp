// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/exchanged_arrays.hpp - parameters that processes update together by exchanging
// bytes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include <lamina/core/error.hpp>
#include <lamina/core/owned_array.hpp>
#include <lamina/core/text.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/distributed/rows_exchange.hpp>
#include <lamina/distributed/shard_exchange.hpp>

namespace lamina::inline LAMINA_ABI::distributed {

/// The shared_arrays of a process_group: processes send each other gradients and parameters as
/// bytes.
class exchanged_arrays final : public shared_arrays {
 public:
  LAMINA_COLD exchanged_arrays(process_group& group, const trained_arrays& of)
      : shared_arrays(group.rank(), group.size()),
        group_(group),
        whole_(of.whole),
        is_double_(of.is_double),
        parameters_(of.values, of.values + of.count),
        floats_(of.floats, of.floats + of.count),
        exchange_(group, sizes_of(of), of.whole) {
    for (int i = 0; i < of.count; ++i) {
      if (of.has_rows[i]) rows_.push_back(i);
      if (of.gradients[i] == nullptr) continue;
      number_.push_back(i);
      gradients_.push_back(of.gradients[i]);
      values_.push_back(of.values[i]);
    }
  }

  LAMINA_COLD void begin(const shared_facts& mine, float* const* accumulators,
                         int states) override {
    std::vector<shared_facts> all(static_cast<std::size_t>(ranks_));
    group_.gather(&mine, sizeof mine, all.data());
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

  LAMINA_COLD void require_samples(std::uint64_t checksum, bool shares) override {
    std::vector<std::uint64_t> all(static_cast<std::size_t>(ranks_));
    group_.gather(&checksum, sizeof checksum, all.data());
    if (shares) {
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
                              "of shares needs {.reads_shard = true}");
  }

  LAMINA_COLD void join_shares(std::int64_t* first, std::int64_t* count, int domains) override {
    const std::size_t n = static_cast<std::size_t>(domains), me = static_cast<std::size_t>(rank_);
    std::vector<std::int64_t> all(n * static_cast<std::size_t>(ranks_));
    group_.gather(count, n * sizeof *count, all.data());
    for (std::size_t d = 0; d < n; ++d) first[d] = count[d] = 0;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (k < me * n) first[k % n] += all[k];
      count[k % n] += all[k];
    }
  }

  void gather_facts(void* all, std::size_t bytes, int local, int samples) override {
    const std::size_t mine = bytes * static_cast<std::size_t>(local);
    std::byte* const first = static_cast<std::byte*>(all);
    sent_.resize(mine + sizeof samples);
    std::memcpy(sent_.data(), first + mine * static_cast<std::size_t>(rank_), mine);
    std::memcpy(sent_.data() + mine, &samples, sizeof samples);
    gathered_.resize(sent_.size() * static_cast<std::size_t>(ranks_));
    group_.gather(sent_.data(), sent_.size(), gathered_.data());
    for (std::size_t r = 0; r < static_cast<std::size_t>(ranks_); ++r) {
      const std::byte* const from = gathered_.data() + r * sent_.size();
      std::memcpy(first + r * mine, from, mine);
      int others = 0;
      std::memcpy(&others, from + mine, sizeof others);
      if (others != samples)
        throw error(text() << "lamina: train: expected the same mini-batch in each process, found "
                           << samples << " samples in rank " << rank_ << " and " << others
                           << " in rank " << r);
    }
  }

  LAMINA_COLD void average(const float* const* copies, float* const* to, const std::size_t* floats,
                           int count, const part_weights& weights) override {
    if (is_double_)
      average_as<double>(copies, to, floats, static_cast<std::size_t>(count), weights);
    else
      average_as<float>(copies, to, floats, static_cast<std::size_t>(count), weights);
  }

  LAMINA_COLD void add_up(double* numbers, std::size_t count) override {
    std::vector<double> all(count * static_cast<std::size_t>(ranks_));
    group_.gather(numbers, count * sizeof(double), all.data());
    for (std::size_t k = 0; k < count; ++k) numbers[k] = 0;
    for (std::size_t k = 0; k < all.size(); ++k) numbers[k % count] += all[k];
  }
  LAMINA_COLD void add_up(metric_sum& sum, bool is_sum) override {
    std::vector<metric_sum> all(static_cast<std::size_t>(ranks_));
    group_.gather(&sum, sizeof sum, all.data());
    sum = {};
    for (const metric_sum& s : all) {
      sum.sums.add(s.sums);
      sum.numerator += s.numerator;
      sum.denominator = is_sum ? 1 : sum.denominator + s.denominator;
    }
  }

  LAMINA_COLD void join_rows(engine::cpu::basic_selected_rows<float>* const* mine, int columns,
                             const part_weights& weights) override {
    join_rows_as(mine, columns, weights);
  }
  LAMINA_COLD void join_rows(engine::cpu::basic_selected_rows<double>* const* mine, int columns,
                             const part_weights& weights) override {
    join_rows_as(mine, columns, weights);
  }

  void reduce(const part_weights& weights) override {
    if (is_double_)
      reduce_as<double>(weights);
    else
      reduce_as<float>(weights);
  }

  LAMINA_COLD void bring_totals() override {
    for (std::size_t k = 0; k < exchange_.mine().size(); ++k) {
      const shard_exchange::range& a = exchange_.mine()[k];
      std::memcpy(gradients_[static_cast<std::size_t>(a.array)] + a.first, exchange_.total(k),
                  (a.end - a.first) * sizeof(float));
    }
    exchange_.collect(gradients_.data());
  }

  void update(update_function how, void* trainer, worker_pool& pool) override {
    pool.run([&](int t) {
      update_part(how, trainer, static_cast<std::size_t>(t), static_cast<std::size_t>(pool.size()));
    });
    exchange_.collect(values_.data());
  }

  LAMINA_COLD void collect(float* const* of, int states) override {
    std::vector<float*> arrays(number_.size());
    for (int s = 0; s < states; ++s) {
      for (std::size_t k = 0; k < number_.size(); ++k) arrays[k] = of[number_[k] * states + s];
      exchange_.collect(arrays.data());
    }
  }

 private:
  static std::vector<std::size_t> sizes_of(const trained_arrays& of) {
    std::vector<std::size_t> sizes;
    for (int i = 0; i < of.count; ++i)
      if (of.gradients[i] != nullptr) sizes.push_back(of.floats[i]);
    return sizes;
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

  template <class T>
  void reduce_as(const part_weights& weights) {
    const std::vector<T> of_part = weights_of<T>(weights);
    const std::size_t local = static_cast<std::size_t>(weights.local);
    std::vector<T> of_rank(static_cast<std::size_t>(ranks_));
    const owned_array<bool> has(of_rank.size());
    for (std::size_t p = 0; p < of_part.size(); ++p) {
      if (of_part[p] == 0) continue;
      of_rank[p / local] = of_part[p];
      has[p / local] = true;
    }
    exchange_.reduce<T>(gradients_.data(), local == 1 ? of_rank.data() : nullptr, has.get());
  }
  /// Updates what belongs to thread `part` of `parts` threads in the shard of this process.
  void update_part(update_function how, void* trainer, std::size_t part, std::size_t parts) {
    for (std::size_t k = 0; k < exchange_.mine().size(); ++k) {
      const shard_exchange::range& a = exchange_.mine()[k];
      const int i = number_[static_cast<std::size_t>(a.array)];
      float* const total = exchange_.total(k);
      if (whole_) {
        if (k % parts == part) how(trainer, i, a.first, a.end - a.first, total);
        continue;
      }
      const std::size_t lines = (a.end - a.first) / alignment_floats;
      const std::size_t first = lines * part / parts * alignment_floats,
                        end = lines * (part + 1) / parts * alignment_floats;
      if (end > first) how(trainer, i, a.first + first, end - first, total + first);
    }
    for (std::size_t k = part; k < rows_.size(); k += parts) how(trainer, rows_[k], 0, 0, nullptr);
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
  void join_rows_as(engine::cpu::basic_selected_rows<T>* const* mine, int columns,
                    const part_weights& weights) {
    rows_exchange<T>(group_).join({mine, mine + weights.local}, columns, weights_of<T>(weights));
  }

  process_group& group_;
  bool whole_, is_double_;
  std::vector<float*> parameters_;  // all of them
  std::vector<std::size_t> floats_;
  std::vector<int> rows_;    // parameters whose gradients are selected rows
  std::vector<int> number_;  // the parameter of each array of exchange_
  std::vector<float*> gradients_, values_;
  shard_exchange exchange_;
  std::vector<std::byte> sent_, gathered_;
};

}  // namespace lamina::inline LAMINA_ABI::distributed
