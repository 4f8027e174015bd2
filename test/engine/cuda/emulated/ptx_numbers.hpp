// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/emulated/ptx_numbers.hpp - instructions that compute: numbers of registers from
// others (PTX ISA 9.0, chapter 9). Compiled so that each of them rounds by itself:
// -ffp-contract=off -frounding-math.
#pragma once

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "engine/cuda/emulated/ptx_machine.hpp"

namespace test::emulated::detail {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

template <class T>
T get(u64 x) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<u32>(x));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(x);
  else
    return static_cast<T>(x);
}
template <class T>
u64 put(T x) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<u32>(x);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<u64>(x);
  else if constexpr (std::is_signed_v<T>)
    return static_cast<u64>(static_cast<s64>(x));
  else
    return x;
}

template <class F>
void each_lane(u32 lanes, const F& f) {
  if (lanes == ~0u) {
    for (int l = 0; l < 32; ++l) f(l);
  } else {
    for (; lanes != 0; lanes &= lanes - 1) f(std::countr_zero(lanes));
  }
}

// ---- functions of one to three numbers ----

template <class D, class T, auto F>
void one(machine&, warp& w, const instruction& i) {
  const u64* a = w.value(i.of[0]);
  u64* d = w.result(i.to[0]);
  each_lane(w.active, [&](int l) { d[l] = put<D>(F(get<T>(a[l]))); });
}
template <class D, class T, class U, auto F>
void two(machine&, warp& w, const instruction& i) {
  const u64 *a = w.value(i.of[0]), *b = w.value(i.of[1]);
  u64* d = w.result(i.to[0]);
  each_lane(w.active, [&](int l) { d[l] = put<D>(F(get<T>(a[l]), get<U>(b[l]))); });
}
template <class D, class T, class U, class V, auto F>
void three(machine&, warp& w, const instruction& i) {
  const u64 *a = w.value(i.of[0]), *b = w.value(i.of[1]), *c = w.value(i.of[2]);
  u64* d = w.result(i.to[0]);
  each_lane(w.active, [&](int l) { d[l] = put<D>(F(get<T>(a[l]), get<U>(b[l]), get<V>(c[l]))); });
}
/// The same with another rounding.
template <int Mode, action F>
void rounded(machine& m, warp& w, const instruction& i) {
  std::fesetround(Mode);
  F(m, w, i);
  std::fesetround(FE_TONEAREST);
}

template <class T>
using unsigned_of = std::make_unsigned_t<T>;

