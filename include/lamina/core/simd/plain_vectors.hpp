// SPDX-License-Identifier: Apache-2.0
// lamina/core/simd/plain_vectors.hpp - vectors for processors that xsimd does not know: the vector
// types of g++ and clang, or single numbers.
#pragma once

#include <lamina/core/config.hpp>

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

// The functions below round to whole numbers by adding 2^23 or 2^52, which fails if the processor
// computes in a wider type, as the x87 does.
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0
#error "lamina: the compiler: expected arithmetic in float, found a wider type; add -mfpmath=sse"
#endif

namespace lamina { inline namespace LAMINA_ABI {

/// The part of xsimd's interface that lamina uses, for vectors of LAMINA_PLAIN_VECTORS bytes.
/// Functions that no vector instruction computes call the C library for each lane.
namespace plain_simd {

namespace detail {

template <class T, int Lanes>
struct vector_data {
  using type [[gnu::vector_size(sizeof(T) * Lanes)]] = T;
};
// A vector of one number would be kept in an integer register, for example on ARM.
template <class T>
struct vector_data<T, 1> {
  using type = T;
};

template <class T>
inline constexpr int lanes_in = sizeof(T) < LAMINA_PLAIN_VECTORS
                                    ? LAMINA_PLAIN_VECTORS / static_cast<int>(sizeof(T))
                                    : 1;

/// The signed integer of the same size.
template <class T>
using integer_of = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

}  // namespace detail

/// The only instruction set; xsimd's batches have an argument of this kind.
struct plain {};

/// Holds the result of a comparison in each lane.
template <class T, class A = plain>
struct batch_bool {
  static constexpr int size = detail::lanes_in<T>;
  using data_type =
      std::conditional_t<size == 1, bool,
                         typename detail::vector_data<detail::integer_of<T>, size>::type>;
  data_type data;

  batch_bool() = default;
  LAMINA_INLINE explicit batch_bool(data_type d) : data(d) {}
  friend LAMINA_INLINE batch_bool operator&&(batch_bool a, batch_bool b) { return a & b; }
  friend LAMINA_INLINE batch_bool operator||(batch_bool a, batch_bool b) { return a | b; }
  friend LAMINA_INLINE batch_bool operator&(batch_bool a, batch_bool b) {
    return batch_bool(static_cast<data_type>(a.data & b.data));
  }
  friend LAMINA_INLINE batch_bool operator|(batch_bool a, batch_bool b) {
    return batch_bool(static_cast<data_type>(a.data | b.data));
  }
  friend LAMINA_INLINE batch_bool operator^(batch_bool a, batch_bool b) {
    return batch_bool(static_cast<data_type>(a.data ^ b.data));
  }
  friend LAMINA_INLINE batch_bool operator!=(batch_bool a, batch_bool b) { return a ^ b; }
  friend LAMINA_INLINE batch_bool operator==(batch_bool a, batch_bool b) { return !(a ^ b); }
  LAMINA_INLINE batch_bool operator!() const {
    if constexpr (size == 1)
      return batch_bool(!data);
    else
      return batch_bool(~data);
  }
  LAMINA_INLINE batch_bool operator~() const { return !*this; }
};

/// Numbers that are computed together.
template <class T, class A = plain>
struct batch {
  static constexpr int size = detail::lanes_in<T>;
  using value_type = T;
  using arch_type = A;
  using batch_bool_type = batch_bool<T, A>;
  using data_type = typename detail::vector_data<T, size>::type;
  data_type data;

  batch() = default;
  // x - 0 is x also if x is -0 or NaN, so the compiler leaves out the subtraction.
  LAMINA_INLINE batch(T x) : data(x - data_type{}) {}
  template <class D>
  requires(size > 1 && std::is_same_v<D, data_type>) LAMINA_INLINE batch(D d) : data(d) {}

  static LAMINA_INLINE batch load_unaligned(const T* from) {
    batch b;
    std::memcpy(&b.data, from, sizeof b.data);
    return b;
  }
  static LAMINA_INLINE batch load_aligned(const T* from) {
    return load_unaligned(static_cast<const T*>(__builtin_assume_aligned(from, sizeof(data_type))));
  }
  LAMINA_INLINE void store_unaligned(T* to) const { std::memcpy(to, &data, sizeof data); }
  LAMINA_INLINE void store_aligned(T* to) const {
    store_unaligned(static_cast<T*>(__builtin_assume_aligned(to, sizeof(data_type))));
  }
  LAMINA_INLINE T get(int lane) const {
    if constexpr (size == 1)
      return data;
    else
      return data[lane];
  }

