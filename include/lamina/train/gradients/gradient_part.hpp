// SPDX-License-Identifier: Apache-2.0
// lamina/train/gradients/gradient_part.hpp - the part of a training step that one thread computes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>

#include <lamina/core/arrays/owned_array.hpp>
#include <lamina/engine/cpu/schedule/followed_groups.hpp>
#include <lamina/engine/cpu/schedule/machine.hpp>
#include <lamina/model/evaluation/run_result.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/parameters/moving_statistics.hpp>
#include <lamina/train/gradients/cost_rows.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Computes the gradients of a part of a mini-batch, with a machine that leaves the updates to the
/// trainer. It writes every gradient, and the moving statistics of its rows, to separate memory. P
/// is the recorded program; `Machine` runs the program Training.
template <program_type P, class Training, class Machine = engine::cpu::machine<Training>>
class gradient_part {
 public:
  /// `updated` tells for each parameter whether the training program updates it with a dense
  /// gradient; a sparse gradient (selected rows) stays in the machine.
  gradient_part(float* const* parameters, const bool* updated)
      : statistics_(parameters),
        gradients_(allocate(updated, memory_)),
        machine_({statistics_.memory(), gradients_.get(), nullptr, true}) {
    detail::initialise_state<P>(machine_);
  }
  gradient_part(const gradient_part&) = delete;
  gradient_part& operator=(const gradient_part&) = delete;

  /// Runs forward and backward of a part of a mini-batch; returns the cost.
  real_of<P> run(const batch_view<P>& part, const batch_view<P>& whole, std::uint64_t seed,
                 std::uint64_t step) {
    statistics_.refresh();
    part.feed_to(machine_);
    cost_rows<P, Training>::divide(machine_, part, whole);
    if (followed_.advance != nullptr) follow_run();
    machine_.run(~0ull, seed, step);
    return detail::number_in<P, P::desc.cost>(machine_);
  }
  /// Calls advance(self, thread, group) after each group of operators, in every run.
  LAMINA_COLD void follow(void* self, void (*advance)(void*, int, int), int thread, int outermost) {
    using schedule = typename engine::cpu::machine<Training>::schedule;
    followed_ = {schedule::table.entries, schedule::table.info, outermost, self, thread, advance};
  }
  /// Returns the gradient of parameter i, in the layout of the parameter; null if the parameter is
  /// not updated, or updated with a sparse gradient.
  float* gradient(int i) { return gradients_[i]; }
  Machine& machine() { return machine_; }
  /// The moving statistics after the last run.
  const moving_statistics<P>& statistics() const { return statistics_; }

 private:
  LAMINA_COLD static owned_array<float*> allocate(const bool* updated,
                                                  engine::aligned_buffer& memory) {
    const parameter_list_view all = parameters_in<P>();
    std::size_t floats = 0;
    for (int i = 0; i < all.size(); ++i)
      if (updated[i]) floats += all.floats(i);
    memory.resize(floats);
    owned_array<float*> pointers(at_least_one(counts_of<P>.parameters));
    float* at = memory.data();
    for (int i = 0; i < all.size(); ++i) {
      pointers[i] = updated[i] ? at : nullptr;
      if (updated[i]) at += all.floats(i);
    }
    return pointers;
  }

  /// Runs over tiles of rows do not report progress, because their parameters are small.
  LAMINA_COLD void follow_run() {
    machine_.memory().check_by(machine_.is_tiled() ? engine::cpu::group_check{}
                                                   : followed_.as_check());
  }

  moving_statistics<P> statistics_;
  engine::aligned_buffer memory_;
  owned_array<float*> gradients_;
  Machine machine_;
  engine::cpu::followed_groups followed_;
};

}}  // namespace lamina
