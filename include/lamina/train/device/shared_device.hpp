// SPDX-License-Identifier: Apache-2.0
// lamina/train/device/shared_device.hpp - the mini-batches of a training with one device per
// process.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <lamina/core/arrays/owned_array.hpp>
#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/model/device/device_arrays.hpp>
#include <lamina/model/evaluation/metric_sums.hpp>
#include <lamina/model/parameters/moving_statistics.hpp>
#include <lamina/train/device/device_sums.hpp>
#include <lamina/train/gradients/cost_rows.hpp>
#include <lamina/train/gradients/part_facts.hpp>
#include <lamina/train/gradients/required_parts.hpp>
#include <lamina/train/parameter_sync.hpp>
#include <lamina/train/world.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// One process of a distributed training on devices. Its device computes the gradients of a part of
/// each mini-batch. Then the devices sum them, and each updates all parameters. P is the recorded
/// program, and Training the program that the device runs.
template <program_type P, class Training, class Backend>
class shared_device {
 public:
  using part_weight = cost_rows<P, Training>;
  static constexpr int parameters = counts_of<P>.parameters;

  LAMINA_COLD shared_device(world& w, Backend& b, bool reads_shard)
      : sync_(w.make_sync({nullptr, nullptr, nullptr, nullptr, 0, false, false})),
        sums_(w.share_device(b.number(), stream_of(b))),
        facts_(static_cast<std::size_t>(w.size())),
        reads_shard_(reads_shard) {
    detail::require_parts<P, Training>(w.size());
  }

  /// Throws lamina::error unless all processes read the same samples or, if each reads its own,
  /// different ones.
  void require_samples(std::uint64_t checksum) { sync_->require_samples(checksum, reads_shard_); }
  /// Forwards to parameter_sync::describe() and use().
  void describe(const parameter_sync::options_text& options) { sync_->describe(options); }
  void use(std::uint64_t update) { sync_->use(update); }
  /// Before the first step: compares the facts of the processes, and copies the arrays of rank 0,
  /// which have the sizes of parameters, to all of them.
  LAMINA_COLD void begin(const sync_facts& mine, float* const* values, float* const* accumulators,
                         int states) {
    sync_->begin(mine, nullptr, 0);
    sums_->begin();
    for (int i = 0; i < parameters; ++i) {
      sums_->spread(values[i], floats_of(i));
      for (int s = 0; s < states; ++s) sums_->spread(accumulators[i * states + s], floats_of(i));
    }
    sums_->end();
  }
  /// Runs this process's part of a mini-batch. Returns the cost of the whole mini-batch.
  template <class Machine>
  LAMINA_COLD float run(Machine& m, const batch_view<P>& batch, std::uint64_t seed,
                        std::uint64_t step) {
    const int me = sync_->rank(), ranks = sync_->ranks();
    batch_view<P> mine = batch, whole = batch;
    if (reads_shard_)
      detail::gather_rows<P>(*sync_, mine, whole);
    else
      mine = batch.part(first_of_part(batch, me, ranks), first_of_part(batch, me + 1, ranks));
    part_facts<P>& f = facts_[static_cast<std::size_t>(me)];
    f = {};
    f.samples = mine.size();
    f.weight = static_cast<float>(part_weight::fed(mine));
    if (f.samples > 0) {
      mine.feed_to(m);
      part_weight::divide(m, mine, whole);
      m.run(~0ull, seed, step);
      f.cost = static_cast<float>(detail::number_in<P, P::desc.cost>(m));
      if (part_weight::is_made) f.weight = static_cast<float>(m.rows(part_weight::domain));
      if constexpr (part_weight::is_quotient) detail::note_quotient<P, Training>(f, m);
    }
    sync_->gather_facts(facts_.data(), sizeof(part_facts<P>), 1, reads_shard_ ? 0 : batch.size());
    quotient_sums sums;
    double divisor = 0;
    return detail::weigh_parts<P, Training>(facts_, sums, divisor, [this] { rows_ = facts_; });
  }
  /// Sets the moving statistics on the device to the mean over all parts.
  LAMINA_COLD void average_statistics(device_arrays<Backend>& values) {
    using statistics = moving_statistics<P>;
    if constexpr (statistics::count > 0) {
      constexpr std::size_t count = static_cast<std::size_t>(statistics::count);
      const float* copies[count];
      float* to[count];
      std::size_t floats[count];
      for (std::size_t i = 0; i < count; ++i) {
        const int parameter = statistics::parameter(static_cast<int>(i));
        floats[i] = parameters_in<P>().floats(parameter);
        own_[i].resize(floats[i]);
        mean_[i].resize(floats[i]);
        values.download_one(parameter, values.pointers()[parameter], own_[i].data());
        copies[i] = own_[i].data();
        to[i] = mean_[i].data();
      }
      sync_->average(copies, to, floats, statistics::count,
                     {&rows_[0].weight, sizeof(part_facts<P>), sync_->ranks(), 1});
      for (std::size_t i = 0; i < count; ++i) {
        const int parameter = statistics::parameter(static_cast<int>(i));
        values.upload_one(parameter, to[i], values.pointers()[parameter]);
      }
    }
  }
  /// Sums the gradients of the parameters for which is_updated(i) holds.
  template <class IsUpdated>
  LAMINA_COLD void all_reduce_sum(float* const* gradients, IsUpdated&& is_updated) {
    const float weight = facts_[static_cast<std::size_t>(sync_->rank())].weight;
    sums_->begin();
    for (int i = 0; i < parameters; ++i)
      if (is_updated(i)) sums_->all_reduce_sum(gradients[i], floats_of(i), weight);
    sums_->end();
  }

  /// Adds a metric of the last mini-batch over all processes.
  template <class Machine>
  LAMINA_COLD void add(metric_sum& sum, Machine& m, int i) {
    using metrics = metric_rules<P>;
    if (metrics::all.of[i].counts.positive >= 0) {
      struct holder {
        Machine& of;
        Machine& machine() const { return of; }
      };
      const holder own{m};
      const holder* const machines[] = {&own};
      return metrics::add_counts(sum, machines, i, [this](double* counts, std::size_t n) {
        sync_->all_reduce_sum(counts, n);
      });
    }
    if (facts_[static_cast<std::size_t>(sync_->rank())].samples > 0) metrics::add(sum, m, i);
    sync_->all_reduce_sum(sum, metrics::all.of[i].parts.is_sum);
  }

 private:
  static std::size_t floats_of(int i) {
    const parameter_layout& p = parameter_table<P>::table.of[i];
    return static_cast<std::size_t>(p.rows) * static_cast<std::size_t>(padded(p.columns));
  }
  static void* stream_of(Backend& b) {
    if constexpr (requires { b.stream(); })
      return b.stream();
    else
      return nullptr;
  }

  std::unique_ptr<parameter_sync> sync_;
  std::unique_ptr<device_sums> sums_;
  std::vector<part_facts<P>> facts_, rows_;  // by rank; rows_ has fractions of rows as weights
  bool reads_shard_;
  engine::aligned_buffer own_[bound(at_least_one(moving_statistics<P>::count))],
      mean_[bound(at_least_one(moving_statistics<P>::count))];
};

}}  // namespace lamina
