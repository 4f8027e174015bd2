// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/body/statement_runner.cuh - runs the statements of a fused group on one pack
// (a few adjacent elements) per thread.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/cuda/body/divider.cuh>
#include <lamina/engine/cuda/body/pack.cuh>
#include <lamina/expression/expression.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// The position of a pack: the offset of its first element in arrays of the group's shape, and the
/// row and the column of this element.
struct element_position {
  std::ptrdiff_t offset;
  int row, column;
  divider channel_size{};  // for images: elements per channel, and the number of channels
  int channels = 1;

  /// The channel of element j of the pack. Elements past the last channel are padding; they are
  /// treated as part of the last channel.
  LAMINA_INLINE LAMINA_FN int channel(int j) const {
    const int c = channel_size.quotient(column + j);
    return c < channels ? c : channels - 1;
  }
};

namespace detail {

namespace ex = lamina::expression;

template <int... N>
constexpr int largest() {
  int most = -1;
  const int each[] = {-1, N...};
  for (const int n : each) most = n > most ? n : most;
  return most;
}

/// Reads one operand of a statement at a position. `Constant` says that the group does not write
/// arrays that it reads.
template <class Operand>
struct operand_reader;

struct array_reader {
  static constexpr bool by_position = false, is_numbers = false;
  static constexpr int channels = -1;
};
template <>
struct operand_reader<ex::head_value> : array_reader {
  static constexpr int argument = -1;
  template <bool, class Pack>
  static LAMINA_INLINE LAMINA_FN Pack get(float* const*, const Pack& head, const Pack*,
                                          const element_position&) {
    return head;
  }
};
template <int Index>
struct operand_reader<ex::load<Index>> : array_reader {
  static constexpr int argument = Index;
  template <bool Constant, class Pack>
  static LAMINA_INLINE LAMINA_FN Pack get(float* const* a, const Pack&, const Pack*,
                                          const element_position& at) {
    if constexpr (Constant)
      return load_constant<Pack>(a[Index] + at.offset);
    else
      return load_pack<Pack>(a[Index] + at.offset);
  }
};
template <int Index>
struct operand_reader<ex::row<Index>> : array_reader {
  static constexpr int argument = Index;
  static constexpr bool by_position = true;
  template <bool Constant, class Pack>
  static LAMINA_INLINE LAMINA_FN Pack get(float* const* a, const Pack&, const Pack*,
                                          const element_position& at) {
    if constexpr (Constant)
      return load_constant<Pack>(a[Index] + at.column);
    else
      return load_pack<Pack>(a[Index] + at.column);
  }
};
template <int Index>
struct operand_reader<ex::column<Index>> : array_reader {
  static constexpr int argument = Index;
  static constexpr bool by_position = true;
  template <bool, class Pack>
  static LAMINA_INLINE LAMINA_FN Pack get(float* const* a, const Pack&, const Pack*,
                                          const element_position& at) {
    return filled<Pack>(a[Index][static_cast<std::ptrdiff_t>(at.row) * padded(1)]);
  }
};
template <int Index>
struct operand_reader<ex::channel<Index>> : array_reader {
  static constexpr int argument = Index, channels = Index;
  static constexpr bool by_position = true;
  template <bool, class Pack>
  static LAMINA_INLINE LAMINA_FN Pack get(float* const* a, const Pack&, const Pack*,
                                          const element_position& at) {
    Pack r;
    LAMINA_CUDA_UNROLL
    for (int j = 0; j < Pack::width; ++j) r.v[j] = a[Index][at.channel(j)];
    return r;
  }
};
template <int Index>
struct operand_reader<ex::scalar<Index>> : array_reader {
  static constexpr int argument = Index;
  template <bool, class Pack>
  static LAMINA_INLINE LAMINA_FN Pack get(float* const* a, const Pack&, const Pack*,
                                          const element_position&) {
    return filled<Pack>(*a[Index]);
  }
};
template <int Index>
struct operand_reader<ex::numbers<Index>> : array_reader {
  static constexpr int argument = Index;
  static constexpr bool is_numbers = true;
  template <bool, class Pack>
  static LAMINA_INLINE LAMINA_FN Pack get(float* const*, const Pack&, const Pack*,
                                          const element_position&) {
    return filled<Pack>(0.0f);
  }
};
template <int J>
struct operand_reader<ex::value<J>> : array_reader {
  static constexpr int argument = -1;
  template <bool, class Pack>
  static LAMINA_INLINE LAMINA_FN Pack get(float* const*, const Pack&, const Pack* values,
                                          const element_position&) {
    return values[J];
  }
};

/// Applies the function of operator Op to corresponding elements of packs.
template <class Op, int K, class Pack, class... More>
LAMINA_INLINE LAMINA_FN Pack apply_lanes(const Pack& first, const More&... x) {
  Pack r;
  LAMINA_CUDA_UNROLL
  for (int j = 0; j < Pack::width; ++j) r.v[j] = pointwise_value<Op, K>(first.v[j], x.v[j]...);
  return r;
}

template <class Statement>
struct one_statement;
template <class Op, int K, int Store, class... In>
struct one_statement<ex::let<Op, K, Store, In...>> {
  static constexpr int arguments = largest<Store, operand_reader<In>::argument...>() + 1;
  static constexpr bool by_position = (operand_reader<In>::by_position || ...);
  static constexpr int channels = largest<operand_reader<In>::channels...>();
  static constexpr bool updates = false;
  template <bool Constant, class Pack>
  static LAMINA_INLINE LAMINA_FN void run(float* const* a, const Pack& head, Pack* values,
                                          int number, const element_position& at) {
    values[number] =
        apply_lanes<Op, K>(operand_reader<In>::template get<Constant>(a, head, values, at)...);
  }
  // Stores run after all loads of the group, so no statement reads memory that another statement
  // has written.
  template <class Pack>
  static LAMINA_INLINE LAMINA_FN void store(float* const* a, const Pack* values, int number,
                                            const element_position& at) {
    if constexpr (Store >= 0) store_pack(a[Store] + at.offset, values[number]);
  }
};

template <class Op, class Param, class Grad, class... In>
struct one_statement<ex::update<Op, Param, Grad, In...>> {
  static constexpr int states = static_cast<int>(Op::inputs.size()) - 2;
  // If the update equation needs norms, the array of numbers has two norms after the attributes.
  static constexpr bool has_norms = Op::traits::has_norms;
  static constexpr int numbers = static_cast<int>(Op::attributes.size()) + (has_norms ? 2 : 0);
  static constexpr int arguments =
      largest<operand_reader<Param>::argument, operand_reader<Grad>::argument,
              operand_reader<In>::argument...>() +
      1;
  static constexpr int numbers_argument =
      largest<(operand_reader<In>::is_numbers ? operand_reader<In>::argument : -1)...>();
  static constexpr bool by_position = false, updates = true;
  static constexpr int channels = -1;

