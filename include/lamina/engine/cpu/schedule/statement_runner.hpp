// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/schedule/statement_runner.hpp - runs a group's statements on one vector.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <lamina/core/arrays/padding.hpp>
#include <lamina/engine/common/real_numbers.hpp>
#include <lamina/engine/cpu/vector/lane_order.hpp>
#include <lamina/engine/cpu/vector/simd.hpp>
#include <lamina/expression/expression.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// The position of a vector: the offset of its first element in arrays of the group's shape, its
/// row and its column. For images, it also has the channel of the vector. If the elements belong to
/// two channels, the first `split` elements belong to `channel` and the others to the next one; if
/// they belong to more, `channels` holds the channel of each element. If each element is a channel,
/// `apart` is set, and `channel` is the channel of the first element.
struct element_position {
  std::ptrdiff_t offset;
  int row;
  int column;
  int channel = 0;
  const int* channels = nullptr;
  int split = 0;
  bool streams = false;  // stores bypass the caches
  bool apart = false;
};

namespace detail {

namespace ex = lamina::expression;

/// Reads an operand, one vector at a time.
template <class Operand, class Vector>
struct operand_reader;
template <class Vector>
struct operand_reader<ex::head_value, Vector> {
  using vector = Vector;
  using Real = typename Vector::value_type;
  static constexpr int scalar = -1;
  static constexpr bool by_row = false, by_column = false;
  static LAMINA_INLINE vector get(float* const*, const vector*, vector head, const vector*,
                                  const element_position&) {
    return head;
  }
};
template <int Index, class Vector>
struct operand_reader<ex::load<Index>, Vector> {
  using vector = Vector;
  using Real = typename Vector::value_type;
  static constexpr int scalar = -1;
  static constexpr bool by_row = false, by_column = false;
  static constexpr int argument = Index;
  static LAMINA_INLINE vector get(float* const* a, const vector*, vector, const vector*,
                                  const element_position& at) {
    return vector::load_unaligned(numbers_at<Real>(a[Index]) + at.offset);
  }
};
template <int Index, class Vector>
struct operand_reader<ex::row<Index>, Vector> {
  using vector = Vector;
  using Real = typename Vector::value_type;
  static constexpr int scalar = -1;
  static constexpr bool by_row = true, by_column = false;
  static LAMINA_INLINE vector get(float* const* a, const vector*, vector, const vector*,
                                  const element_position& at) {
    return vector::load_unaligned(numbers_at<Real>(a[Index]) + at.column);
  }
};
template <int Index, class Vector>
struct operand_reader<ex::column<Index>, Vector> {
  using vector = Vector;
  using Real = typename Vector::value_type;
  static constexpr int scalar = -1;
  static constexpr bool by_row = false, by_column = true;
  static LAMINA_INLINE vector get(float* const* a, const vector*, vector, const vector*,
                                  const element_position& at) {
    return vector(numbers_at<Real>(a[Index])[static_cast<std::ptrdiff_t>(at.row) * padded(1)]);
  }
};
/// Loads, for each element of a vector, the number of the element's channel.
template <class Vector, class Real>
LAMINA_NOINLINE inline Vector gather_channels(const Real* numbers, const int* channels) {
  alignas(64) Real all[lanes_of<Vector>];
  for (int l = 0; l < lanes_of<Vector>; ++l) all[l] = numbers[channels[l]];
  return Vector::load_aligned(all);
}
template <int Index, class Vector>
struct operand_reader<ex::channel<Index>, Vector> {
  using vector = Vector;
  using Real = typename Vector::value_type;
  static constexpr int scalar = -1;
  static constexpr bool by_row = false, by_column = false;
  static constexpr int channels = Index;
  static LAMINA_INLINE vector get(float* const* a, const vector*, vector, const vector*,
                                  const element_position& at) {
    const Real* const numbers = numbers_at<Real>(a[Index]);
    if (at.apart) return vector::load_unaligned(numbers + at.channel);
    if (at.split != 0)
      return first_lanes<Real>(at.split, vector(numbers[at.channel]),
                               vector(numbers[at.channel + 1]));
    return at.channels == nullptr ? vector(numbers[at.channel])
                                  : gather_channels<vector>(numbers, at.channels);
  }
};
template <int Index, class Vector>
struct operand_reader<ex::scalar<Index>, Vector> {
  using vector = Vector;
  using Real = typename Vector::value_type;
  static constexpr int scalar = Index;
  static constexpr bool by_row = false, by_column = false;
  static LAMINA_INLINE vector get(float* const*, const vector* scalars, vector, const vector*,
                                  const element_position&) {
    return scalars[Index];
  }
};
template <int Index, class Vector>
struct operand_reader<ex::numbers<Index>, Vector> {
  using vector = Vector;
  using Real = typename Vector::value_type;
  static constexpr int scalar = -1;
  static constexpr bool by_row = false, by_column = false;
  static LAMINA_INLINE vector get(float* const*, const vector*, vector, const vector*,
                                  const element_position&) {
    return vector(Real(0));
  }
};
template <int J, class Vector>
struct operand_reader<ex::value<J>, Vector> {
  using vector = Vector;
  using Real = typename Vector::value_type;
  static constexpr int scalar = -1;
  static constexpr bool by_row = false, by_column = false;
  static LAMINA_INLINE vector get(float* const*, const vector*, vector, const vector* values,
                                  const element_position&) {
    return values[J];
  }
};

/// The ways to execute an update statement. `elsewhere` only stores the gradient, because the
/// trainer updates the parameter later. `prepared` applies gradient clipping and weight decay and
/// then updates the parameter. `plain` updates the parameter without clipping and weight decay.
enum class update_step { elsewhere, prepared, plain };

/// The index of the argument that has one number per channel, or -1.
template <class Operand>
constexpr int channels_of() {
  if constexpr (requires { operand_reader<Operand, vector>::channels; })
    return operand_reader<Operand, vector>::channels;
  else
    return -1;
}

template <class Statement, class Vector>
struct one_statement;
template <class Op, int K, int Store, class... In, class Vector>
struct one_statement<ex::let<Op, K, Store, In...>, Vector> {
  using vector = Vector;
  using Real = typename Vector::value_type;
  static constexpr int numbers = 0;
  static constexpr int stored = Store;
  static constexpr int channels = (std::max)({-1, channels_of<In>()...});
  static LAMINA_INLINE update_step load_numbers(float* const*, vector*) {
    return update_step::plain;
  }
  static constexpr int scalars = (std::max)({-1, operand_reader<In, vector>::scalar...});
  static constexpr bool by_row = (operand_reader<In, vector>::by_row || ...);
  static constexpr bool by_column = (operand_reader<In, vector>::by_column || ...);
  static LAMINA_INLINE void load_scalars(float* const* a, vector* s) {
    ((operand_reader<In, vector>::scalar >= 0
          ? (void)(s[(std::max)(0, operand_reader<In, vector>::scalar)] = vector(
                       *numbers_at<Real>(a[(std::max)(0, operand_reader<In, vector>::scalar)])))
          : (void)0),
     ...);
  }
  static LAMINA_INLINE void run(float* const* a, const vector* s, const vector*, vector head,
                                vector* values, int number, const element_position& at,
                                update_step) {
    const vector v =
        pointwise_value<Op, K>(operand_reader<In, vector>::get(a, s, head, values, at)...);
    values[number] = v;
    if constexpr (Store >= 0) {
      Real* const to = numbers_at<Real>(a[Store]) + at.offset;
      if constexpr (has_streams && std::is_same_v<vector, vector_in<Real>>) {
        if (at.streams) return stream(v, to);
      }
      v.store_unaligned(to);
    }
  }
};
template <class Op, class Param, class Grad, class... In, class Vector>
struct one_statement<ex::update<Op, Param, Grad, In...>, Vector> {
  using vector = Vector;
  using Real = typename Vector::value_type;
  static constexpr int states = static_cast<int>(Op::inputs.size()) - 2;
  static constexpr int scalars = -1, stored = -1, channels = -1;
  static constexpr int numbers = static_cast<int>(Op::attributes.size());
  static constexpr bool by_row = false, by_column = false;
  template <int Index>
  static LAMINA_INLINE const Real* first_of(float* const* a, ex::numbers<Index>) {
    return numbers_at<Real>(a[Index]);
  }
  template <class Other>
  static LAMINA_INLINE const Real* first_of(float* const*, Other) {
    return nullptr;
  }
  static LAMINA_INLINE void load_scalars(float* const*, vector*) {}
  static LAMINA_INLINE update_step load_numbers(float* const* a, vector* number) {
    const Real* first = nullptr;
    ((first = first_of(a, In{}) != nullptr ? first_of(a, In{}) : first), ...);
    if (first == nullptr) return update_step::elsewhere;
    for (int k = 0; k < numbers; ++k) number[k] = vector(first[k]);
    return Op::leaves_gradient(first) ? update_step::plain : update_step::prepared;
  }
  template <class Reader>
  static LAMINA_INLINE void store(float* const* a, vector v, const element_position& at) {
    if constexpr (requires { Reader::argument; })
      v.store_unaligned(numbers_at<Real>(a[Reader::argument]) + at.offset);
  }
  static LAMINA_INLINE void run(float* const* a, const vector* s, const vector* number, vector head,
                                vector* values, int, const element_position& at, update_step step) {
    vector grad = operand_reader<Grad, vector>::get(a, s, head, values, at);
    if (step == update_step::elsewhere) return store<operand_reader<Param, vector>>(a, grad, at);
    vector param = operand_reader<Param, vector>::get(a, s, head, values, at);
    vector state[sizeof...(In) + 1] = {operand_reader<In, vector>::get(a, s, head, values, at)...};
    if (step == update_step::prepared) grad = Op::prepared(param, grad, number);
    Op::apply_prepared(param, grad, state, number);
    store<operand_reader<Param, vector>>(a, param, at);
    int i = 0;
    ((store<operand_reader<In, vector>>(a, state[i], at), ++i), ...);
  }
};

}  // namespace detail

