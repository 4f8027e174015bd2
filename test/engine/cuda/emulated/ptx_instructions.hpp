// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/emulated/ptx_instructions.hpp - what instructions do (PTX ISA 9.0, chapter 9).
// Compiled so that each of them rounds by itself: -ffp-contract=off -frounding-math.
#pragma once

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/cuda/emulated/ptx_machine.hpp"

namespace test::emulated {

namespace detail {

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
inline u32 tf32_of(float x) {
  const u32 bits = std::bit_cast<u32>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fffffffu;
  return (bits + 0x1000u) & ~0x1fffu;
}
inline u32 bfloat16_of(float x) {
  const u32 bits = std::bit_cast<u32>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
}
inline float of_bfloat16(u32 x) { return std::bit_cast<float>(x << 16); }
inline u32 float16_of(float x) {
  if (std::isnan(x)) return 0x7fff;
  const u32 bits = std::bit_cast<u32>(x), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
  if (size >= 0x477ff000u) return sign | 0x7c00u;  // 65520 and more
  if (size < 0x38800000u)
    return sign | static_cast<u32>(std::nearbyint(std::ldexp(std::bit_cast<float>(size), 24)));
  return sign | (size - 0x38000000u + 0xfffu + (size >> 13 & 1)) >> 13;
}
inline float of_float16(u32 x) {
  const float sign = x & 0x8000u ? -1.0f : 1.0f;
  const u32 size = x & 0x7fffu;
  if (size < 0x400u) return sign * std::ldexp(static_cast<float>(size), -24);
  if (size >= 0x7c00u) return std::bit_cast<float>((size << 13) | 0x7f800000u) * sign;
  return sign * std::bit_cast<float>((size << 13) + 0x38000000u);
}
template <u32 (*To)(float)>
void convert_pair(machine&, warp& w, const instruction& i) {
  const u64 *a = w.value(i.of[0]), *b = w.value(i.of[1]);
  u64* d = w.result(i.to[0]);
  each_lane(w.active, [&](int l) { d[l] = To(get<float>(a[l])) << 16 | To(get<float>(b[l])); });
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

// ---- memory ----

/// The 32-byte sectors of global memory, or the wavefronts of shared memory, of a request.
inline void count_request(machine& m, const warp& w, const instruction& i, const u64* address,
                          std::size_t bytes) {
  u64 all[64];
  int count = 0;
  std::size_t used = 0;
  const bool shared =
      i.where == space::shared ||
      (i.where == space::generic && (address[std::countr_zero(w.active)] & window_mask) != 0);
  if (!shared) {
    each_lane(w.active, [&](int l) {
      const u64 first = (address[l] + static_cast<s64>(i.offset)) / 32;
      all[count++] = first;
      used += bytes;
    });
    std::sort(all, all + count);
    const auto distinct = static_cast<std::size_t>(std::unique(all, all + count) - all);
    ++m.count->requests;
    m.count->sectors += distinct;
    m.count->needed_sectors += std::min<std::size_t>((used + 31) / 32, distinct);
    return;
  }
  // Lanes go together as long as their bytes fit into all banks.
  const int together = static_cast<int>(std::min<std::size_t>(32, 128 / bytes));
  ++m.count->shared_requests;
  for (int begin = 0; begin < 32; begin += together) {
    u32 words[32][32];
    int in_bank[32] = {}, most = 0;
    for (int l = begin; l < begin + together; ++l) {
      if ((w.active >> l & 1) == 0) continue;
      const u32 first = static_cast<u32>(address[l] + static_cast<u64>(s64{i.offset})) / 4;
      for (u32 word = first; word < first + std::max<std::size_t>(1, bytes / 4); ++word) {
        int& n = in_bank[word % 32];
        if (std::find(words[word % 32], words[word % 32] + n, word) != words[word % 32] + n)
          continue;
        words[word % 32][n++] = word;
        most = std::max(most, n);
      }
    }
    m.count->wavefronts += static_cast<u64>(most);
    m.count->needed_wavefronts += most > 0;
  }
}

/// The warp of the thread, or of the threads, that a visit is of.
inline int warp_of(const visit& v) {
  return v.thread >= 0 ? v.thread / 32 : many_threads - v.thread;
}
inline bool same_block(const machine& m, const visit& v) { return v.block == m.block; }
/// Whether a visit of another thread is separated from one of this thread by no barrier.
inline bool is_beside(const machine& m, const warp& w, const visit& v, int lane) {
  if (v.launch != m.launch) return false;
  if (!same_block(m, v)) return true;
  if (v.barrier != m.barrier) return false;
  if (v.thread == many_warps) return true;
  const int thread = w.number * 32 + lane;
  if (v.thread == thread) return false;
  return warp_of(v) != w.number || v.sync == w.sync;
}
inline void note_read(const machine& m, const warp& w, visit& v, int lane) {
  const s16 thread = static_cast<s16>(w.number * 32 + lane);
  const visit mine{m.launch, m.block, thread, m.barrier, w.sync};
  if (v.launch != m.launch) {
    v = mine;
  } else if (!same_block(m, v)) {
    v.block = many_blocks;
  } else if (v.barrier != m.barrier) {
    v = mine;
  } else if (v.thread == many_warps || warp_of(v) != w.number) {
    v.thread = many_warps;
  } else if (v.thread != thread && v.sync == w.sync) {
    v.thread = static_cast<s16>(many_threads - w.number);
  } else {
    v = mine;
  }
}
inline void check_read(machine& m, const warp& w, visits& v, int lane, const instruction& i) {
  if (is_beside(m, w, v.write, lane))
    m.tell(std::string("reads what ") +
               (same_block(m, v.write) ? "another thread" : "another block") +
               " writes, with no barrier between",
           lane);
  else if (i.read_only && v.write.launch == m.launch)
    m.tell("reads through the read-only cache what the kernel writes", lane);
  note_read(m, w, v.read, lane);
}
inline void check_write(machine& m, const warp& w, visits& v, int lane, bool changes) {
  if (changes) {
    if (is_beside(m, w, v.write, lane))
      m.tell(std::string("writes what ") +
                 (same_block(m, v.write) ? "another thread" : "another block") +
                 " writes, with no barrier between",
             lane);
    else if (is_beside(m, w, v.read, lane))
      m.tell(std::string("writes what ") +
                 (same_block(m, v.read) ? "another thread" : "another block") +
                 " reads, with no barrier between",
             lane);
  }
  v.write = {m.launch, m.block, static_cast<s16>(w.number * 32 + lane), m.barrier, w.sync};
}

template <class T>
void load(machine& m, warp& w, const instruction& i) {
  const u64* a = w.value(i.of[0]);
  const std::size_t bytes = sizeof(T) * i.vector;
  if (m.counts && i.where != space::parameter && i.where != space::local)
    count_request(m, w, i, a, bytes);
  u64 result[4][32];
  each_lane(w.active, [&](int l) {
    visits* seen = nullptr;
    const char* const p =
        m.find(a[l] + static_cast<u64>(s64{i.offset}), bytes, i.where, l, &seen, false);
    if (seen != nullptr && !i.is_volatile && sizeof(T) >= 4)
      for (std::size_t n = 0; n < bytes / 4; ++n) check_read(m, w, seen[n], l, i);
    for (int n = 0; n < i.vector; ++n) {
      T x;
      std::memcpy(&x, p + sizeof(T) * static_cast<std::size_t>(n), sizeof(T));
      result[n][l] = put<T>(x);
    }
  });
  for (int n = 0; n < i.vector; ++n) {
    if (i.to[n] == no_operand) continue;
    u64* d = w.result(i.to[n]);
    each_lane(w.active, [&](int l) { d[l] = result[n][l]; });
  }
}
template <class T>
void store(machine& m, warp& w, const instruction& i) {
  const u64* a = w.value(i.of[0]);
  const std::size_t bytes = sizeof(T) * i.vector;
  if (m.counts && i.where != space::local) count_request(m, w, i, a, bytes);
  each_lane(w.active, [&](int l) {
    visits* seen = nullptr;
    char* const p = m.find(a[l] + static_cast<u64>(s64{i.offset}), bytes, i.where, l, &seen, true);
    T x[4];
    for (int n = 0; n < i.vector; ++n) x[n] = get<T>(w.value(i.of[n + 1])[l]);
    if (seen != nullptr && !i.is_volatile && sizeof(T) >= 4)
      for (std::size_t n = 0; n < bytes / 4; ++n)
        check_write(m, w, seen[n], l,
                    std::memcmp(p + 4 * n, reinterpret_cast<const char*>(x) + 4 * n, 4) != 0);
    std::memcpy(p, x, bytes);
  });
}
template <class T, auto F>
void atomic(machine& m, warp& w, const instruction& i) {
  const u64 *a = w.value(i.of[0]), *b = w.value(i.of[1]);
  each_lane(w.active, [&](int l) {
    visits* seen = nullptr;
    char* const p =
        m.find(a[l] + static_cast<u64>(s64{i.offset}), sizeof(T), i.where, l, &seen, true);
    T before;
    std::memcpy(&before, p, sizeof(T));
    const T after = F(before, get<T>(b[l]));
    std::memcpy(p, &after, sizeof(T));
    if (i.to[0] != no_operand) w.result(i.to[0])[l] = put<T>(before);
  });
}
inline constexpr auto exchange = [](auto, auto b) { return b; };
inline void to_shared(machine&, warp& w, const instruction& i) {
  const u64* a = w.value(i.of[0]);
  u64* d = w.result(i.to[0]);
  const u64 window = i.modifier == 1 ? shared_window : 0;
  each_lane(w.active, [&](int l) { d[l] = (a[l] & ~window_mask) | window; });
}
inline void copy_64(machine& m, warp& w, const instruction& i) { one<u64, u64, same>(m, w, i); }

// ---- threads together ----

inline void reschedule(machine& m, warp& w);

/// Waits until these threads of the warp are at this instruction. False where they are not yet.
inline bool gather(machine& m, warp& w, u32 members) {
  members &= w.alive;
  if ((w.group & members) == members) return true;
  w.others.push_back({w.pc, w.group, true});
  w.group = 0;
  reschedule(m, w);
  return false;
}

enum class shuffle_kind { butterfly, index, up, down };
template <shuffle_kind K>
void shuffle(machine& m, warp& w, const instruction& i) {
  const u32 members = static_cast<u32>(w.value(i.of[3])[std::countr_zero(w.active)]);
  if (!gather(m, w, members)) return;
  const u64 *a = w.value(i.of[0]), *b = w.value(i.of[1]), *c = w.value(i.of[2]);
  u64 result[32];
  u32 valid = 0;
  each_lane(w.active, [&](int l) {
    const int lane_part = static_cast<int>(b[l] & 31), clamp = static_cast<int>(c[l] & 31);
    const int segment = static_cast<int>(c[l] >> 8 & 31);
    const int most = (l & segment) | (clamp & ~segment), least = l & segment;
    int from = 0;
    bool inside = false;
    if (K == shuffle_kind::up) from = l - lane_part, inside = from >= most;
    if (K == shuffle_kind::down) from = l + lane_part, inside = from <= most;
    if (K == shuffle_kind::butterfly) from = l ^ lane_part, inside = from <= most;
    if (K == shuffle_kind::index) from = least | (lane_part & ~segment), inside = from <= most;
    if (!inside) from = l;
    if ((w.active >> from & 1) == 0) m.tell("shuffles from a thread that is not there", l);
    result[l] = static_cast<u32>(a[from]);
    valid |= u32{inside} << l;
  });
  u64* d = w.result(i.to[0]);
  each_lane(w.active, [&](int l) { d[l] = result[l]; });
  if (i.predicates[0] >= 0) set_predicate(w, i.predicates[0], valid);
  ++w.pc;
}
inline void ballot(machine& m, warp& w, const instruction& i) {
  const u32 members = static_cast<u32>(w.value(i.of[0])[std::countr_zero(w.active)]);
  if (!gather(m, w, members)) return;
  const u32 votes = w.predicates[i.predicates[1]] & w.active;
  u64* d = w.result(i.to[0]);
  each_lane(w.active, [&](int l) { d[l] = votes; });
  ++w.pc;
}
inline void warp_barrier(machine& m, warp& w, const instruction& i) {
  if (!gather(m, w, static_cast<u32>(w.value(i.of[0])[std::countr_zero(w.active)]))) return;
  ++w.sync;
  ++w.pc;
}
inline void block_barrier(machine& m, warp& w, const instruction& i) {
  if (!gather(m, w, ~0u)) return;
  if (w.value(i.of[0])[0] != 0) m.fail("is a barrier of another number", 0);
  w.at_barrier = true;
  w.barrier_result = i.predicates[0];
  w.barrier_mask = i.predicates[0] >= 0 ? w.predicates[i.predicates[1]] & w.active : 0;
  ++w.pc;
}

/// Fragments of tensor cores (PTX ISA 9.7.14.5): a thread of group g and number t in it has of the
/// 16 x K matrix rows g and g + 8, of the K x 8 matrix column g, of the sums columns 2t and 2t + 1.
template <int K>
void multiply(machine& m, warp& w, const instruction& i) {
  if (!gather(m, w, ~0u)) return;
  if (w.active != ~0u) m.fail("is run by fewer than 32 threads", 0);
  if (m.counts) ++m.count->products;
  constexpr int terms = K == 8 ? 1 : 2;  // a word
  static thread_local float left[16][16], right[16][8];
  const auto term = [&](u64 word, int n) {
    const u32 bits = static_cast<u32>(word);
    if constexpr (K == 8) return std::bit_cast<float>(bits & ~0x1fffu);
    const u32 half = n == 0 ? bits & 0xffff : bits >> 16;
    return i.modifier == 1 ? of_bfloat16(half) : of_float16(half);
  };
  for (int l = 0; l < 32; ++l) {
    const int g = l / 4, t = l % 4;
    for (int r = 0; r < 4; ++r)
      for (int n = 0; n < terms; ++n)
        left[g + 8 * (r % 2)][(t + 4 * (r / 2)) * terms + n] = term(w.value(i.of[r])[l], n);
    for (int r = 0; r < 2; ++r)
      for (int n = 0; n < terms; ++n)
        right[(t + 4 * r) * terms + n][g] = term(w.value(i.of[4 + r])[l], n);
  }
  float sums[16][8];
  for (int l = 0; l < 32; ++l)
    for (int r = 0; r < 4; ++r)
      sums[l / 4 + 8 * (r / 2)][l % 4 * 2 + r % 2] = get<float>(w.value(i.of[6 + r])[l]);
  for (int row = 0; row < 16; ++row) {
    double sum[8];
    for (int n = 0; n < 8; ++n) sum[n] = sums[row][n];
    for (int t = 0; t < K; ++t)
      for (int n = 0; n < 8; ++n) sum[n] += static_cast<double>(left[row][t]) * right[t][n];
    for (int n = 0; n < 8; ++n) sums[row][n] = static_cast<float>(sum[n]);
  }
  for (int l = 0; l < 32; ++l)
    for (int r = 0; r < 4; ++r)
      w.result(i.to[r])[l] = put(sums[l / 4 + 8 * (r / 2)][l % 4 * 2 + r % 2]);
  ++w.pc;
}

// ---- the way of a warp ----

inline void find_next_other(warp& w) {
  w.next_other = std::numeric_limits<int>::max();
  for (const lane_group& g : w.others)
    if (!g.waits) w.next_other = std::min(w.next_other, g.pc);
}
/// The threads that are furthest behind go on; with them all that are at the same instruction.
inline void reschedule(machine& m, warp& w) {
  if (w.group != 0) {
    w.others.push_back({w.pc, w.group, false});
    w.group = 0;
  }
  // Those who wait look again when others arrive.
  for (std::size_t a = 0; a < w.others.size(); ++a)
    for (std::size_t b = a + 1; b < w.others.size();) {
      if (w.others[a].pc == w.others[b].pc) {
        w.others[a].lanes |= w.others[b].lanes;
        w.others[a].waits = false;
        w.others.erase(w.others.begin() + static_cast<std::ptrdiff_t>(b));
      } else {
        ++b;
      }
    }
  const lane_group* next = nullptr;
  for (const lane_group& g : w.others)
    if (!g.waits && (next == nullptr || g.pc < next->pc)) next = &g;
  if (next == nullptr) {
    if (w.others.empty()) return;
    m.now = &m.running->code[static_cast<std::size_t>(w.others[0].pc)];
    m.fail("is not reached by all threads of a warp that it needs",
           std::countr_zero(w.others[0].lanes));
  }
  w.pc = next->pc;
  w.group = next->lanes;
  w.others.erase(w.others.begin() + (next - w.others.data()));
  find_next_other(w);
}
inline void branch(machine& m, warp& w, const instruction& i) {
  const u32 stay = w.group & ~w.active;
  if (stay == 0) {
    w.pc = i.target;
  } else {
    w.others.push_back({w.pc + 1, stay});
    w.group = w.active;
    w.pc = i.target;
    find_next_other(w);
  }
  if (w.pc >= w.next_other) reschedule(m, w);
}
inline void leave(machine& m, warp& w, const instruction&) {
  w.alive &= ~w.active;
  w.group &= ~w.active;
  ++w.pc;
  for (lane_group& g : w.others) g.waits = false;
  if (w.group == 0)
    reschedule(m, w);
  else
    find_next_other(w);
}
inline void condition(machine& m, warp& w, const instruction& i) {
  each_lane(w.active, [&](int l) {
    m.around->set_condition(w.value(i.of[0])[l], (w.value(i.of[1])[l] & 0xffffffff) != 0);
  });
}
inline void nothing(machine&, warp&, const instruction&) {}

// ---- which opcode is what ----

template <class T>
struct tag {
  using type = T;
};
template <class F>
action by_integer(std::string_view t, const F& f) {
  if (t == "u16" || t == "b16") return f(tag<u16>{});
  if (t == "s16") return f(tag<s16>{});
  if (t == "u32" || t == "b32") return f(tag<u32>{});
  if (t == "s32") return f(tag<s32>{});
  if (t == "u64" || t == "b64") return f(tag<u64>{});
  if (t == "s64") return f(tag<s64>{});
  return nullptr;
}
template <class F>
action by_float(std::string_view t, const F& f) {
  if (t == "f32") return f(tag<float>{});
  if (t == "f64") return f(tag<double>{});
  return nullptr;
}
template <class F>
action by_number(std::string_view t, const F& f) {
  const action found = by_float(t, f);
  return found != nullptr ? found : by_integer(t, f);
}
template <class F>
action by_any(std::string_view t, const F& f) {
  if (t == "u8" || t == "b8") return f(tag<u8>{});
  if (t == "s8") return f(tag<s8>{});
  return by_number(t, f);
}
template <auto F, class G>
action unary(std::string_view t, const G& by) {
  return by(t, [](auto x) -> action {
    using T = typename decltype(x)::type;
    return &one<T, T, F>;
  });
}
template <auto F, class G>
action binary(std::string_view t, const G& by) {
  return by(t, [](auto x) -> action {
    using T = typename decltype(x)::type;
    return &two<T, T, T, F>;
  });
}
inline constexpr auto integers = [](std::string_view t, const auto& f) { return by_integer(t, f); };
inline constexpr auto floats = [](std::string_view t, const auto& f) { return by_float(t, f); };
inline constexpr auto numbers = [](std::string_view t, const auto& f) { return by_number(t, f); };

template <comparison C>
action comparison_of(std::string_view t) {
  return by_number(t, [](auto x) -> action { return &compare<typename decltype(x)::type, C>; });
}
template <rounding R, bool Integral, bool Saturates>
action conversion(std::string_view d, std::string_view t) {
  return by_any(d, [&](auto to) -> action {
    return by_any(t, [&](auto from) -> action {
      using D = typename decltype(to)::type;
      using T = typename decltype(from)::type;
      // One word may hold a number of 16 bits, or a byte: it is extended by its type.
      return &convert<D, T, R, Integral, Saturates>;
    });
  });
}

}  // namespace detail

inline meaning meaning_of(const std::vector<std::string_view>& opcode) {
  using namespace detail;
  const std::string_view name = opcode[0], type = opcode.back();
  const auto has = [&](std::string_view word) {
    return std::find(opcode.begin() + 1, opcode.end(), word) != opcode.end();
  };
  action a = nullptr;
  bool ends = false;
  u32 modifier = 0;
  if (name == "add") {
    a = binary<add>(type, numbers);
    if (has("rz")) a = &rounded<FE_TOWARDZERO, &two<float, float, float, add>>;
    if (has("rm") || has("rp") || (has("rz") && type != "f32")) a = nullptr;
  } else if (name == "sub") {
    a = binary<sub>(type, numbers);
  } else if (name == "mul" && has("wide")) {
    a = type == "s32"   ? action(&two<s64, s32, s32, mul_wide<s64>>)
        : type == "u32" ? action(&two<u64, u32, u32, mul_wide<u64>>)
        : type == "s16" ? action(&two<s32, s16, s16, mul_wide<s32>>)
        : type == "u16" ? action(&two<u32, u16, u16, mul_wide<u32>>)
                        : nullptr;
  } else if (name == "mul" && has("hi")) {
    a = binary<mul_high>(type, integers);
  } else if (name == "mul") {
    a = binary<mul>(type, numbers);
  } else if (name == "mad" && has("wide")) {
    a = type == "s32"   ? action(&three<s64, s32, s32, s64, mad_wide<s64>>)
        : type == "u32" ? action(&three<u64, u32, u32, u64, mad_wide<u64>>)
                        : nullptr;
  } else if (name == "mad" && has("lo")) {
    a = by_integer(type, [](auto x) -> action {
      using T = typename decltype(x)::type;
      return &three<T, T, T, T, mad>;
    });
  } else if (name == "fma") {
    a = by_float(type, [](auto x) -> action {
      using T = typename decltype(x)::type;
      return &three<T, T, T, T, fused>;
    });
    if (has("rm"))
      a = type == "f32" ? &rounded<FE_DOWNWARD, &three<float, float, float, float, fused>>
                        : nullptr;
    if (has("rz"))
      a = type == "f32" ? &rounded<FE_TOWARDZERO, &three<float, float, float, float, fused>>
                        : nullptr;
    if (has("rp")) a = nullptr;
  } else if (name == "div") {
    a = binary<divide>(type, numbers);
  } else if (name == "rem") {
    a = binary<remainder_of>(type, integers);
  } else if (name == "min") {
    a = binary<smaller>(type, numbers);
  } else if (name == "max") {
    a = binary<larger>(type, numbers);
  } else if (name == "neg") {
    a = unary<negated>(type, numbers);
  } else if (name == "abs") {
    a = type == "f32"   ? action(&one<float, float, absolute>)
        : type == "f64" ? action(&one<double, double, absolute>)
        : type == "s32" ? action(&one<s32, s32, absolute>)
        : type == "s64" ? action(&one<s64, s64, absolute>)
                        : nullptr;
  } else if (type == "pred" && (name == "and" || name == "or" || name == "xor")) {
    a = name == "and"  ? action(&combine<both>)
        : name == "or" ? action(&combine<either>)
                       : action(&combine<exclusive>);
  } else if (type == "pred" && name == "not") {
    a = &invert;
  } else if (type == "pred" && name == "mov") {
    a = &move_predicate;
  } else if (name == "and") {
    a = binary<both>(type, integers);
  } else if (name == "or") {
    a = binary<either>(type, integers);
  } else if (name == "xor") {
    a = binary<exclusive>(type, integers);
  } else if (name == "not") {
    a = unary<inverted>(type, integers);
  } else if (name == "shl") {
    a = by_integer(type, [](auto x) -> action {
      using T = typename decltype(x)::type;
      return &two<T, T, u32, shift_left>;
    });
  } else if (name == "shr") {
    a = by_integer(type, [](auto x) -> action {
      using T = typename decltype(x)::type;
      return &two<T, T, u32, shift_right>;
    });
  } else if (name == "shf" && has("wrap")) {
    a = has("l") ? action(&three<u32, u32, u32, u32, funnel_left>)
                 : action(&three<u32, u32, u32, u32, funnel_right>);
  } else if (name == "mov") {
    a = &copy_64;
  } else if (name == "pack") {
    a = opcode[1].ends_with("64") ? (type == "2" ? &pack<u32, 2> : &pack<u16, 4>)
                                  : (type == "2" ? &pack<u16, 2> : &pack<u8, 4>);
  } else if (name == "unpack") {
    a = opcode[1].ends_with("64") ? (type == "2" ? &unpack<u32, 2> : &unpack<u16, 4>)
                                  : (type == "2" ? &unpack<u16, 2> : &unpack<u8, 4>);
  } else if (name == "selp") {
    a = &select;
  } else if (name == "prmt" && opcode.size() == 2) {
    a = &three<u32, u32, u32, u32, permuted>;
  } else if (name == "bmsk" && has("clamp")) {
    a = &two<u32, u32, u32, bit_mask>;
  } else if (name == "bfi" && type == "b64") {
    a = &insert_bits_64;
  } else if (name == "popc" && type == "b32") {
    a = &one<u32, u32, [](u32 x) { return static_cast<u32>(std::popcount(x)); }>;
  } else if (name == "popc" && type == "b64") {
    a = &one<u32, u64, [](u64 x) { return static_cast<u32>(std::popcount(x)); }>;
  } else if (name == "clz" && type == "b32") {
    a = &one<u32, u32, [](u32 x) { return static_cast<u32>(std::countl_zero(x)); }>;
  } else if (name == "clz" && type == "b64") {
    a = &one<u32, u64, [](u64 x) { return static_cast<u32>(std::countl_zero(x)); }>;
  } else if (name == "brev" && type == "b32") {
    a = &one<u32, u32, [](u32 x) {
      u32 d = 0;
      for (int n = 0; n < 32; ++n) d |= (x >> n & 1) << (31 - n);
      return d;
    }>;
  } else if (name == "copysign") {
    a = binary<signed_as>(type, floats);
  } else if (name == "ex2" && has("ftz")) {
    a = &one<float, float, power_of_two>;
  } else if (name == "lg2" && has("ftz")) {
    a = &one<float, float, logarithm>;
  } else if (name == "rcp" && has("ftz")) {
    a = type == "f32" ? action(&one<float, float, reciprocal_flushed>)
                      : action(&one<double, double, reciprocal_rough>);
  } else if (name == "rcp") {
    a = unary<reciprocal>(type, floats);
  } else if (name == "rsqrt") {
    a = unary<reciprocal_root>(type, floats);
  } else if (name == "sqrt") {
    a = unary<root>(type, floats);
  } else if (name == "sin") {
    a = &one<float, float, sine>;
  } else if (name == "cos") {
    a = &one<float, float, cosine>;
  } else if (name == "tanh") {
    a = &one<float, float, hyperbolic>;
  } else if (name == "setp" && opcode.size() == 3) {
    const std::string_view c = opcode[1];
    a = c == "eq"                ? comparison_of<comparison::eq>(type)
        : c == "ne"              ? comparison_of<comparison::ne>(type)
        : c == "lt" || c == "lo" ? comparison_of<comparison::lt>(type)
        : c == "le" || c == "ls" ? comparison_of<comparison::le>(type)
        : c == "gt" || c == "hi" ? comparison_of<comparison::gt>(type)
        : c == "ge" || c == "hs" ? comparison_of<comparison::ge>(type)
        : c == "equ"             ? comparison_of<comparison::equ>(type)
        : c == "neu"             ? comparison_of<comparison::neu>(type)
        : c == "ltu"             ? comparison_of<comparison::ltu>(type)
        : c == "leu"             ? comparison_of<comparison::leu>(type)
        : c == "gtu"             ? comparison_of<comparison::gtu>(type)
        : c == "geu"             ? comparison_of<comparison::geu>(type)
        : c == "num"             ? comparison_of<comparison::num>(type)
        : c == "nan"             ? comparison_of<comparison::nan>(type)
                                 : nullptr;
  } else if (name == "cvt") {
    const std::string_view d = opcode[opcode.size() - 2];
    if (d == "tf32" && has("rna"))
      a = &one<u32, float, tf32_of>;
    else if (d == "bf16x2" && has("rn"))
      a = &convert_pair<bfloat16_of>;
    else if (d == "f16x2" && has("rn"))
      a = &convert_pair<float16_of>;
    else if (has("sat") && d == "f32" && type == "f32")
      a = conversion<rounding::none, false, true>(d, type);
    else if (has("sat"))
      a = nullptr;
    else if (has("rni"))
      a = conversion<rounding::nearest, true, false>(d, type);
    else if (has("rzi"))
      a = conversion<rounding::zero, true, false>(d, type);
    else if (has("rmi"))
      a = conversion<rounding::down, true, false>(d, type);
    else if (has("rpi"))
      a = conversion<rounding::up, true, false>(d, type);
    else if (!has("rz") && !has("rm") && !has("rp"))
      a = conversion<rounding::none, false, false>(d, type);
  } else if (name == "cvta") {
    a = &copy_64;
    if (has("shared")) a = &to_shared, modifier = has("to") ? 0 : 1;
    if (has("local") || has("param")) a = nullptr;
  } else if (name == "ld") {
    a = by_any(type, [](auto x) -> action { return &load<typename decltype(x)::type>; });
  } else if (name == "st") {
    a = by_any(type, [](auto x) -> action { return &store<typename decltype(x)::type>; });
  } else if (name == "atom" || name == "red") {
    if (has("add"))
      a = by_number(type,
                    [](auto x) -> action { return &atomic<typename decltype(x)::type, add>; });
    if (has("min"))
      a = by_integer(type,
                     [](auto x) -> action { return &atomic<typename decltype(x)::type, smaller>; });
    if (has("max"))
      a = by_integer(type,
                     [](auto x) -> action { return &atomic<typename decltype(x)::type, larger>; });
    if (has("or"))
      a = by_integer(type,
                     [](auto x) -> action { return &atomic<typename decltype(x)::type, either>; });
    if (has("and"))
      a = by_integer(type,
                     [](auto x) -> action { return &atomic<typename decltype(x)::type, both>; });
    if (has("exch"))
      a = by_integer(
          type, [](auto x) -> action { return &atomic<typename decltype(x)::type, exchange>; });
  } else if (name == "shfl" && has("sync")) {
    a = has("bfly")   ? action(&shuffle<shuffle_kind::butterfly>)
        : has("idx")  ? action(&shuffle<shuffle_kind::index>)
        : has("up")   ? action(&shuffle<shuffle_kind::up>)
        : has("down") ? action(&shuffle<shuffle_kind::down>)
                      : nullptr;
    ends = true;
  } else if (name == "vote" && has("sync") && has("ballot")) {
    a = &ballot;
    ends = true;
  } else if (name == "bar" && has("warp")) {
    a = &warp_barrier;
    ends = true;
  } else if (name == "bar" && (has("sync") || (has("red") && has("or")))) {
    a = &block_barrier;
    ends = true;
  } else if (name == "mma" && has("sync") && type == "f32") {
    if (has("m16n8k8") && has("tf32")) a = &multiply<8>;
    if (has("m16n8k16") && has("bf16")) a = &multiply<16>, modifier = 1;
    if (has("m16n8k16") && has("f16")) a = &multiply<16>, modifier = 2;
    ends = true;
  } else if (name == "bra") {
    a = &branch;
    ends = true;
  } else if (name == "ret" || name == "exit") {
    a = &leave;
    ends = true;
  } else if (name == "cudaGraphSetConditional") {
    a = &condition;
  } else if (name == "membar" || name == "fence") {
    a = &nothing;
  }
  if (a == nullptr) {
    std::string whole;
    for (const std::string_view part : opcode)
      whole += (whole.empty() ? "" : ".") + std::string(part);
    throw std::runtime_error("ptx: the instruction " + whole + " is not known");
  }
  return {a, ends, modifier};
}

}  // namespace test::emulated