  template <class Reader, class Pack>
  static LAMINA_INLINE LAMINA_FN void put(float* const* a, const Pack& x,
                                          const element_position& at) {
    if constexpr (!Reader::is_numbers && Reader::argument >= 0)
      store_pack(a[Reader::argument] + at.offset, x);
  }
  template <bool, class Pack>
  static LAMINA_INLINE LAMINA_FN void run(float* const* a, const Pack& head, Pack* values, int,
                                          const element_position& at) {
    const float* const number = a[numbers_argument];
    const Pack grad = operand_reader<Grad>::template get<false>(a, head, values, at);
    // A null array of numbers means that the trainer updates the parameter later, so the gradient
    // itself is stored.
    if (number == nullptr) return put<operand_reader<Param>>(a, grad, at);
    Pack param = operand_reader<Param>::template get<false>(a, head, values, at);
    Pack state[sizeof...(In) + 1];
    [[maybe_unused]] int i = 0;
    ((state[i++] = operand_reader<In>::template get<false>(a, head, values, at)), ...);
    float factor[bound(numbers)];
    LAMINA_CUDA_UNROLL
    for (int k = 0; k < numbers; ++k) factor[k] = number[k];
    apply(param, grad, state, factor);
    put<operand_reader<Param>>(a, param, at);
    i = 0;
    (put<operand_reader<In>>(a, state[i++], at), ...);
  }
  template <class Pack>
  static LAMINA_INLINE LAMINA_FN void store(float* const*, const Pack*, int,
                                            const element_position&) {}

 private:
  template <class Pack>
  static LAMINA_INLINE LAMINA_FN void apply(Pack& param, const Pack& grad,
                                            Pack (&state)[sizeof...(In) + 1],
                                            const float (&factor)[bound(numbers)]) {
    LAMINA_CUDA_UNROLL
    for (int j = 0; j < Pack::width; ++j) {
      float s[sizeof...(In) + 1];
      LAMINA_CUDA_UNROLL
      for (int i = 0; i < states; ++i) s[i] = state[i].v[j];
      Op::apply(param.v[j], grad.v[j], s, factor, has_norms ? factor + numbers - 2 : nullptr);
      LAMINA_CUDA_UNROLL
      for (int i = 0; i < states; ++i) state[i].v[j] = s[i];
    }
  }
};

}  // namespace detail

template <class Statements>
struct statement_runner;

/// Runs statements in order on one pack. Values that one statement passes to another stay in
/// registers.
template <class... S>
struct statement_runner<expression::statements<S...>> {
  static constexpr int count = static_cast<int>(sizeof...(S));
  /// One more than the largest index of an argument to which a statement refers; 0 if none does.
  static constexpr int arguments = detail::largest<detail::one_statement<S>::arguments...>() < 0
                                       ? 0
                                       : detail::largest<detail::one_statement<S>::arguments...>();
  /// The index of the argument that has one number per channel, or -1.
  static constexpr int channels = detail::largest<detail::one_statement<S>::channels...>();
  /// Whether the statements need the row and the column in addition to the offset.
  static constexpr bool by_position = (detail::one_statement<S>::by_position || ... || false);
  static constexpr bool updates = (detail::one_statement<S>::updates || ... || false);

  /// Runs all statements, then stores their results. Loads use the read-only cache if the kernel
  /// writes no array that it reads.
  template <class Pack>
  static LAMINA_INLINE LAMINA_FN void run([[maybe_unused]] float* const* a, const Pack& head,
                                          const element_position& at) {
    Pack values[bound(count + 1)];
    int number = 0;
    ((detail::one_statement<S>::template run<!updates>(a, head, values, number, at), ++number),
     ...);
    number = 0;
    ((detail::one_statement<S>::store(a, values, number, at), ++number), ...);
  }
};

}}}  // namespace lamina::engine::cuda