template <class Statements, class Real = float, class Vector = vector_in<Real>>
struct statement_runner;

/// Runs the statements of a group in order, on one vector per call; `Vector` may be shorter than
/// the widest vector. Numbers that do not change in the loop over vectors (attributes, learning
/// rates) are loaded once before the loop. Otherwise the compiler would load them again after each
/// store, as the store might have changed them.
template <class... S, class Real, class Vector>
struct statement_runner<expression::statements<S...>, Real, Vector> {
  using real = Real;
  using vector = Vector;
  static constexpr int count = static_cast<int>(sizeof...(S));
  static constexpr int scalars = (std::max)({0, detail::one_statement<S, Vector>::scalars + 1 ...});
  static constexpr bool by_row = (detail::one_statement<S, Vector>::by_row || ...);
  static constexpr bool by_column = (detail::one_statement<S, Vector>::by_column || ...);

  static constexpr int numbers = (0 + ... + detail::one_statement<S, Vector>::numbers);
  /// The number of arrays that the statements write, not counting updates.
  static constexpr int stores = (0 + ... + (detail::one_statement<S, Vector>::stored >= 0 ? 1 : 0));
  /// Whether the arrays that the statements write are aligned to a vector.
  bool stores_are_aligned() const {
    return ((detail::one_statement<S, Vector>::stored < 0 ||
             reinterpret_cast<std::uintptr_t>(
                 arguments[(std::max)(0, detail::one_statement<S, Vector>::stored)]) %
                     sizeof(vector) ==
                 0) &&
            ...);
  }
  /// The index of the argument that has one number per channel, or -1.
  static constexpr int channels = (std::max)({-1, detail::one_statement<S, Vector>::channels...});
  /// The index of the argument that receives the last stored value.
  static constexpr int last_store() {
    int to = -1;
    ((to = detail::one_statement<S, Vector>::stored >= 0 ? detail::one_statement<S, Vector>::stored
                                                         : to),
     ...);
    return to;
  }

