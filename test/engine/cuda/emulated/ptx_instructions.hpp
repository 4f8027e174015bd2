// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/emulated/ptx_instructions.hpp - which instruction an opcode is (PTX ISA 9.0,
// chapter 9).
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/cuda/emulated/ptx_memory.hpp"
#include "engine/cuda/emulated/ptx_numbers.hpp"
#include "engine/cuda/emulated/ptx_warp.hpp"

namespace test::emulated {

namespace detail {

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
  } else if (name == "bfe" && type == "u32") {
    a = &three<u32, u32, u32, u32, extracted_bits>;
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
  } else if (name == "ex2" && type == "f32") {  // keeps subnormal numbers
    a = &one<float, float, [](float x) { return std::exp2(x); }>;
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
    if (has("sat") && d == "f32" && type == "f32")
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
  } else if (name == "vote" && has("sync") && type == "pred" && (has("all") || has("any"))) {
    a = has("all") ? &vote<true> : &vote<false>;
    ends = true;
  } else if (name == "bar" && has("warp")) {
    a = &warp_barrier;
    ends = true;
  } else if (name == "bar" && (has("sync") || (has("red") && (has("or") || has("and"))))) {
    a = &block_barrier;
    modifier = has("and") ? 1 : 0;
    ends = true;
  } else if (name == "bra") {
    a = &branch;
    ends = true;
  } else if (name == "ret" || name == "exit") {
    a = &leave;
    ends = true;
  } else if (name == "membar" || name == "fence" || name == "nanosleep" || name == "prefetch") {
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
