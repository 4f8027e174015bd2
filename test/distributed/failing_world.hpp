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

#include <lamina/core/error.hpp>
#include <lamina/train/shared_arrays.hpp>
#include <lamina/train/world.hpp>

namespace test {

/// Shared arrays that throw, or block forever if `hangs` is set, in their third step after three
/// quarters of its groups. At that time some gradients are being sent and others are not yet
/// computed.
class failing_arrays final : public lamina::shared_arrays {
 public:
  failing_arrays(std::unique_ptr<lamina::shared_arrays> of, bool hangs)
      : shared_arrays(of->rank(), of->ranks()), of_(std::move(of)), hangs_(hangs) {}

  void begin(const lamina::shared_facts& mine, float* const* accumulators, int states) override {
    of_->describe(options_);
    of_->begin(mine, accumulators, states);
  }
  void require_samples(std::uint64_t checksum, bool shares) override {
    of_->require_samples(checksum, shares);
  }
  void join_shares(std::int64_t* first, std::int64_t* count, int domains) override {
    of_->join_shares(first, count, domains);
  }
  void gather_facts(void* all, std::size_t bytes, int local, int samples) override {
    of_->use(update_);
    of_->gather_facts(all, bytes, local, samples);
  }
  void average(const float* const* copies, float* const* to, const std::size_t* floats, int count,
               const lamina::part_weights& weights) override {
    of_->average(copies, to, floats, count, weights);
  }
  void add_up(double* numbers, std::size_t count) override { of_->add_up(numbers, count); }
  void add_up(lamina::metric_sum& sum, bool is_sum) override { of_->add_up(sum, is_sum); }
  void join_rows(lamina::engine::cpu::basic_selected_rows<float>* const* mine, int columns,
                 const lamina::part_weights& weights) override {
    of_->join_rows(mine, columns, weights);
  }
  void join_rows(lamina::engine::cpu::basic_selected_rows<double>* const* mine, int columns,
                 const lamina::part_weights& weights) override {
    of_->join_rows(mine, columns, weights);
  }
  void begin_sums(const lamina::part_weights& weights, int samples, update_function how,
                  void* trainer) override {
    of_->begin_sums(weights, samples, how, trainer);
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
  bool adds_threads() const override { return of_->adds_threads(); }
  void reduce(const lamina::part_weights& weights, lamina::worker_pool& pool) override {
    of_->reduce(weights, pool);
  }
  void bring_totals() override { of_->bring_totals(); }
  void update(update_function how, void* trainer, lamina::worker_pool& pool) override {
    of_->update(how, trainer, pool);
  }
  void collect(float* const* of, int states) override { of_->collect(of, states); }
  bool divides_states() const override { return of_->divides_states(); }
  void release_others(float* const* of, int states) noexcept override {
    of_->release_others(of, states);
  }

 private:
  std::unique_ptr<lamina::shared_arrays> of_;
  bool hangs_;
  int steps_ = 0, most_ = 0;
  std::atomic<int> groups_{0};  // the calls of advance() in this step, by all threads
};

class failing_world final : public lamina::world {
 public:
  failing_world(lamina::world& of, bool hangs)
      : world(of.rank(), of.size()), of_(of), hangs_(hangs) {}
  std::int64_t add_up(std::int64_t mine) override { return of_.add_up(mine); }
  std::unique_ptr<lamina::shared_arrays> share(const lamina::trained_arrays& of) override {
    return std::make_unique<failing_arrays>(of_.share(of), hangs_);
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