inline constexpr auto add = [](auto a, auto b) {
  using T = decltype(a);
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<u64>(a) + static_cast<u64>(b));
  else
    return a + b;
};
inline constexpr auto sub = [](auto a, auto b) {
  using T = decltype(a);
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<u64>(a) - static_cast<u64>(b));
  else
    return a - b;
};
inline constexpr auto mul = [](auto a, auto b) {
  using T = decltype(a);
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<u64>(a) * static_cast<u64>(b));
  else
    return a * b;
};
inline constexpr auto mul_high = [](auto a, auto b) {
  using T = decltype(a);
  using wide = std::conditional_t<std::is_signed_v<T>, int128, uint128>;
  return static_cast<T>((static_cast<wide>(a) * b) >> (8 * sizeof(T)));
};
template <class D>
inline constexpr auto mul_wide = [](auto a, auto b) { return static_cast<D>(D(a) * D(b)); };
inline constexpr auto mad = [](auto a, auto b, auto c) {
  return static_cast<decltype(a)>(static_cast<u64>(a) * static_cast<u64>(b) + static_cast<u64>(c));
};
template <class D>
inline constexpr auto mad_wide = [](auto a, auto b, D c) {
  return static_cast<D>(static_cast<u64>(D(a) * D(b)) + static_cast<u64>(c));
};
inline constexpr auto fused = [](auto a, auto b, auto c) { return std::fma(a, b, c); };
inline constexpr auto divide = [](auto a, auto b) {
  using T = decltype(a);
  if constexpr (std::is_integral_v<T>) {
    // A division by zero is no error on a device: all bits are set.
    if (b == 0) return static_cast<T>(-1);
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1)) return static_cast<T>(u64{0} - static_cast<u64>(a));
    return static_cast<T>(a / b);
  } else {
    return a / b;
  }
};
inline constexpr auto remainder_of = [](auto a, auto b) {
  using T = decltype(a);
  if (b == 0) return a;
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1)) return T(0);
  return static_cast<T>(a % b);
};
inline constexpr auto smaller = [](auto a, auto b) {
  if constexpr (std::is_floating_point_v<decltype(a)>)
    return std::isnan(a)   ? b
           : std::isnan(b) ? a
           : a == b        ? (std::signbit(a) ? a : b)
           : a < b         ? a
                           : b;
  else
    return a < b ? a : b;
};
inline constexpr auto larger = [](auto a, auto b) {
  if constexpr (std::is_floating_point_v<decltype(a)>)
    return std::isnan(a)   ? b
           : std::isnan(b) ? a
           : a == b        ? (std::signbit(a) ? b : a)
           : a > b         ? a
                           : b;
  else
    return a > b ? a : b;
};
inline constexpr auto negated = [](auto a) {
  using T = decltype(a);
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(u64{0} - static_cast<u64>(a));
  else
    return -a;
};
inline constexpr auto absolute = [](auto a) {
  using T = decltype(a);
  if constexpr (std::is_integral_v<T>)
    return a < 0 ? static_cast<T>(u64{0} - static_cast<u64>(a)) : a;
  else
    return std::fabs(a);
};
inline constexpr auto both = [](auto a, auto b) { return static_cast<decltype(a)>(a & b); };
inline constexpr auto either = [](auto a, auto b) { return static_cast<decltype(a)>(a | b); };
inline constexpr auto exclusive = [](auto a, auto b) { return static_cast<decltype(a)>(a ^ b); };
inline constexpr auto inverted = [](auto a) { return static_cast<decltype(a)>(~a); };
inline constexpr auto shift_left = [](auto a, u32 b) {
  using T = decltype(a);
  return b >= 8 * sizeof(T) ? T(0) : static_cast<T>(static_cast<u64>(a) << b);
};
inline constexpr auto shift_right = [](auto a, u32 b) {
  using T = decltype(a);
  if (b >= 8 * sizeof(T)) return a < 0 ? static_cast<T>(-1) : T(0);
  return static_cast<T>(a >> b);
};
inline constexpr auto same = [](auto a) { return a; };
inline constexpr auto permuted = [](u32 a, u32 b, u32 c) {
  const u64 bytes = u64{b} << 32 | a;
  u32 d = 0;
  for (int n = 0; n < 4; ++n) {
    const u32 selector = c >> 4 * n & 15;
    u32 byte = static_cast<u32>(bytes >> 8 * (selector & 7)) & 255;
    if (selector & 8) byte = byte & 128 ? 255 : 0;
    d |= byte << 8 * n;
  }
  return d;
};
inline constexpr auto bit_mask = [](u32 a, u32 b) {
  u32 d = 0;
  for (u64 n = a; n < u64{a} + b && n < 32; ++n) d |= 1u << n;
  return d;
};
inline constexpr auto funnel_left = [](u32 a, u32 b, u32 c) {
  const u32 n = c & 31;
  return n == 0 ? b : (b << n | a >> (32 - n));
};
inline constexpr auto funnel_right = [](u32 a, u32 b, u32 c) {
  const u32 n = c & 31;
  return n == 0 ? a : (a >> n | b << (32 - n));
};
inline constexpr auto flushed = [](float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
};
inline constexpr auto power_of_two = [](float x) { return flushed(std::exp2(flushed(x))); };
inline constexpr auto logarithm = [](float x) { return std::log2(flushed(x)); };
inline constexpr auto reciprocal = [](auto x) { return 1 / x; };
inline constexpr auto reciprocal_flushed = [](float x) { return flushed(1 / flushed(x)); };
inline constexpr auto reciprocal_root = [](auto x) { return 1 / std::sqrt(x); };
inline constexpr auto root = [](auto x) { return std::sqrt(x); };
/// Of a double the upper word alone.
inline constexpr auto reciprocal_rough = [](double x) {
  return std::bit_cast<double>(std::bit_cast<u64>(1 / x) & 0xffffffff00000000u);
};
inline constexpr auto signed_as = [](auto a, auto b) { return std::copysign(b, a); };
inline constexpr auto sine = [](float x) { return std::sin(x); };
inline constexpr auto cosine = [](float x) { return std::cos(x); };
inline constexpr auto hyperbolic = [](float x) { return std::tanh(x); };

inline void insert_bits_64(machine&, warp& w, const instruction& i) {
  const u64 *a = w.value(i.of[0]), *b = w.value(i.of[1]), *c = w.value(i.of[2]),
            *n = w.value(i.of[3]);
  u64* d = w.result(i.to[0]);
  each_lane(w.active, [&](int l) {
    const u32 at = c[l] & 255, count = n[l] & 255;
    const u64 mask = at >= 64 ? 0 : (count >= 64 ? ~u64{0} : (u64{1} << count) - 1) << at;
    d[l] = (b[l] & ~mask) | (at >= 64 ? 0 : (a[l] << at & mask));
  });
}
inline constexpr auto extracted_bits = [](u32 a, u32 b, u32 c) {
  const u32 at = b & 255, count = c & 255;
  const u64 mask = count >= 32 ? ~u64{0} : (u64{1} << count) - 1;
  return at >= 32 ? u32{0} : static_cast<u32>(a >> at & mask);
};
inline void select(machine&, warp& w, const instruction& i) {
  const u64 *a = w.value(i.of[0]), *b = w.value(i.of[1]);
  u64* d = w.result(i.to[0]);
  const u32 p = w.predicates[i.predicates[1]];
  each_lane(w.active, [&](int l) { d[l] = p >> l & 1 ? a[l] : b[l]; });
}

