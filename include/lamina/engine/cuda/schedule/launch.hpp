// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/schedule/launch.hpp - for each kind of group, the function that launches its
// kernels.
//
// A backend runs the body of a kernel in one of several ways. `cells` runs it for positions of a
// matrix, `teams` by thread blocks with shared memory, `lines` once per line of an unfused
// operator, `elements` once per index. Dimensions are arguments, so groups that differ only in size
// share one kernel.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>

#include <lamina/engine/cuda/body/after_product.cuh>
#include <lamina/engine/cuda/body/column_sums.cuh>
#include <lamina/engine/cuda/body/loop_weight_gradient.cuh>
#include <lamina/engine/cuda/body/product.cuh>
#include <lamina/engine/cuda/body/team.cuh>
#include <lamina/engine/cuda/memory/copy.cuh>
#include <lamina/engine/cuda/schedule/call_kernels.cuh>
#include <lamina/engine/cuda/schedule/group_kernel.hpp>
#include <lamina/operators/control/block/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

template <class S>
struct group_kernel<expression::group_expression<fusion_anchor::pointwise, S>> {
  static constexpr bool exists = true;
  template <class Backend>
  static void run(Backend& b, const call_context& c) {
    using body = pointwise_body<S>;
    auto g = detail::arguments_of<body>(c);
    // Merges all rows into one long row, unless its length would overflow the counters.
    if (!body::by_position && g.rows < (1 << 30) / at_least_one(g.width))
      g.width *= g.rows, g.rows = 1;
    b.template cells<body>(g);
  }
};

template <class S>
struct group_kernel<expression::group_expression<fusion_anchor::reduce_rows, S>> {
  static constexpr bool exists = true;
  template <class Backend>
  static void run(Backend& b, const call_context& c) {
    using finish = column_statements<S>;
    const finish statements{detail::arguments_of<finish>(c)};
    sum_columns(b, array_terms{c.arguments[0], c.info(0).stride}, statements,
                statements.group.depth, statements.group.width, c.run.scratch);
  }
  template <class Backend>
  static std::ptrdiff_t scratch(const call_context& c) {
    return column_scratch<Backend>(1, c.run.rows_of(c.group.depth), padded(c.group.columns));
  }
};

namespace detail {

/// Launches a matrix product: gemm computes X W, gemm_dx dY W^T, gemm_dw X^T dY. The statements of
/// the group run in the epilogue of the product, or else in a separate kernel.
template <fusion_anchor Head, class S>
struct product_launch {
  static constexpr bool exists = true;
  using epilogue = epilogue_statements<S>;

  template <class Backend>
  static void run(Backend& b, const call_context& c) {
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
  static std::ptrdiff_t scratch(const call_context& c) {
    if constexpr (epilogue::exists) return Backend::product_workspace;
    return Backend::product_workspace +
           std::ptrdiff_t{c.run.rows_of(c.group.rows)} * padded(c.group.columns);
  }

 private:
  static product product_of(const call_context& c) {
    constexpr bool left_turned = Head == fusion_anchor::gemm_dw;
    constexpr bool right_turned = Head == fusion_anchor::gemm_dx;
    const int width = padded(c.group.columns);
    const std::ptrdiff_t right_stride = c.info(1).stride;
    // Computes the padding columns too if the rows of the right operand are padded, because whole
    // packs are faster.
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
struct group_kernel<expression::group_expression<fusion_anchor::gemm, S>>
    : detail::product_launch<fusion_anchor::gemm, S> {};
template <class S>
struct group_kernel<expression::group_expression<fusion_anchor::gemm_dx, S>>
    : detail::product_launch<fusion_anchor::gemm_dx, S> {};
template <class S>
struct group_kernel<expression::group_expression<fusion_anchor::gemm_dw, S>>
    : detail::product_launch<fusion_anchor::gemm_dw, S> {};

/// Whether an operator runs a block (a loop or branch). The machine runs it itself, so it has no
/// kernel.
template <class Op>
inline constexpr bool is_block_operator = Op::block != block_rule::none;
/// Whether the host may compute an operator (host_values.hpp). Some of these operators have a host
/// function, `call_kernel<Op>::here`; for the others the host runs the body of the kernel.
template <class Op>
inline constexpr bool may_be_host_operator =
    Op::host != host_rule::never || Op::kind == operator_kind::pointwise;
template <class Op>
inline constexpr bool is_host_operator =
    may_be_host_operator<Op>&& requires(serial_backend& b, const call_context& c) {
  call_kernel<Op>::here(b, c);
};

template <class Op>
struct group_kernel<expression::call_expression<Op>> {
  static constexpr bool launches = requires { call_kernel<Op>::launches; };
  static constexpr bool on_device = launches || requires { &call_kernel<Op>::prepare; };
  static constexpr bool exists = on_device || is_block_operator<Op> || is_host_operator<Op>;
  static constexpr checked_input checked = [] {
    if constexpr (requires { call_kernel<Op>::checked; })
      return call_kernel<Op>::checked;
    else
      return checked_input{};
  }();
  /// Runs the call on the host. The schedule uses it if the arguments are host numbers.
  template <class Backend>
  requires(may_be_host_operator<Op>) static void run_here(Backend& b, const call_context& c) {
    if constexpr (is_host_operator<Op>) {
      call_kernel<Op>::here(b, c);
    } else {
      serial_backend here;
      run(here, c);
    }
  }
  template <class Backend>
  static void run(Backend& b, const call_context& c) {
    if constexpr (!on_device) {
      // Never called, because the host runs the operator.
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
  /// Runs a convolution whose kernel is compiled only for the tile shapes in Folds (conv_tile.hpp).
  template <class Backend, conv_folds Folds>
  static void run_folded(Backend& b, const call_context& c) {
    call_kernel<Op>::template launch_folded<Backend, Folds>(b, c);
  }
  template <class Backend, conv_folds Folds>
  requires requires(const call_context& c) {
    call_kernel<Op>::template folded_scratch<Backend, Folds>(c);
  }
  static std::ptrdiff_t folded_scratch(const call_context& c) {
    return call_kernel<Op>::template folded_scratch<Backend, Folds>(c);
  }
  template <class Backend>
  requires requires(const call_context& c) { call_kernel<Op>::template scratch<Backend>(c); }
  static std::ptrdiff_t scratch(const call_context& c) {
    return call_kernel<Op>::template scratch<Backend>(c);
  }
};

}}}  // namespace lamina::engine::cuda
