// SPDX-License-Identifier: Apache-2.0
// lamina/train/cost_rows.hpp - how a mini-batch is cut into parts, and how much each counts.
#pragma once

#include <cstdint>

#include <lamina/model/batch_view.hpp>
#include <lamina/plan/plan.hpp>

namespace lamina {

/// The first sample of part `part` of a mini-batch; parts may be empty. They have equally many
/// samples and elements of sequences together, but for one sample: where sequences become longer,
/// later parts have fewer of them.
template <program_type P>
int first_of_part(const batch_view<P>& batch, int part, int parts) {
  const std::int64_t wanted = batch.count_before(batch.size()) * part / parts;
  int first = 0;
  for (int end = batch.size(); first < end;) {
    const int middle = first + (end - first) / 2;
    if (batch.count_before(middle) < wanted)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

/// Whose rows the cost of P is a mean of: a part counts by how many of them it has. Training is the
/// program that runs.
template <program_type P, class Training>
struct cost_rows {
  static constexpr int domain = [] {
    for (int k = 0; k < P::desc.count.operators; ++k) {
      if (!is<mean>(P::desc.operators[k])) continue;
      const operator_desc op = P::desc.operators[k];
      if (output_of(P::desc, op, 0) == P::desc.cost)
        return P::desc.variables[input_of(P::desc, op, 0)].rows;
    }
    return batch::domain;
  }();
  /// Whether only a run tells how many these are.
  static constexpr bool is_made = !plan<Training>::fed.of[domain];

  /// As many as are known before a run; with none of them, none is needed.
  static int fed(const batch_view<P>& part) {
    return part.rows.count[is_made ? batch::domain : domain];
  }
};

}  // namespace lamina
