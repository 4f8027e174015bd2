// SPDX-License-Identifier: Apache-2.0
// lamina/operators/collective/all_reduce/definition.hpp - sums and maxima over the processes that
// run a program together.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace operators {

/// Base of the reductions over processes. Out has the shape and element type of X: float32,
/// float64, int32 or int64. X must have the same number of elements in all processes. The operators
/// pass no gradient back. ring_id and use_calc_stream, which select a communicator and a stream in
/// Fluid, have no effect: all processes of the run take part. In a run of one process, Out = X.
struct all_reduction : operator_definition {
  static constexpr auto inputs = slots_x;
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 2> attributes{
      {{"ring_id", attribute_type::integer, 0}, {"use_calc_stream", attribute_type::boolean, 0}}};
  static constexpr bool knows_panels = true;
  static constexpr bool meets_processes = true;
  static constexpr bool is_max = false;
  /// Whether only processes with samples in the mini-batch take part.
  static constexpr bool of_samples = false;
};

/// Out = the sum of X over all processes, added up in a balanced binary tree over the ranks, so
/// that the result does not depend on the order in which the values arrive. Fluid: c_allreduce_sum.
struct c_allreduce_sum : all_reduction {
  static constexpr const char* type = "c_allreduce_sum";
};

/// Out = the maximum of X over all processes, for each element. Fluid: c_allreduce_max.
struct c_allreduce_max : all_reduction {
  static constexpr const char* type = "c_allreduce_max";
  static constexpr bool is_max = true;
};

/// A c_allreduce_sum that adds up the values of only the processes that have samples of the
/// mini-batch. The values of other processes are ignored: computed from no samples, they may be
/// NaN. transform::grad_all_reduce records this operator. Fluid: c_allreduce_sum.
struct c_allreduce_sum_of_samples : c_allreduce_sum {
  static constexpr const char* type = "c_allreduce_sum";
  static constexpr bool of_samples = true;
};

/// A c_allreduce_max over only the processes that have samples of the mini-batch. Fluid:
/// c_allreduce_max.
struct c_allreduce_max_of_samples : c_allreduce_max {
  static constexpr const char* type = "c_allreduce_max";
  static constexpr bool of_samples = true;
};

using collective_all_reduce_operators =
    operator_list<c_allreduce_sum, c_allreduce_max, c_allreduce_sum_of_samples,
                  c_allreduce_max_of_samples>;

}}}  // namespace lamina::operators
