// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/launch.hpp - a distinct group of a plan as a function that launches it.
//
// A backend runs bodies: `cells` a body over positions, `teams` one over teams that share memory,
// `lines` a call. Dimensions are arguments, so groups that differ only in size are one kernel.
#pragma once

#include <algorithm>
#include <cstddef>

#include <lamina/engine/cuda/activation_kernels.hpp>
#include <lamina/engine/cuda/after_product.hpp>
#include <lamina/engine/cuda/argsort_kernels.hpp>
#include <lamina/engine/cuda/array_kernels.hpp>
#include <lamina/engine/cuda/axis_kernels.hpp>
#include <lamina/engine/cuda/batch_norm_kernels.hpp>
#include <lamina/engine/cuda/beam_search_kernels.hpp>
#include <lamina/engine/cuda/collect_kernels.hpp>
#include <lamina/engine/cuda/column_sums.hpp>
#include <lamina/engine/cuda/conv_kernels.hpp>
#include <lamina/engine/cuda/copy_kernels.hpp>
#include <lamina/engine/cuda/crf_kernels.hpp>
#include <lamina/engine/cuda/ctc_kernels.hpp>
#include <lamina/engine/cuda/distance_kernels.hpp>
#include <lamina/engine/cuda/dropout_kernels.hpp>
#include <lamina/engine/cuda/gru_kernels.hpp>
#include <lamina/engine/cuda/image_norm_kernels.hpp>
#include <lamina/engine/cuda/join_kernels.hpp>
#include <lamina/engine/cuda/launch_group.hpp>
#include <lamina/engine/cuda/lookup_kernels.hpp>
#include <lamina/engine/cuda/loss_kernels.hpp>
#include <lamina/engine/cuda/lstm_kernels.hpp>
#include <lamina/engine/cuda/lstm_unit_kernels.hpp>
#include <lamina/engine/cuda/matmul_kernels.hpp>
#include <lamina/engine/cuda/mean_kernels.hpp>
#include <lamina/engine/cuda/metric_kernels.hpp>
#include <lamina/engine/cuda/norm_kernels.hpp>
#include <lamina/engine/cuda/patch_kernels.hpp>
#include <lamina/engine/cuda/pointwise_kernels.hpp>
#include <lamina/engine/cuda/pool_kernels.hpp>
#include <lamina/engine/cuda/print_kernels.hpp>
#include <lamina/engine/cuda/product.hpp>
#include <lamina/engine/cuda/query_kernels.hpp>
#include <lamina/engine/cuda/random_kernels.hpp>
#include <lamina/engine/cuda/rank_table_kernels.hpp>
#include <lamina/engine/cuda/read_kernels.hpp>
#include <lamina/engine/cuda/reduce_kernels.hpp>
#include <lamina/engine/cuda/region_kernels.hpp>
#include <lamina/engine/cuda/reshape_kernels.hpp>
#include <lamina/engine/cuda/resize_kernels.hpp>
#include <lamina/engine/cuda/roi_align_kernels.hpp>
#include <lamina/engine/cuda/scatter_kernels.hpp>
#include <lamina/engine/cuda/selected_rows_kernels.hpp>
#include <lamina/engine/cuda/sequence_cut_kernels.hpp>
#include <lamina/engine/cuda/sequence_kernels.hpp>
#include <lamina/engine/cuda/sequence_metric_kernels.hpp>
#include <lamina/engine/cuda/sequence_pad_kernels.hpp>
#include <lamina/engine/cuda/sequence_window_kernels.hpp>
#include <lamina/engine/cuda/serial_backend.hpp>
#include <lamina/engine/cuda/softmax_kernels.hpp>
#include <lamina/engine/cuda/split_merge_kernels.hpp>
#include <lamina/engine/cuda/squared_l2_kernels.hpp>
#include <lamina/engine/cuda/step_kernels.hpp>
#include <lamina/engine/cuda/update_kernels.hpp>
#include <lamina/engine/cuda/volume_pool_kernels.hpp>
#include <lamina/operators/block_operators.hpp>

namespace lamina::engine::cuda {

template <class S>
struct group_launch<expression::group_expression<group_head::pointwise, S>> {
  static constexpr bool exists = true;
  template <class Backend>
  static void run(Backend& b, const call_site& c) {
    using body = pointwise_body<S>;
    auto g = detail::arguments_of<body>(c);
    // One long row, unless it would be too long for its counters.
    if (!body::by_place && g.rows < (1 << 30) / at_least_one(g.width))
      g.width *= g.rows, g.rows = 1;
    b.template cells<body>(g);
  }
};

template <class S>
struct group_launch<expression::group_expression<group_head::reduce_rows, S>> {
  static constexpr bool exists = true;
  template <class Backend>
  static void run(Backend& b, const call_site& c) {
    using finish = column_statements<S>;
    const finish statements{detail::arguments_of<finish>(c)};
    sum_columns(b, array_terms{c.arguments[0], c.info(0).stride}, statements,
                statements.group.depth, statements.group.width, c.run.scratch);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_site& c) {
    return column_scratch<Backend>(1, c.run.rows_of(c.group.depth), padded(c.group.columns));
  }
};

namespace detail {

/// gemm X W, gemm_dx dY W^T, gemm_dw X^T dY: a product, and the statements of the group in its
/// epilogue or in a kernel of their own.
template <group_head Head, class S>
struct product_launch {
  static constexpr bool exists = true;
  using epilogue = epilogue_statements<S>;

