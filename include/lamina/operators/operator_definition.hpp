// SPDX-License-Identifier: Apache-2.0
// lamina/operators/operator_definition.hpp - derives the schema of an operator from its definition.
//
// A definition is a struct with static constexpr members:
//   type                     Fluid's name of the operator
//   inputs, outputs          std::array of slot_desc
//   attributes               std::array of attribute_desc
//   kind                     how the plan lowers it
// and, when it has a gradient,
//   differentiable           bit i: input slot i receives a gradient
//   gradient_inputs          bit i: the gradient operator reads input slot i
//   gradient_outputs         bit i: it reads output slot i
//   gradient_of_outputs      bit i: it reads the gradient of output slot i (default: slot 0)
// The gradient operator's own definition, `gradient_of<Op>`, follows from these.
//
// Further members are the facts about an operator (program/operator_facts.hpp); each has a default
// value. Plans, engines, reports and the analysis of costs read these facts instead of the
// operator's type, so that they treat user-defined operators like the operators of the library:
//   rows, gradient_rows      how rows of the results depend on rows of the operands
//   origin, made_levels, accepts_any_rows, apart_inputs
//                            the source of the results' rows
//   alias, alias_permutes    the input slot that has the same elements as Out, so that both share
//                            memory; their gradients then share memory, too
//   divides                  the attribute with the dimension along which the results are parts of
//                            the first input, so that they may share its memory
//   linear, reduces, reduced_outputs, broadcasts
//                            how a cost depends on the operands. Without `linear` and `reduces`, a
//                            cost that uses the operator cannot be computed in parts
//   products                 the kind of matrix product in it, to count its operations
//   meets_rows               when a row of a result depends on other rows of the mini-batch, so
//                            that a part of the mini-batch yields other values for its rows
//   divided_by               the attribute that says whether processes divide the rows of a table
//   meets_processes          all processes of a run execute the operator together
//   random                   draws random numbers
//   block, reads_minibatch
//                            the effect on the control flow of a program
//   host, host_takes_part, host_waits, host_inputs
//                            the part of the host if a program runs on a device
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstddef>

#include <lamina/core/compile_time/same_address.hpp>
#include <lamina/core/compile_time/type_of.hpp>
#include <lamina/operators/gradient_rule.hpp>
#include <lamina/program/operator_schema.hpp>
#include <lamina/program/program_builder.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The input slots that most operators have.
inline constexpr std::array<slot_desc, 1> slots_x{{{"X"}}};
inline constexpr std::array<slot_desc, 2> slots_xy{{{"X"}, {"Y"}}};
inline constexpr std::array<slot_desc, 1> slots_out{{{"Out"}}};
inline constexpr std::array<attribute_desc, 0> no_attributes{};

/// A list of operators. Each header with definitions contains a list of them;
/// test/structure/operator_lists.py collects these lists in operators.hpp.
template <class... Op>
struct operator_list {};

/// The default values of the members of a definition, which derives from this struct.
struct operator_definition {
  static constexpr auto attributes = no_attributes;
  static constexpr auto kind = operator_kind::call;
  static constexpr bool has_side_effect = false;
  static constexpr bool knows_panels = false;
  static constexpr int scalars = 0;
  static constexpr std::uint32_t differentiable = 0;
  static constexpr std::uint32_t gradient_inputs = 0;
  static constexpr std::uint32_t gradient_outputs = 0;
  static constexpr std::uint32_t gradient_of_outputs = 1;

  static constexpr auto rows = row_rule::mixed;
  static constexpr auto gradient_rows = row_rule::mixed;
  static constexpr auto origin = row_origin::operands;
  static constexpr int made_levels = 0;
  static constexpr bool accepts_any_rows = false;
  static constexpr std::uint32_t apart_inputs = 0;
  static constexpr int alias = -1;
  static constexpr bool alias_permutes = false;
  static constexpr int divides = -1;
  static constexpr auto linear = linearity::unknown;
  static constexpr auto reduces = row_reduction::none;
  static constexpr std::uint32_t reduced_outputs = ~std::uint32_t{0};
  static constexpr auto products = product_rule::none;
  static constexpr bool broadcasts = false;
  static constexpr bool random = false;
  static constexpr auto block = block_rule::none;
  static constexpr bool reads_minibatch = false;
  static constexpr auto host = host_rule::never;
  static constexpr bool host_takes_part = false;
  static constexpr bool host_waits = false;
  static constexpr std::uint32_t host_inputs = 0;
  static constexpr auto meets_rows = row_meeting::never;
  static constexpr int divided_by = -1;
  static constexpr bool meets_processes = false;
};

