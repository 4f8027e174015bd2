// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/call_error.hpp - error messages of kernels, with little machine code in each
// kernel.
//
// If each kernel built its own message, each would contain code for string operations and their
// exceptions. Instead, a kernel passes a list of message parts, and one function, which is compiled
// once for size, joins them.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/engine/common/operator_call.hpp>
#include <lamina/program/operator_place.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// A part of a message: a text or a number.
struct message_part {
  enum class sort : std::uint8_t { characters, whole_number, real_number };

  constexpr message_part(std::string_view t)
      : characters(t.data()), whole(static_cast<std::int64_t>(t.size())), is(sort::characters) {}
  constexpr message_part(const char* t) : message_part(std::string_view(t)) {}
  template <std::integral T>
  constexpr message_part(T n)
      : characters(nullptr), whole(static_cast<std::int64_t>(n)), is(sort::whole_number) {}
  constexpr message_part(float x) : message_part(static_cast<double>(x)) {}
  constexpr message_part(double x) : characters(nullptr), real(x), is(sort::real_number) {}

  const char* characters;
  union {
    std::int64_t whole;  // for a text: the number of characters
    double real;
  };
  sort is;
};

/// Returns the text of a message: the name of the layer that recorded the operator (or the
/// operator's type, if no layer did), followed by the parts.
LAMINA_API_COLD std::string call_message(const operator_call& c,
                                         std::initializer_list<message_part> parts);
/// Throws lamina::error with the text that call_message returns.
[[noreturn]] LAMINA_API_COLD void fail(const operator_call& c,
                                       std::initializer_list<message_part> parts);

/// Throws unless the elements of `o` have the type that the kernel computes in, float or double.
template <class Real>
void require_real(const operator_call& c, const operand& o) {
  if (o && o.type != dtype_of<Real>)
    fail(c, {"expected elements of ", name_of(dtype_of<Real>), ", found ", name_of(o.type)});
}
/// Throws unless the elements of `o` are floats, for kernels that compute in float only.
inline void require_float(const operator_call& c, const operand& o) { require_real<float>(c, o); }

/// Throws unless both operands have the same number of elements.
inline void require_size(const operator_call& c, const operand& expected, const operand& found) {
  const std::ptrdiff_t a = static_cast<std::ptrdiff_t>(expected.rows) * expected.columns;
  const std::ptrdiff_t b = static_cast<std::ptrdiff_t>(found.rows) * found.columns;
  if (a != b) fail(c, {"expected ", a, " elements, found ", b});
}

#if LAMINA_DEFINES

std::string call_message(const operator_call& c, std::initializer_list<message_part> parts) {
  text message("lamina: ");
  message << place_of(c.program(), c.op(), c.schema()) << ": ";
  for (const message_part& p : parts) {
    if (p.is == message_part::sort::characters)
      message << std::string_view(p.characters, static_cast<std::size_t>(p.whole));
    else if (p.is == message_part::sort::whole_number)
      message << p.whole;
    else
      message.print("%f", p.real);
  }
  return message;
}

void fail(const operator_call& c, std::initializer_list<message_part> parts) {
  LAMINA_THROW error(call_message(c, parts));
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine
