// SPDX-License-Identifier: Apache-2.0
// lamina/train/in_process.hpp - the threads of one process: they sum the gradients of the parts of
// a mini-batch and update the parameters.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>

#include <lamina/core/threads/worker_pool.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/train/gradients/gradient_parts.hpp>
#include <lamina/train/parameter_updates.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Synchronises parameters between the threads of one process, which share the memory of the model:
/// each thread computes the gradients of a part of the mini-batch; then each sums and updates a
/// range of all parameters. It does for threads what parameter_sync does for processes, without a
/// virtual call. `Machine` computes the parts.
template <program_type P, optimizer::optimizer_type Opt,
          class Machine = engine::cpu::machine<training_program<P, Opt>>>
class in_process {
 public:
  using updates_type = parameter_updates<P, Opt, Machine>;
  using real = real_of<P>;
  using parts_type = gradient_parts<P, training_program<P, Opt>, Machine>;

  /// `of` must outlive this object.
  in_process(updates_type& of, int threads) : updates_(of), pool_(threads < 1 ? 1 : threads) {}

  int threads() const { return pool_.size(); }
  worker_pool& pool() { return pool_; }
  /// The gradients of all threads. make_parts() allocates their machines, or replaces them.
  bool has_parts() const { return static_cast<bool>(parts_); }
  parts_type& parts() { return *parts_; }
  const parts_type& parts() const { return *parts_; }
  LAMINA_COLD void make_parts() { parts_.emplace(updates_.trained(), pool_.size()); }

  /// Sums the gradients of all threads into the first machine.
  void sum() {
    pool_.run([this](int t) { finish_gradients(t, sums, nullptr); });
  }
  /// Updates all parameters with the gradients in the first machine.
  void update() {
    updates_.begin_update();
    const float* const scale = updates_.clips() ? limit_norms() : nullptr;
    pool_.run([this, scale](int t) { finish_gradients(t, updates, scale); });
    updates_.end_update();
  }
  /// Makes the update of a mini-batch after all threads have computed their gradients.
  void sum_and_update() {
    if (updates_.clips()) {
      if (parts_->machines().size() > 1) sum();
      return update();
    }
    updates_.begin_update();
    pool_.run([this](int t) { finish_gradients(t, sums | updates, nullptr); });
    updates_.end_update();
  }

  /// Computes the factors of a clip by norm from the gradients in the first machine.
  LAMINA_COLD const float* limit_norms() { return updates_.limit_norms(*parts_->machines()[0]); }
  void update_parameter(int i, std::size_t first, const engine::cpu::operand& param, real* gradient,
                        const float* scale) {
    updates_.update_parameter(i, first, param, gradient, parts_->rows(i), scale);
  }

  /// The work of thread t on the gradients, as bits of `what`: on its part of all floats, or on
  /// whole parameters whose update cannot be divided.
  enum : unsigned { sums = 1, updates = 2 };
  LAMINA_NOINLINE void finish_gradients(int t, unsigned what, const float* scale) {
    const parameter_list_view all = parameters_in<P>();
    const std::size_t parts = parts_->machines().size(), part = static_cast<std::size_t>(t);
    for (int i = 0; i < updates_type::parameters; ++i) {
      const std::size_t n = all.numbers(i);
      float* const gradient = parts_->gradient(i);
      if (gradient == nullptr && !updates_type::has_rows(i)) continue;
      const bool updated = run_time_program<P>::desc.parameters[i].trainable;
      if (updates_type::updates_whole(i)) {
        if (static_cast<std::size_t>(i) % parts != part) continue;
        if ((what & sums) != 0) parts_->add_whole(i, n);
        if ((what & updates) != 0 && updated)
          update_parameter(i, 0, updates_type::whole_of(i), engine::numbers_at<real>(gradient),
                           scale);
        continue;
      }
      // Sums and updates `together` elements at a time, which stay in the cache in between. A sum
      // that is used at once is not written to the gradient, so that other threads keep its cache
      // lines.
      alignas(64) real block[together];
      const bool at_once = what == (sums | updates) && updated;
      const std::size_t lines = n / alignment_floats;
      const std::size_t end = lines * (part + 1) / parts * alignment_floats;
      for (std::size_t a = lines * part / parts * alignment_floats; a < end;) {
        const std::size_t b = std::min<std::size_t>(end, a + together);
        real* const sum = at_once ? block : engine::numbers_at<real>(gradient) + a;
        if ((what & sums) != 0) parts_->add(i, a, b, sum);
        if ((what & updates) != 0 && updated) {
          const int count = static_cast<int>(b - a);
          update_parameter(i, a, updates_type::range_of(count), sum, scale);
        }
        a = b;
      }
    }
  }

 private:
  static constexpr std::size_t together = 2048;  // elements that are summed, then updated

  updates_type& updates_;
  std::optional<parts_type> parts_;
  worker_pool pool_;
};

}}  // namespace lamina