  template <class Backend>
  static void run(Backend& b, const call_site& c) {
    product p = product_of(c);
    if constexpr (epilogue::exists) {
      p.to = c.arguments[epilogue::store];
      p.epilogue = epilogue::epilogue;
      if constexpr (epilogue::bias >= 0) p.bias = c.arguments[epilogue::bias];
      run_product(b, p, c.run.scratch);
    } else {
      p.to = c.run.scratch + Backend::product_workspace;
      run_product(b, p, c.run.scratch);
      run_after_product<S>(b, arguments_of<after_product_body<S>>(c), p.to);
    }
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_site& c) {
    if constexpr (epilogue::exists) return Backend::product_workspace;
    return Backend::product_workspace +
           std::ptrdiff_t{c.run.rows_of(c.group.rows)} * padded(c.group.columns);
  }

 private:
  static product product_of(const call_site& c) {
    constexpr bool left_turned = Head == group_head::gemm_dw;
    constexpr bool right_turned = Head == group_head::gemm_dx;
    const int width = padded(c.group.columns);
    const std::ptrdiff_t right_stride = c.info(1).stride;
    // With the padding of the rows, where the right side has it, too: whole packs are faster.
    const int columns = !right_turned && right_stride >= width ? width : c.group.columns;
    return {c.run.rows_of(c.group.rows),
            columns,
            c.run.rows_of(c.group.depth),
            {c.arguments[0], c.info(0).stride, left_turned},
            {c.arguments[1], right_stride, right_turned},
            nullptr,
            width};
  }
};

}  // namespace detail

template <class S>
struct group_launch<expression::group_expression<group_head::gemm, S>>
    : detail::product_launch<group_head::gemm, S> {};
template <class S>
struct group_launch<expression::group_expression<group_head::gemm_dx, S>>
    : detail::product_launch<group_head::gemm_dx, S> {};
template <class S>
struct group_launch<expression::group_expression<group_head::gemm_dw, S>>
    : detail::product_launch<group_head::gemm_dw, S> {};

/// A machine runs blocks itself; a table of kernels has a place for them.
template <class Op>
inline constexpr bool is_block_operator = __is_same(Op, while_block) ||
                                          __is_same(Op, while_block_gradient) ||
                                          __is_same(Op, conditional_block) ||
                                          __is_same(Op, conditional_block_gradient);
/// Operators that the host alone computes, and those that it computes where their inputs are its
/// own (host_values.hpp).
template <class Op>
inline constexpr bool is_host_operator = __is_same(Op, lod_rank_table) ||
                                         __is_same(Op, max_sequence_len) ||
                                         __is_same(Op, lod_array_length) ||
                                         __is_same(Op, read_minibatch);
template <class Op>
inline constexpr bool may_be_host_operator = is_host_operator<Op> ||
                                             Op::kind == operator_kind::pointwise ||
                                             __is_same(Op, fill_constant);

template <class Op>
struct group_launch<expression::call_expression<Op>> {
  static constexpr bool launches = requires { call_kernel<Op>::launches; };
  static constexpr bool on_place = launches || requires { &call_kernel<Op>::prepare; };
  static constexpr bool exists = on_place || is_block_operator<Op> || is_host_operator<Op>;
  static constexpr checked_input checked = [] {
    if constexpr (requires { call_kernel<Op>::checked; })
      return call_kernel<Op>::checked;
    else
      return checked_input{};
  }();
  /// The call by the host itself, where its arguments are numbers that the host has.
  template <class Backend>
  requires(may_be_host_operator<Op>) static void run_here(Backend& b, const call_site& c) {
    if constexpr (is_host_operator<Op>) {
      call_kernel<Op>::here(b, c);
    } else {
      serial_backend here;
      run(here, c);
    }
  }
  template <class Backend>
  static void run(Backend& b, const call_site& c) {
    if constexpr (!on_place) {
      // Never called: the host runs it.
    } else if constexpr (launches) {
      call_kernel<Op>::launch(b, c);
    } else {
      call_arguments a{};
      a.fault = c.run.fault;
      a.group = c.number_of_group;
      call_kernel<Op>::prepare(c, a);
      if (a.lines > 0) b.template lines<line_body<call_kernel<Op>>>(a);
    }
  }
  template <class Backend>
  requires requires(const call_site& c) { call_kernel<Op>::template scratch<Backend>(c); }
  static std::ptrdiff_t scratch(const call_site& c) {
    return call_kernel<Op>::template scratch<Backend>(c);
  }
};

}  // namespace lamina::engine::cuda
