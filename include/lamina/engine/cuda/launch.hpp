// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/launch.hpp - a distinct group of a plan as a function that launches it.
//
// A backend runs bodies: `cells` a body over positions, `teams` one over teams that share memory,
// `lines` a call. Dimensions are arguments, so groups that differ only in size are one kernel.
#pragma once

#include <algorithm>
#include <cstddef>

#include <lamina/engine/cuda/activation_kernels.hpp>
#include <lamina/engine/cuda/argsort_kernels.hpp>
#include <lamina/engine/cuda/array_kernels.hpp>
#include <lamina/engine/cuda/axis_kernels.hpp>
#include <lamina/engine/cuda/batch_norm_kernels.hpp>
#include <lamina/engine/cuda/beam_search_kernels.hpp>
#include <lamina/engine/cuda/collect_kernels.hpp>
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
#include <lamina/engine/cuda/library_product.hpp>
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
#include <lamina/engine/cuda/product_body.hpp>
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
#include <lamina/engine/cuda/split_product.hpp>
#include <lamina/engine/cuda/split_row_sum.hpp>
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
    auto g = detail::arguments_of<row_sum_body<S, typename Backend::sum_tile>>(c);
    g.left_stride = c.info(0).stride;
    detail::run_row_sum<S>(b, g, c.run.scratch);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_site& c) {
    return row_sum_split<typename Backend::sum_tile>::scratch(padded(c.group.columns),
                                                              c.run.rows_of(c.group.depth));
  }
};

namespace detail {

template <group_head Head, class S>
struct product_launch {
  static constexpr bool exists = true;
  template <class Backend>
  static auto product_arguments(const call_site& c) {
    auto g = arguments_of<product_body<Head, S, typename Backend::product_tile>>(c);
    g.left_stride = c.info(0).stride;
    g.right_stride = c.info(1).stride;
    return g;
  }
  template <class Backend>
  static void run(Backend& b, const call_site& c) {
    b.template teams<product_body<Head, S, typename Backend::product_tile>>(
        product_arguments<Backend>(c));
  }

  // Of products that are long enough to be split where they have few tiles.
  template <class Backend>
  static constexpr bool splits(int depth) {
    return product_split<typename Backend::product_tile>::most(depth) > 1;
  }
  template <class Backend>
  static void run_split(Backend& b, const call_site& c) {
    run_in_parts<Head, S>(b, product_arguments<Backend>(c), c.run.scratch);
  }
  template <class Backend>
  static std::ptrdiff_t split_scratch(const call_site& c) {
    const int rows = c.run.rows_of(c.group.rows), width = padded(c.group.columns);
    return product_split<typename Backend::product_tile>::scratch(rows, width,
                                                                  c.run.rows_of(c.group.depth));
  }

  // Of products that may be large enough for the library of a backend, if it has one.
  template <class Backend, bool Splits>
  static void run_large(Backend& b, const call_site& c) {
    if (by_library(b, c)) return;
    if constexpr (Splits)
      run_split(b, c);
    else
      run(b, c);
  }
  template <class Backend, bool Splits>
  static std::ptrdiff_t large_scratch(const call_site& c) {
    std::ptrdiff_t floats = 0;
    if constexpr (Splits) floats = split_scratch<Backend>(c);
    if (!is_large<Backend>(c)) return floats;
    const std::ptrdiff_t own = library_statements<S>::exists
                                   ? 0
                                   : std::ptrdiff_t{c.run.rows_of(c.group.rows)} * c.group.columns;
    return std::max(floats, library_floats + own);
  }

 private:
  template <class Backend>
  static bool is_large(const call_site& c) {
    return Backend::rule_of_library::takes(c.run.rows_of(c.group.rows), c.group.columns,
                                           c.run.rows_of(c.group.depth));
  }
  template <class Backend>
  static bool by_library(Backend& b, const call_site& c) {
    using sides = product_sides<Head>;
    using known = library_statements<S>;
    if (!is_large<Backend>(c)) return false;
    library_product p{c.run.rows_of(c.group.rows),
                      c.group.columns,
                      c.run.rows_of(c.group.depth),
                      library_epilogue::none,
                      {c.arguments[0], c.info(0).stride, sides::left_turned},
                      {c.arguments[1], c.info(1).stride, sides::right_turned},
                      nullptr,
                      c.run.scratch + library_floats,
                      c.group.columns};
    if constexpr (known::exists) {
      p.epilogue = known::epilogue;
      p.to = c.arguments[known::store];
      if constexpr (known::bias >= 0) p.bias = c.arguments[known::bias];
      return b.multiply(p, c.run.scratch);
    } else {
      if (!b.multiply(p, c.run.scratch)) return false;
      const auto g = product_arguments<Backend>(c);
      add_product_parts<S>(b, g, g.width, p.to, 1);
      return true;
    }
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
