// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/bfloat16_schedule.hpp - the schedule of a program whose weights are
// stored as bfloat16.
//
// It equals the program's ordinary schedule except for groups that multiply by a parameter. These
// groups have functions that read the parameter as bfloat16, from another array.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <utility>

#include <lamina/core/compile_time/same_address.hpp>
#include <lamina/engine/cpu/gemm/bfloat16_gemm.hpp>
#include <lamina/engine/cpu/memory/scratch_arena.hpp>
#include <lamina/engine/cpu/schedule/schedule_table.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// A program type that represents program P on machines that store weights as bfloat16. The plan of
/// this type is the plan of P.
template <program_type P>
struct with_bfloat16_weights : program_base<with_bfloat16_weights<P>> {
  using result = typename P::result;
  static constexpr const auto& desc = P::desc;
};
template <program_type P>
struct plan<with_bfloat16_weights<P>> : plan<P> {};

namespace engine::cpu {

/// The matrix product in each step of a recurrent operator, with a weight in bfloat16 panels. It
/// has the interface of step_product, which multiplies by a weight of floats.
struct bfloat16_step_product {
  int depth, width;
  const float* panels = nullptr;
  float* memory;

  bfloat16_step_product(int rows, int depth_of, int width_of, scratch_arena& arena, int = 1)
      : depth(depth_of),
        width(width_of),
        memory(arena.take(gemm_bfloat16_scratch_floats(rows, depth))) {}
  void take(const operand& weight) { panels = weight.row<const float>(0); }
  void run(int rows, const float* from, std::ptrdiff_t from_stride, float* to,
           std::ptrdiff_t to_stride, bool adds) const {
    const detail::plain_store store{to, to_stride, width, 1, adds};
    gemm_bfloat16(rows, depth, width, from, from_stride, panels, to_stride,
                  &detail::plain_store::run, &store, memory);
  }
};
inline void take_gru_weight(const operand& weight, const float*, bfloat16_step_product& of_gates,
                            bfloat16_step_product& of_candidate) {
  of_gates.take(weight);
  of_candidate.panels = of_gates.panels + bfloat16_panels_floats(of_gates.depth, of_gates.width);
}

/// The conversion of a parameter to bfloat16 panels. `none` does not convert it; `matrix` converts
/// it as one matrix; `gru` splits the elements [D, 3D] into a matrix [D, 2D] and a matrix [D, D].
enum class bfloat16_layout : std::uint8_t { none, matrix, gru };
inline constexpr int bfloat16_layouts = 3;

/// The list of parameter pointers has one pointer per layout and parameter; this function returns
/// the index of the pointer to `parameter` in `layout`. (The layout `none` is the memory of the
/// model.)
constexpr int bfloat16_pointer(int parameters, bfloat16_layout layout, int parameter) {
  return static_cast<int>(layout) * parameters + parameter;
}

/// The size of a parameter in bfloat16 panels, in floats.
constexpr std::ptrdiff_t bfloat16_floats(bfloat16_layout layout, int rows, int columns) {
  if (layout == bfloat16_layout::none) return 0;
  if (layout == bfloat16_layout::matrix) return bfloat16_panels_floats(rows, columns);
  return bfloat16_panels_floats(rows, 2 * rows) + bfloat16_panels_floats(rows, rows);
}

/// Rounds a contiguous row-major parameter into bfloat16 panels.
LAMINA_API_COLD void store_bfloat16(bfloat16_layout layout, int rows, int columns,
                                    const float* row_major, float* panels);

namespace detail {

/// The functions of a group that multiplies by weights in bfloat16 panels. `weights` is a bit mask
/// of the arguments that are such weights; it is 0 for groups without them.
template <class Group>
struct bfloat16_group {
  static constexpr unsigned weights = 0;
  static constexpr bfloat16_layout layout = bfloat16_layout::none;
  static constexpr group_function run = nullptr;
  static constexpr scratch_function scratch = nullptr;
};

LAMINA_API_COLD std::ptrdiff_t gemm_bfloat16_group_scratch(const program_view&, float* const*,
                                                           const argument_info*,
                                                           const group_info& g,
                                                           const run_context& c);

template <class S>
struct bfloat16_group<expression::group_expression<fusion_anchor::gemm, S>> {
  static constexpr unsigned weights = 1u << 1;
  static constexpr bfloat16_layout layout = bfloat16_layout::matrix;
  static void run(const program_view&, float* const* a, const argument_info* info,
                  const group_info& g, const run_context& c) {
    gemm_bfloat16(c.rows_of(g.rows), g.depth, g.columns, a[0], info[0].stride, a[1],
                  padded(g.columns), &run_tile<statement_runner<S>>, a, c.scratch);
  }
  static constexpr scratch_function scratch = &gemm_bfloat16_group_scratch;
};

template <class Op>
requires requires { call_kernel<Op>::step_weights; }
struct bfloat16_group<expression::call_expression<Op>> {
  static constexpr unsigned weights = call_kernel<Op>::step_weights;
  static constexpr bfloat16_layout layout = requires { call_kernel<Op>::two_matrices; }
  ? bfloat16_layout::gru : bfloat16_layout::matrix;
  static void run(const program_view& p, float* const* a, const argument_info* info,
                  const group_info& g, const run_context& c) {
    call_kernel<Op>::template run<float, bfloat16_step_product>(call_context(p, a, info, g, c));
  }
  static std::ptrdiff_t scratch(const program_view& p, float* const* a, const argument_info* info,
                                const group_info& g, const run_context& c) {
    return call_kernel<Op>::template scratch<float, bfloat16_step_product>(
        call_context(p, a, info, g, c));
  }
};

// The function of a group that would copy a weight, if no other group of this schedule reads the
// copy.
inline void run_nothing(const program_view&, float* const*, const argument_info*, const group_info&,
                        const run_context&) {}

#if LAMINA_DEFINES

std::ptrdiff_t gemm_bfloat16_group_scratch(const program_view&, float* const*, const argument_info*,
                                           const group_info& g, const run_context& c) {
  return gemm_bfloat16_scratch_floats(c.rows_of(g.rows), g.depth);
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// The schedule of a program with bfloat16 weights. A product reads bfloat16 if its right operand
/// is a parameter, or is the copy of a parameter that the plan made for a kernel without support
/// for panels. A parameter that other operators read too is stored twice, as bfloat16 and as
/// floats.
template <program_type P>
struct schedule_table<with_bfloat16_weights<P>> : schedule_table<P> {
  using in_float = schedule_table<P>;
  using plan_type = typename in_float::plan_type;
  using table_type = typename in_float::table_type;
  using in_float::arguments;
  using in_float::groups;
  static constexpr int parameters = counts_of<P>.parameters;

  struct kernel {
    unsigned weights;
    bfloat16_layout layout;
    group_function run;
    scratch_function scratch;
  };
  struct kernel_list {
    kernel of[bound(plan_type::kernels)];
  };
  template <class Group>
  static constexpr kernel kernel_of() {
    using found = detail::bfloat16_group<Group>;
    return {found::weights, found::layout, found::run, found::scratch};
  }
  template <int... K>
  static constexpr kernel_list make_kernels(std::integer_sequence<int, K...>) {
    return {{kernel_of<expression::group_of<plan_type, plan_type::distinct.first[K]>>()...}};
  }

  /// The group that copies a parameter into plan variable v, or -1.
  static constexpr int copying_group(int v) {
    for (int g = 0; g < groups; ++g) {
      const instruction& i =
          plan_type::lowered
              .instructions[plan_type::grouped.order[plan_type::grouped.groups[g].first]];
      if (same_address(i.schema, &schema_of<operators::unpack_panels>()) && i.output_count > 0 &&
          plan_type::lowered.results[i.outputs] == v)
        return g;
    }
    return -1;
  }
  /// The parameter that plan variable v is, or whose copy v is; -1 if v is neither.
  static constexpr int parameter_in(int v) {
    if (v < 0) return -1;
    if (const int g = copying_group(v); g >= 0)
      v = plan_type::code.arguments[plan_type::code.groups[g].arguments];
    const memory_slot slot = plan_type::memory.slot_of[v];
    return slot.space == memory_space::parameter ? slot.offset : -1;
  }

  struct tables {
    table_type schedule;
    bfloat16_layout
        needs[bound(bfloat16_layouts * at_least_one(parameters))];  // index: bfloat16_pointer()
  };
  static constexpr tables make() {
    constexpr kernel_list kernels =
        make_kernels(std::make_integer_sequence<int, plan_type::kernels>{});
    tables t{in_float::table, {}};
    bool redirected[bound(arguments)] = {};
    for (int g = 0; g < groups; ++g) {
      const kernel& k = kernels.of[plan_type::distinct.kernel[g]];
      const group_code code = plan_type::code.groups[g];
      bool known = k.weights != 0;
      for (int a = 0; a < code.argument_count && a < 32; ++a)
        if (k.weights >> a & 1u)
          known = known && parameter_in(plan_type::code.arguments[code.arguments + a]) >= 0;
      if (!known) continue;
      t.schedule.entries[g].run = k.run;
      t.schedule.entries[g].scratch = k.scratch;
      for (int a = 0; a < code.argument_count && a < 32; ++a) {
        if ((k.weights >> a & 1u) == 0) continue;
        const int at = code.arguments + a;
        const int pointer =
            bfloat16_pointer(parameters, k.layout, parameter_in(plan_type::code.arguments[at]));
        t.schedule.slot_of[at] = {memory_space::parameter, 0, pointer};
        t.needs[pointer] = k.layout;
        redirected[at] = true;
      }
    }
    for (int g = 0; g < groups; ++g) {
      const group_code code = plan_type::code.groups[g];
      if (code.argument_count != 2) continue;
      const int made = plan_type::code.arguments[code.arguments + 1];
      if (made < 0 || copying_group(made) != g) continue;
      bool read = false, was_read = false;
      for (int a = 0; a < arguments; ++a)
        if (a != code.arguments + 1 && plan_type::code.arguments[a] == made)
          (redirected[a] ? was_read : read) = true;
      if (was_read && !read)
        t.schedule.entries[g].run = &detail::run_nothing, t.schedule.entries[g].scratch = nullptr;
    }
    return t;
  }
  static constexpr tables all = make();
  static constexpr const auto& table = all.schedule;
};

#if LAMINA_DEFINES

void store_bfloat16(bfloat16_layout layout, int rows, int columns, const float* row_major,
                    float* panels) {
  if (layout == bfloat16_layout::matrix)
    return pack_bfloat16(rows, columns, row_major, columns, panels);
  pack_bfloat16(rows, 2 * rows, row_major, 2 * rows, panels);
  pack_bfloat16(rows, rows, row_major + static_cast<std::ptrdiff_t>(2) * rows * rows, rows,
                panels + bfloat16_panels_floats(rows, 2 * rows));
}

#endif  // LAMINA_DEFINES

}  // namespace engine::cpu
}}  // namespace lamina
