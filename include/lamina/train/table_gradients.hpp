// SPDX-License-Identifier: Apache-2.0
// lamina/train/table_gradients.hpp - the gradients of some rows of tables (is_sparse) of a program
// that is trained at several places, and their sums.
#pragma once

#include <cstddef>
#include <vector>

#include <lamina/core/config.hpp>
#include <lamina/engine/cuda/peer_rows.hpp>
#include <lamina/engine/cuda/whole_sum.hpp>
#include <lamina/train/whole_updates.hpp>

namespace lamina {

/// Of a program without such gradients: nothing.
template <program_type P, optimizer::optimizer_type Opt, class Backend,
          bool Any = whole_updates<P, Opt, Backend>::takes_rows>
class table_gradients {
 public:
  explicit table_gradients(const std::vector<Backend*>&) {}
  template <class Machine>
  void weigh(std::size_t, Backend&, const Machine&, float) {}
  void add(std::size_t) {}
  const engine::cuda::selected_rows* sum(std::size_t, int) const { return nullptr; }
};

template <program_type P, optimizer::optimizer_type Opt, class Backend>
class table_gradients<P, Opt, Backend, true> {
 public:
  LAMINA_COLD explicit table_gradients(const std::vector<Backend*>& places)
      : tables_(find_tables()),
        sums_(places, tables_.size()),
        rows_(places.size(), std::vector<engine::cuda::selected_rows>(tables_.size())) {}

  /// The rows of place t count by its weight; where that is 0, there are none.
  template <class Machine>
  void weigh(std::size_t t, Backend& place, const Machine& m, float weight) {
    for (std::size_t k = 0; k < tables_.size(); ++k) {
      engine::cuda::selected_rows& rows = rows_[t][k] = *m.gradient_rows(tables_[k]);
      if (weight <= 0) rows.count = 0;
      engine::cuda::weigh(
          place, rows.values,
          static_cast<std::size_t>(rows.count) * static_cast<std::size_t>(padded(rows.columns)),
          weight);
    }
  }
  /// The sums at place t, when all places have marked that their rows are there.
  void add(std::size_t t) { sums_.add(t, rows_); }
  /// The sum that place t has of the gradients of parameter i; null where these are whole.
  const engine::cuda::selected_rows* sum(std::size_t t, int i) const {
    for (std::size_t k = 0; k < tables_.size(); ++k)
      if (tables_[k] == i) return &sums_.sums(t)[k];
    return nullptr;
  }

 private:
  LAMINA_COLD static std::vector<int> find_tables() {
    std::vector<int> found;
    for (int i = 0; i < P::desc.count.parameters; ++i)
      if (whole_updates<P, Opt, Backend>::has_rows(i)) found.push_back(i);
    return found;
  }

  std::vector<int> tables_;  // parameters
  engine::cuda::peer_rows<Backend> sums_;
  std::vector<std::vector<engine::cuda::selected_rows>> rows_;  // by place and table
};

}  // namespace lamina
