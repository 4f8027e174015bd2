// SPDX-License-Identifier: Apache-2.0
// lamina/model/parameters/moving_statistics.hpp - parameters that a program itself changes during a
// run, such as the moving averages of batch_norm.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstring>

#include <lamina/core/arrays/owned_array.hpp>
#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/model/parameters/stored_arrays.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// The parameters that a program writes, except by updates of an optimizer.
template <program_type P>
struct written_parameters {
  struct list {
    int count;
    int of[bound(counts_of<P>.parameters)];
  };
  static constexpr list find() {
    // This is an array and not allocated by new, because g++ 12 with -ftime-report crashes at a
    // new-expression here.
    bool written[bound(counts_of<P>.parameters)] = {};
    for (int k = 0; k < counts_of<P>.operators; ++k) {
      const operator_desc op = P::desc.operators[k];
      if (op.role == op_role::backward || op.schema->kind == operator_kind::update) continue;
      for (int s = 0, at = op.outputs; s < op.schema->output_count; ++s) {
        const int n =
            op.schema->has_lists && op.schema->outputs[s].duplicable ? P::desc.arguments[at++] : 1;
        for (int i = 0; i < n; ++i, ++at) {
          const int v = P::desc.arguments[at];
          if (v >= 0 && P::desc.variables[v].kind == variable_kind::parameter)
            written[P::desc.variables[v].index] = true;
        }
      }
    }
    list r{};
    for (int i = 0; i < counts_of<P>.parameters; ++i)
      if (written[i]) r.of[r.count++] = i;
    return r;
  }
  static constexpr list all = find();
};

}  // namespace detail

/// The parameters of a model for a machine that must not change the model. For a parameter that the
/// program writes, the machine gets a copy; for all other parameters, it gets the model's memory.
template <program_type P>
class moving_statistics {
 public:
  explicit moving_statistics(float* const* model) : model_(model) {
    if constexpr (count > 0) {
      const parameter_list_view all = parameters_in<P>();
      pointers_ = owned_array<float*>(at_least_one(counts_of<P>.parameters));
      std::copy_n(model, all.size(), pointers_.get());
      for (int i = 0; i < count; ++i) {
        copies_[i].resize(all.floats(parameter(i)));
        pointers_[parameter(i)] = copies_[i].data();
      }
      refresh();
    }
  }

  /// The number of copied parameters; parameter(i) returns the index of the parameter of copy i.
  static constexpr int count = detail::written_parameters<P>::all.count;
  static constexpr int parameter(int i) { return detail::written_parameters<P>::all.of[i]; }

  /// Returns one pointer per parameter, to the copy or to the model's memory.
  float* const* memory() const {
    if constexpr (count > 0)
      return pointers_.get();
    else
      return model_;
  }
  /// Returns copy number i.
  const float* copy(int i) const { return copies_[i].data(); }
  /// Sets the copies to the model's current values.
  void refresh() {
    for (int i = 0; i < count; ++i) {
      engine::aligned_buffer& to = copies_[i];
      std::memcpy(to.data(), model_[parameter(i)], to.size() * sizeof(float));
    }
  }

 private:
  float* const* model_;
  engine::aligned_buffer copies_[bound(count)];
  owned_array<float*> pointers_;
};

}}  // namespace lamina