template <class Op>
struct registered;

/// Returns the schema of operator Op. A use of this function also registers the type Op, so that
/// the type can be found from the address of the schema.
template <class Op>
constexpr const operator_schema& schema_of() {
  (void)sizeof(finds<&registered<Op>::value, Op>);
  return registered<Op>::value;
}

/// Whether the operator that `op` describes is Op.
template <class Op>
constexpr bool is(const operator_desc& op) {
  return same_address(op.schema, &registered<Op>::value);
}

namespace detail {

constexpr int bits(std::uint32_t set) {
  int n = 0;
  for (; set != 0; set &= set - 1) ++n;
  return n;
}

/// Returns the bits of `of` at the positions of the bits that are 1 in `set`, without gaps: bit i
/// of the result is the bit of `of` at the i-th of these positions.
constexpr std::uint32_t bits_among(std::uint32_t set, std::uint32_t of) {
  std::uint32_t found = 0;
  for (int n = 0; set != 0; set &= set - 1, ++n)
    if ((set & (~set + 1) & of) != 0) found |= std::uint32_t{1} << n;
  return found;
}

/// A text that is concatenated at compile time and has static storage.
template <std::size_t N>
struct text_buffer {
  char text[N];
};
constexpr std::size_t length(const char* s) {
  std::size_t n = 0;
  while (s[n] != 0) ++n;
  return n;
}
template <std::size_t N>
constexpr text_buffer<N + 6> with_suffix(const char* s, const char* suffix) {
  text_buffer<N + 6> b{};
  for (std::size_t i = 0; i < N; ++i) b.text[i] = s[i];
  for (std::size_t i = 0; i < 6; ++i) b.text[N + i] = suffix[i];
  return b;
}
template <class Op>
inline constexpr auto gradient_type = with_suffix<length(Op::type)>(Op::type, "_grad");

/// The slot name "X@GRAD" for a slot "X". The template parameters are pointers instead of
/// references, because g++ rejects the code that nvcc generates for `const auto&`.
template <const auto* Slots, std::size_t Index>
inline constexpr auto gradient_slot =
    with_suffix<length((*Slots)[Index].name)>((*Slots)[Index].name, "@GRAD");

template <const auto* Slots, std::size_t... Index>
constexpr auto gradient_slots(std::index_sequence<Index...>) {
  return std::array<slot_desc, sizeof...(Index)>{
      {{gradient_slot<Slots, Index>.text, (*Slots)[Index].duplicable, true}...}};
}
template <const auto* Slots>
inline constexpr auto gradient_slots_of =
    gradient_slots<Slots>(std::make_index_sequence<Slots->size()>{});

// These templates depend on the slots instead of the operator: most operators have the same slots,
// so the compiler instantiates fewer templates.
template <const auto* Inputs, const auto* Outputs, std::uint32_t ReadInputs,
          std::uint32_t ReadOutputs, std::uint32_t ReadGradients>
inline constexpr auto gradient_operator_inputs = [] {
  constexpr int count = bits(ReadInputs) + bits(ReadOutputs) + bits(ReadGradients);
  std::array<slot_desc, static_cast<std::size_t>(count)> slot_list{};
  std::size_t n = 0;
  for (std::size_t i = 0; i < Inputs->size(); ++i)
    if (ReadInputs >> i & 1u) slot_list[n++] = (*Inputs)[i];
  for (std::size_t i = 0; i < Outputs->size(); ++i)
    if (ReadOutputs >> i & 1u) slot_list[n++] = slot_desc{(*Outputs)[i].name};
  for (std::size_t i = 0; i < Outputs->size(); ++i)
    if (ReadGradients >> i & 1u) slot_list[n++] = gradient_slots_of<Outputs>[i];
  return slot_list;
}();
template <const auto* Inputs, std::uint32_t Differentiable>
inline constexpr auto gradient_operator_outputs = [] {
  std::array<slot_desc, static_cast<std::size_t>(bits(Differentiable))> slot_list{};
  std::size_t n = 0;
  for (std::size_t i = 0; i < Inputs->size(); ++i)
    if (Differentiable >> i & 1u) slot_list[n++] = gradient_slots_of<Inputs>[i];
  return slot_list;
}();

}  // namespace detail