  vector scalar[static_cast<std::size_t>(scalars) + 1];
  vector number[static_cast<std::size_t>(numbers) + 1];
  float* const* arguments;
  detail::update_step step = detail::update_step::plain;

  LAMINA_INLINE explicit statement_runner(float* const* a) : arguments(a) {
    (detail::one_statement<S, Vector>::load_scalars(a, scalar), ...);
    int at = 0;
    ((step = (std::min)(step, detail::one_statement<S, Vector>::load_numbers(a, number + at)),
      at += detail::one_statement<S, Vector>::numbers),
     ...);
  }
  LAMINA_INLINE void operator()(vector head, const element_position& at) const {
    run(head, at, step);
  }
  /// Runs the statements on one vector. `how` must equal `step` of this object; it is a parameter
  /// so that a caller can pass a constant, for which the compiler removes the code of the other
  /// ways.
  LAMINA_INLINE void run(vector head, const element_position& at, detail::update_step how) const {
    vector values[static_cast<std::size_t>(count) + 1];
    int statement = 0, first = 0;
    ((detail::one_statement<S, Vector>::run(arguments, scalar, number + first, head, values,
                                            statement, at, how),
      ++statement, first += detail::one_statement<S, Vector>::numbers),
     ...);
  }
};

}}}  // namespace lamina::engine::cpu
