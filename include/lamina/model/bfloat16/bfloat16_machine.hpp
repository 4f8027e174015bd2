// SPDX-License-Identifier: Apache-2.0
// lamina/model/bfloat16/bfloat16_machine.hpp - evaluators with weights in bfloat16, which halves
// the bytes that are read from memory.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <lamina/core/arrays/owned_array.hpp>
#include <lamina/engine/cpu/schedule/bfloat16_schedule.hpp>
#include <lamina/model/bfloat16/bfloat16_storage.hpp>
#include <lamina/model/evaluator.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// The weights of a model rounded to bfloat16, with one pointer per weight for the machine.
template <program_type P>
class bfloat16_copies {
 protected:
  LAMINA_COLD explicit bfloat16_copies(const model<P>& m)
      : model_(&m), copies_(count), pointers_(count) {
    refresh();
  }
  LAMINA_COLD void refresh() {
    std::vector<float> row_major;
    for (int k = 0; k < count; ++k) {
      const int i = k % at_least_one(parameters);
      const engine::cpu::bfloat16_layout layout = needs.of[k];
      if (layout == engine::cpu::bfloat16_layout::none) {
        pointers_[k] = k < parameters ? model_->memory()[i] : nullptr;
        continue;
      }
      const parameter_info info = model<P>::describe(i);
      row_major.resize(static_cast<std::size_t>(info.rows) *
                       static_cast<std::size_t>(info.columns));
      unpack_like(info, model_->memory()[i], row_major.data());
      copies_[k].resize(
          static_cast<std::size_t>(engine::cpu::bfloat16_floats(layout, info.rows, info.columns)));
      engine::cpu::store_bfloat16(layout, info.rows, info.columns, row_major.data(),
                                  copies_[k].data());
      pointers_[k] = copies_[k].data();
    }
  }
  float* const* pointers() const { return pointers_.get(); }

 private:
  static constexpr int parameters = counts_of<P>.parameters;
  static constexpr int count =
      engine::cpu::bfloat16_layouts * static_cast<int>(at_least_one(parameters));
  // A copy of one member of a table, for run-time code. If run-time code named that member itself,
  // the whole table would be put into the binary.
  struct layout_table {
    engine::cpu::bfloat16_layout of[bound(count)];
  };
  static constexpr layout_table make() {
    layout_table t{};
    using schedule = engine::cpu::schedule_table<with_bfloat16_weights<for_test<P>>>;
    copy_items(t.of, schedule::all.needs, count);
    return t;
  }
  static constexpr layout_table needs = make();

  const model<P>* model_;
  owned_array<engine::aligned_buffer> copies_;
  owned_array<float*> pointers_;
};

}  // namespace detail

/// Runs program P in test mode with weights in bfloat16. The weight matrices of fc, lstm, lstmp,
/// gru and gru_unit are rounded. Biases, embedding tables and image filters stay float, and all
/// sums are computed in float.
template <program_type P>
class bfloat16_machine : private detail::bfloat16_copies<P>,
                         public engine::cpu::machine<with_bfloat16_weights<for_test<P>>> {
  using copies = detail::bfloat16_copies<P>;

 public:
  LAMINA_COLD bfloat16_machine(const model<P>& m, storage::bfloat16_type)
      : copies(m),
        engine::cpu::machine<with_bfloat16_weights<for_test<P>>>(
            {copies::pointers(), nullptr, nullptr}) {}
  /// Copies and rounds the parameters of the model again; call it after they have changed.
  void refresh() { copies::refresh(); }
};

namespace detail {
template <program_type P>
struct refused_operator<bfloat16_machine<P>> {
  using type = std::conditional_t<computes_in_float<P>, void, storage::bfloat16_type>;
};
}  // namespace detail

/// Deduces the type of `lamina::evaluator e{model, lamina::storage::bfloat16}`.
template <program_type P>
evaluator(const model<P>&, storage::bfloat16_type, std::uint64_t = 0)
    -> evaluator<P, bfloat16_machine<P>>;

}}  // namespace lamina