/// The definition of Fluid's `<type>_grad` operator. It reads the inputs, outputs and output
/// gradients that Op lists, writes the gradients of Op's differentiable inputs, and has Op's
/// attributes.
template <class Op>
struct gradient_of : operator_definition {
  using forward = Op;
  static constexpr const char* type = detail::gradient_type<Op>.text;
  static constexpr const auto& inputs =
      detail::gradient_operator_inputs<&Op::inputs, &Op::outputs, Op::gradient_inputs,
                                       Op::gradient_outputs, Op::gradient_of_outputs>;
  static constexpr const auto& outputs =
      detail::gradient_operator_outputs<&Op::inputs, Op::differentiable>;
  static constexpr const auto& attributes = Op::attributes;
  static constexpr int scalars = Op::scalars;
  static constexpr bool knows_panels = Op::knows_panels;
  static constexpr auto kind = Op::kind == operator_kind::mul ? operator_kind::mul_grad : Op::kind;

  static constexpr auto rows = Op::gradient_rows;
  static constexpr int alias =
      Op::alias < 0 ? -1 : detail::bits(Op::gradient_inputs) + detail::bits(Op::gradient_outputs);
  static constexpr bool alias_permutes = Op::alias_permutes;
  static constexpr auto reduces = Op::reduces;
  static constexpr auto products = Op::products;
  static constexpr bool broadcasts = Op::broadcasts;
  static constexpr std::uint32_t host_inputs =
      detail::bits_among(Op::gradient_inputs, Op::host_inputs);
};

namespace detail {

template <class Op>
inline constexpr bool is_gradient = false;
template <class Op>
inline constexpr bool is_gradient<gradient_of<Op>> = true;

template <class Op>
inline constexpr int scalar_count = Op::scalars < 0 ? static_cast<int>(Op::attributes.size())
                                                    : Op::scalars;

/// Evaluates a pointwise definition on arrays. pointwise_evaluation.hpp defines this function.
/// Programs that do not include that header have no definition, and in a binary without
/// optimisation, the schema then holds a null pointer.
template <class Op, class T>
LAMINA_OPTIONAL void evaluate_pointwise(int output, std::int64_t count, const T* const* argument,
                                        const int* stride, T* out);

constexpr bool has_list(const slot_desc* slot_list, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    if (slot_list[i].duplicable) return true;
  return false;
}

/// Returns a copy of a schema with pointers to the functions of Op, such as its gradient.
template <class Op>
constexpr operator_schema with_functions(const operator_schema& bare) {
  operator_schema s = bare;
  s.bare = &bare;
  if constexpr (requires { &Op::gradient; })
    s.gradient = &Op::gradient;
  else if constexpr (Op::differentiable != 0)
    s.gradient = &make_gradient<Op>;
  if constexpr (Op::kind == operator_kind::pointwise) {
    if constexpr (!has_list(Op::inputs.data(), Op::inputs.size())) {
      s.evaluate_float = &evaluate_pointwise<Op, float>;
      s.evaluate_double = &evaluate_pointwise<Op, double>;
    }
  } else if constexpr (Op::kind == operator_kind::update &&
                       requires { &Op::template evaluate<float>; }) {
    s.evaluate_float = &Op::template evaluate<float>;
    s.evaluate_double = &Op::template evaluate<double>;
  }
  return s;
}

}  // namespace detail

/// Static storage for the schema of an operator.
template <class Op>
struct registered {
  static constexpr operator_schema bare = {
      Op::type,
      Op::inputs.data(),
      static_cast<int>(Op::inputs.size()),
      Op::outputs.data(),
      static_cast<int>(Op::outputs.size()),
      Op::attributes.data(),
      static_cast<int>(Op::attributes.size()),
      Op::kind,
      Op::has_side_effect,
      Op::knows_panels,
      detail::has_list(Op::inputs.data(), Op::inputs.size()) ||
          detail::has_list(Op::outputs.data(), Op::outputs.size()),
      detail::scalar_count<Op>,
      Op::differentiable,
      nullptr,
      nullptr,
      nullptr,
      nullptr,
      {Op::rows,         Op::origin,          Op::made_levels,     Op::accepts_any_rows,
       Op::apart_inputs, Op::alias,           Op::alias_permutes,  Op::divides,
       Op::linear,       Op::reduces,         Op::reduced_outputs, Op::products,
       Op::broadcasts,   Op::random,          Op::block,           Op::reads_minibatch,
       Op::host,         Op::host_takes_part, Op::host_waits,      Op::host_inputs,
       Op::meets_rows,   Op::divided_by,      Op::meets_processes}};
  static constexpr operator_schema value = detail::with_functions<Op>(bare);
};

}}  // namespace lamina
