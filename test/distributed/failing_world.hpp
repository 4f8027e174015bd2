// SPDX-License-Identifier: Apache-2.0
// test/distributed/failing_world.hpp - a world that fails in the middle of a backward pass.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include <lamina/core/messages/error.hpp>
#include <lamina/train/parameter_sync.hpp>
#include <lamina/train/world.hpp>

namespace test {

/// A parameter_sync that fails, or does nothing more, in its third step, after three quarters of
/// its groups: then some gradients are on their way and others are not computed yet.
class failing_sync final : public lamina::parameter_sync {
 public:
  failing_sync(std::unique_ptr<lamina::parameter_sync> of, bool hangs)
      : parameter_sync(of->rank(), of->ranks()), of_(std::move(of)), hangs_(hangs) {
    divides_states_ = of_->divides_states();
    sums_threads_ = of_->sums_threads();
  }

  void begin(const lamina::sync_facts& mine, float* const* accumulators, int states) override {
    of_->describe(options_);
    of_->begin(mine, accumulators, states);
  }
  void require_samples(std::uint64_t checksum, bool shards) override {
    of_->require_samples(checksum, shards);
  }
  void gather_rows(std::int64_t* first, std::int64_t* count, int domains) override {
    of_->gather_rows(first, count, domains);
  }
  void gather_facts(void* all, std::size_t bytes, int local, int samples) override {
    of_->use(update_);
    of_->gather_facts(all, bytes, local, samples);
  }
  void average(const float* const* copies, float* const* to, const std::size_t* floats, int count,
               const lamina::part_weights& weights) override {
    of_->average(copies, to, floats, count, weights);
  }
  void all_reduce_sum(double* numbers, std::size_t count) override {
    of_->all_reduce_sum(numbers, count);
  }
  void all_reduce_sum(lamina::metric_sum& sum, bool is_sum) override {
    of_->all_reduce_sum(sum, is_sum);
  }
  void reduce_rows(lamina::engine::cpu::basic_selected_rows<float>* const* mine, int columns,
                   const lamina::part_weights& weights) override {
    of_->reduce_rows(mine, columns, weights);
  }
  void reduce_rows(lamina::engine::cpu::basic_selected_rows<double>* const* mine, int columns,
                   const lamina::part_weights& weights) override {
    of_->reduce_rows(mine, columns, weights);
  }
  void begin_step(const lamina::part_weights& weights, int samples, update_function how,
                  void* trainer) override {
    of_->begin_step(weights, samples, how, trainer);
    ++steps_;
    const int told = groups_.exchange(0);
    most_ = told > most_ ? told : most_;
  }
  void advance(int thread, int group) override {
    of_->advance(thread, group);
    if (++groups_ != most_ * 3 / 4 || steps_ != 3) return;
    while (hangs_) std::this_thread::sleep_for(std::chrono::seconds(1));
    throw lamina::error("lamina: test: a group fails");
  }
  bool drop_step() noexcept override { return of_->drop_step(); }
  void reduce(const lamina::part_weights& weights, lamina::worker_pool& pool) override {
    of_->reduce(weights, pool);
  }
  void gather_sums() override { of_->gather_sums(); }
  void update(const lamina::update_facts& facts, update_function how, void* trainer,
              lamina::worker_pool& pool) override {
    of_->update(facts, how, trainer, pool);
  }
  std::int64_t gather_states(float* const* of, int states, std::int64_t steps) override {
    return of_->gather_states(of, states, steps);
  }
  void release_others(float* const* of, int states) noexcept override {
    of_->release_others(of, states);
  }

 private:
  std::unique_ptr<lamina::parameter_sync> of_;
  bool hangs_;
  int steps_ = 0, most_ = 0;
  std::atomic<int> groups_{0};  // the calls of advance() in this step, by all threads
};

class failing_world final : public lamina::world {
 public:
  failing_world(lamina::world& of, bool hangs)
      : world(of.rank(), of.size()), of_(of), hangs_(hangs) {}
  std::int64_t all_reduce_sum(std::int64_t mine) override { return of_.all_reduce_sum(mine); }
  std::unique_ptr<lamina::parameter_sync> make_sync(const lamina::trained_arrays& of) override {
    return std::make_unique<failing_sync>(of_.make_sync(of), hangs_);
  }
  void gather(const void* mine, std::size_t bytes, void* all) override {
    of_.gather(mine, bytes, all);
  }
  void fail(std::string_view why) noexcept override { of_.fail(why); }

 private:
  lamina::world& of_;
  bool hangs_;
};

}  // namespace test