// ---- conversions ----

enum class rounding { none, nearest, zero, down, up };

template <class D, class T, rounding R, bool Integral, bool Saturates>
D converted(T x) {
  if constexpr (std::is_integral_v<D> && std::is_integral_v<T>) {
    return static_cast<D>(x);
  } else if constexpr (std::is_integral_v<D>) {
    if (std::isnan(x)) return 0;
    const T y = R == rounding::nearest ? std::nearbyint(x)
                : R == rounding::down  ? std::floor(x)
                : R == rounding::up    ? std::ceil(x)
                                       : std::trunc(x);
    constexpr T low = static_cast<T>(std::numeric_limits<D>::min());
    constexpr T high = static_cast<T>(std::numeric_limits<D>::max());
    if (y <= low) return std::numeric_limits<D>::min();
    if (y >= high) return std::numeric_limits<D>::max();
    return static_cast<D>(y);
  } else {
    D y;
    if constexpr (Integral && std::is_floating_point_v<T>)
      y = static_cast<D>(R == rounding::nearest ? std::nearbyint(x)
                         : R == rounding::down  ? std::floor(x)
                         : R == rounding::up    ? std::ceil(x)
                                                : std::trunc(x));
    else
      y = static_cast<D>(x);
    if constexpr (Saturates) y = std::isnan(y) ? D(0) : y < 0 ? D(0) : y > 1 ? D(1) : y;
    return y;
  }
}
template <class D, class T, rounding R, bool Integral, bool Saturates>
void convert(machine&, warp& w, const instruction& i) {
  const u64* a = w.value(i.of[0]);
  u64* d = w.result(i.to[0]);
  each_lane(w.active,
            [&](int l) { d[l] = put<D>(converted<D, T, R, Integral, Saturates>(get<T>(a[l]))); });
}
// ---- comparisons and predicates ----

enum class comparison { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };

template <class T, comparison C>
bool holds(T a, T b) {
  bool unordered = false;
  if constexpr (std::is_floating_point_v<T>) unordered = std::isnan(a) || std::isnan(b);
  switch (C) {
    case comparison::eq:
      return a == b;
    case comparison::ne:
      return !unordered && a != b;
    case comparison::lt:
      return a < b;
    case comparison::le:
      return a <= b;
    case comparison::gt:
      return a > b;
    case comparison::ge:
      return a >= b;
    case comparison::equ:
      return unordered || a == b;
    case comparison::neu:
      return unordered || a != b;
    case comparison::ltu:
      return unordered || a < b;
    case comparison::leu:
      return unordered || a <= b;
    case comparison::gtu:
      return unordered || a > b;
    case comparison::geu:
      return unordered || a >= b;
    case comparison::num:
      return !unordered;
    case comparison::nan:
      return unordered;
  }
  return false;
}
inline void set_predicate(warp& w, int p, u32 value) {
  w.predicates[p] = (w.predicates[p] & ~w.active) | (value & w.active);
}
template <class T, comparison C>
void compare(machine&, warp& w, const instruction& i) {
  const u64 *a = w.value(i.of[0]), *b = w.value(i.of[1]);
  u32 p = 0;
  each_lane(w.active, [&](int l) { p |= u32{holds<T, C>(get<T>(a[l]), get<T>(b[l]))} << l; });
  set_predicate(w, i.predicates[0], p);
}
template <auto F>
void combine(machine&, warp& w, const instruction& i) {
  set_predicate(w, i.predicates[0],
                F(w.predicates[i.predicates[1]], w.predicates[i.predicates[2]]));
}
inline void invert(machine&, warp& w, const instruction& i) {
  set_predicate(w, i.predicates[0], ~w.predicates[i.predicates[1]]);
}
inline void move_predicate(machine&, warp& w, const instruction& i) {
  u32 p = 0;
  if (i.predicates[1] >= 0) {
    p = w.predicates[i.predicates[1]];
  } else {
    const u64* a = w.value(i.of[0]);
    each_lane(w.active, [&](int l) { p |= u32{a[l] != 0} << l; });
  }
  set_predicate(w, i.predicates[0], p);
}

// ---- parts of registers ----

template <class Part, int Count>
void unpack(machine&, warp& w, const instruction& i) {
  const u64* a = w.value(i.of[0]);
  each_lane(w.active, [&](int l) {
    const u64 x = a[l];
    for (int n = 0; n < Count; ++n)
      if (i.to[n] != no_operand)
        w.result(i.to[n])[l] = static_cast<Part>(x >> (8 * sizeof(Part) * n));
  });
}
template <class Part, int Count>
void pack(machine&, warp& w, const instruction& i) {
  u64* d = w.result(i.to[0]);
  each_lane(w.active, [&](int l) {
    u64 x = 0;
    for (int n = 0; n < Count; ++n)
      x |= u64{static_cast<Part>(w.value(i.of[n])[l])} << (8 * sizeof(Part) * n);
    d[l] = x;
  });
}

}  // namespace test::emulated::detail