  friend LAMINA_INLINE batch operator+(batch a, batch b) { return batch(a.data + b.data); }
  friend LAMINA_INLINE batch operator-(batch a, batch b) { return batch(a.data - b.data); }
  friend LAMINA_INLINE batch operator*(batch a, batch b) { return batch(a.data * b.data); }
  friend LAMINA_INLINE batch operator/(batch a, batch b) { return batch(a.data / b.data); }
  friend LAMINA_INLINE batch operator>>(batch a, int n) { return batch(a.data >> n); }
  LAMINA_INLINE batch operator-() const { return batch(-data); }
  LAMINA_INLINE batch operator+() const { return *this; }
  LAMINA_INLINE batch& operator+=(batch b) { return *this = *this + b; }
  LAMINA_INLINE batch& operator-=(batch b) { return *this = *this - b; }
  LAMINA_INLINE batch& operator*=(batch b) { return *this = *this * b; }
  LAMINA_INLINE batch& operator/=(batch b) { return *this = *this / b; }

  using condition = batch_bool_type;
  friend LAMINA_INLINE condition operator<(batch a, batch b) { return condition(a.data < b.data); }
  friend LAMINA_INLINE condition operator>(batch a, batch b) { return condition(a.data > b.data); }
  friend LAMINA_INLINE condition operator<=(batch a, batch b) {
    return condition(a.data <= b.data);
  }
  friend LAMINA_INLINE condition operator>=(batch a, batch b) {
    return condition(a.data >= b.data);
  }
  friend LAMINA_INLINE condition operator==(batch a, batch b) {
    return condition(a.data == b.data);
  }
  friend LAMINA_INLINE condition operator!=(batch a, batch b) {
    return condition(a.data != b.data);
  }
};

template <class T, class A>
LAMINA_INLINE batch<T, A> select(batch_bool<T, A> c, batch<T, A> a, batch<T, A> b) {
  return batch<T, A>(c.data ? a.data : b.data);
}
template <class T, class A>
LAMINA_INLINE bool any(batch_bool<T, A> c) {
  if constexpr (batch<T, A>::size == 1) {
    return c.data;
  } else {
    detail::integer_of<T> found = 0;
    LAMINA_UNROLL for (int i = 0; i < batch<T, A>::size; ++i) found |= c.data[i];
    return found != 0;
  }
}
template <class T, class A>
LAMINA_INLINE bool all(batch_bool<T, A> c) {
  return !any(!c);
}

/// The second number if one of the two is NaN, as the instructions of x86 do it.
template <class T, class A>
LAMINA_INLINE batch<T, A> min LAMINA_NO_MACRO(batch<T, A> a, batch<T, A> b) {
  return select(a < b, a, b);
}
template <class T, class A>
LAMINA_INLINE batch<T, A> max LAMINA_NO_MACRO(batch<T, A> a, batch<T, A> b) {
  return select(a > b, a, b);
}

/// a * b + c, rounded once if the processor has an instruction for it, and twice otherwise.
template <class T, class A>
LAMINA_INLINE batch<T, A> fma(batch<T, A> a, batch<T, A> b, batch<T, A> c) {
#if defined(__FP_FAST_FMAF)
  if constexpr (batch<T, A>::size == 1 && std::is_same_v<T, float>)
    return batch<T, A>(__builtin_fmaf(a.data, b.data, c.data));
#endif
#if defined(__FP_FAST_FMA)
  if constexpr (batch<T, A>::size == 1 && std::is_same_v<T, double>)
    return batch<T, A>(__builtin_fma(a.data, b.data, c.data));
#endif
  return a * b + c;
}

namespace detail {

template <class To, class From>
LAMINA_INLINE To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}
template <class T>
inline constexpr integer_of<T> sign_bit = static_cast<integer_of<T>>(std::uint64_t{1}
                                                                     << (8 * sizeof(T) - 1));
template <class T>
using bits = typename vector_data<integer_of<T>, lanes_in<T>>::type;

/// Calls `f` for each lane.
template <class T, class A, class F>
LAMINA_INLINE batch<T, A> each(batch<T, A> x, F f) {
  T lane[batch<T, A>::size];
  x.store_unaligned(lane);
  for (T& number : lane) number = f(number);
  return batch<T, A>::load_unaligned(lane);
}

}  // namespace detail

template <class T, class A>
LAMINA_INLINE batch<T, A> abs(batch<T, A> x) {
  using bits = detail::bits<T>;
  return batch<T, A>(detail::same_bits<typename batch<T, A>::data_type>(
      static_cast<bits>(detail::same_bits<bits>(x.data) & ~detail::sign_bit<T>)));
}
template <class T, class A>
LAMINA_INLINE batch<T, A> copysign(batch<T, A> x, batch<T, A> sign) {
  using bits = detail::bits<T>;
  return batch<T, A>(detail::same_bits<typename batch<T, A>::data_type>(
      static_cast<bits>((detail::same_bits<bits>(x.data) & ~detail::sign_bit<T>) |
                        (detail::same_bits<bits>(sign.data) & detail::sign_bit<T>))));
}

/// The nearest whole number; the even one of two.
template <class T, class A>
LAMINA_INLINE batch<T, A> nearbyint(batch<T, A> x) {
  constexpr T whole = std::is_same_v<T, float> ? T(0x1p23) : T(0x1p52);
  const batch<T, A> size = abs(x);
  return select(size < batch<T, A>(whole),
                copysign(batch<T, A>((size + batch<T, A>(whole)) - batch<T, A>(whole)), x), x);
}
template <class T, class A>
LAMINA_INLINE batch<T, A> floor(batch<T, A> x) {
  const batch<T, A> whole = nearbyint(x);
  return copysign(select(whole > x, batch<T, A>(whole - batch<T, A>(T(1))), whole), x);
}
template <class T, class A>
LAMINA_INLINE batch<T, A> ceil(batch<T, A> x) {
  const batch<T, A> whole = nearbyint(x);
  return copysign(select(whole < x, batch<T, A>(whole + batch<T, A>(T(1))), whole), x);
}
/// The nearest whole number; that of the larger magnitude of two.
template <class T, class A>
LAMINA_INLINE batch<T, A> round(batch<T, A> x) {
  const batch<T, A> size = abs(x), below = floor(size);
  const batch<T, A> up =
      select(size - below >= batch<T, A>(T(0.5)), batch<T, A>(below + batch<T, A>(T(1))), below);
  return copysign(up, x);
}

/// Converts whole numbers within the range of the integer type.
template <class T, class A>
LAMINA_INLINE auto to_int(batch<T, A> x) {
  using result = batch<detail::integer_of<T>, A>;
  if constexpr (batch<T, A>::size == 1)
    return result(static_cast<detail::integer_of<T>>(x.data));
  else
    return result(__builtin_convertvector(x.data, typename result::data_type));
}
/// x * 2^k, for exponents of normal numbers.
template <class T, class A>
LAMINA_INLINE batch<T, A> ldexp(batch<T, A> x, batch<detail::integer_of<T>, A> k) {
  constexpr int bias = std::is_same_v<T, float> ? 127 : 1023;
  constexpr int digits = std::is_same_v<T, float> ? 23 : 52;
  return x * batch<T, A>(detail::same_bits<typename batch<T, A>::data_type>(
                 static_cast<detail::bits<T>>((k.data + bias) << digits)));
}

template <class T, class A>
LAMINA_INLINE batch<T, A> sqrt(batch<T, A> x) {
  return detail::each(x, [](T v) { return std::sqrt(v); });
}
template <class T, class A>
LAMINA_INLINE batch<T, A> exp(batch<T, A> x) {
  return detail::each(x, [](T v) { return std::exp(v); });
}
template <class T, class A>
LAMINA_INLINE batch<T, A> log(batch<T, A> x) {
  return detail::each(x, [](T v) { return std::log(v); });
}
template <class T, class A>
LAMINA_INLINE batch<T, A> log1p(batch<T, A> x) {
  return detail::each(x, [](T v) { return std::log1p(v); });
}
template <class T, class A>
LAMINA_INLINE batch<T, A> tanh(batch<T, A> x) {
  return detail::each(x, [](T v) { return std::tanh(v); });
}
template <class T, class A>
LAMINA_INLINE batch<T, A> erf(batch<T, A> x) {
  return detail::each(x, [](T v) { return std::erf(v); });
}
template <class T, class A>
LAMINA_INLINE batch<T, A> sin(batch<T, A> x) {
  return detail::each(x, [](T v) { return std::sin(v); });
}
template <class T, class A>
LAMINA_INLINE batch<T, A> cos(batch<T, A> x) {
  return detail::each(x, [](T v) { return std::cos(v); });
}
template <class T, class A>
LAMINA_INLINE batch<T, A> asin(batch<T, A> x) {
  return detail::each(x, [](T v) { return std::asin(v); });
}
template <class T, class A>
LAMINA_INLINE batch<T, A> acos(batch<T, A> x) {
  return detail::each(x, [](T v) { return std::acos(v); });
}
template <class T, class A>
LAMINA_INLINE batch<T, A> atan(batch<T, A> x) {
  return detail::each(x, [](T v) { return std::atan(v); });
}

/// The sums of the lanes of `size` vectors.
template <class T, class A>
LAMINA_INLINE batch<T, A> haddp(const batch<T, A>* v) {
  T sum[batch<T, A>::size];
  for (int i = 0; i < batch<T, A>::size; ++i) {
    sum[i] = v[i].get(0);
    for (int lane = 1; lane < batch<T, A>::size; ++lane) sum[i] += v[i].get(lane);
  }
  return batch<T, A>::load_unaligned(sum);
}

/// The vector of N numbers; there is one width only.
template <class T, std::size_t N>
using make_sized_batch_t = batch<T>;

}  // namespace plain_simd
}}  // namespace lamina
