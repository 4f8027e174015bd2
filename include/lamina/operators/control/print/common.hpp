// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/print/common.hpp - the output of the print operator, in the format of
// Fluid up to 1.7.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>

#include <lamina/core/messages/text.hpp>
#include <lamina/engine/common/array_layout.hpp>
#include <lamina/operators/control/print/definition.hpp>
#include <lamina/program/names.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

namespace detail {

/// Returns how often an operator has printed before, and counts this call. The table of counts has
/// a fixed size, because kernels must not allocate memory; if a program has more print operators
/// than the table has entries, some of them share a count.
inline int times_printed(const operator_desc* op) {
  struct entry {
    std::atomic<const operator_desc*> op{nullptr};
    std::atomic<int> count{0};
  };
  static std::array<entry, 256> table;
  std::size_t at = reinterpret_cast<std::uintptr_t>(op) / alignof(operator_desc) % table.size();
  for (std::size_t tried = 0; tried < table.size(); ++tried, at = (at + 1) % table.size()) {
    const operator_desc* known = nullptr;
    if (table[at].op.compare_exchange_strong(known, op) || known == op) break;
  }
  return table[at].count.fetch_add(1);
}

inline void print_name(const operator_call& c, int variable) {
  char name[256];
  const int n = name_length(c.program(), variable);
  if (n >= static_cast<int>(sizeof name)) {
    std::fprintf(stderr, "Tensor[variable %d]", variable);
    return;
  }
  name_writer w{name};
  write_name(c.program(), variable, w);
  std::fprintf(stderr, "Tensor[%.*s]", n, name);
}

/// Prints the offsets of the sequences of each level, outermost level first. Prints nothing if the
/// rows of `domain` do not form sequences.
template <class Sequences>
void print_lod(const operator_call& c, int domain, const Sequences& sequences_of) {
  int levels = 0;
  for (int d = domain; c.kind_of(d) == domain_kind::sequence; d = c.parent_of(d)) ++levels;
  if (levels == 0) return;
  std::fputs("\tLoD: [", stderr);
  for (; levels > 0; --levels) {
    int level = domain;
    for (int inner = 1; inner < levels; ++inner) level = c.parent_of(level);
    const auto rows = sequences_of(level);
    std::fputs("[ ", stderr);
    for (int i = 0; i <= rows.count; ++i)
      std::fprintf(stderr, "%d,", rows.offsets[i] - rows.offsets[0]);
    std::fputs(" ]", stderr);
  }
  std::fputs("]\n", stderr);
}

}  // namespace detail

/// Two functions by which an engine reads element `at` of an array as a number.
struct element_reader {
  double (*number)(const void* data, dtype type, std::ptrdiff_t at);
  std::int64_t (*integer)(const void* data, dtype type, std::ptrdiff_t at);
};

/// Returns whether this call of a print operator prints, according to its print_phase and first_n;
/// counts the call.
inline bool prints_now(const operator_call& c) {
  const std::string_view phase = text_of(c, 7);
  const bool asked =
      phase.empty() || phase == "BOTH" || phase == (c.flag(8) ? "FORWARD" : "BACKWARD");
  const int first_n = c.integer(0);
  return asked && (first_n < 0 || detail::times_printed(c.op()) < first_n);
}

/// Writes an array in host memory to stderr. sequences_of(domain) must return the offsets and the
/// number of the sequences.
template <class Sequences>
void print_operand(const operator_call& c, const operand& in, const element_reader& read,
                   const Sequences& sequences_of) {
  const std::string_view message = text_of(c, 1);
  std::fprintf(stderr, "%lld\t%.*s\t", static_cast<long long>(std::time(nullptr)),
               static_cast<int>(message.size()), message.data());
  if (c.flag(3)) detail::print_name(c, c.program().arguments[c.op()->inputs]);
  std::fputc('\n', stderr);
  if (c.flag(5)) {
    std::fputs("\tshape: [", stderr);
    const array_layout shape = layout_of(in);
    for (int d = 0; d < shape.rank; ++d)
      std::fprintf(stderr, "%lld,", static_cast<long long>(shape.extent[d]));
    std::fputs("]\n", stderr);
  }
  if (c.flag(4)) std::fprintf(stderr, "\tdtype: %c\n", type_letter(in.type));
  if (c.flag(6)) detail::print_lod(c, in.domain, sequences_of);
  std::fputs("\tdata: ", stderr);
  const int limit = c.integer(2);
  int printed = 0;
  for (int r = 0; r < in.rows; ++r)
    for (int j = 0; j < in.columns && (limit < 0 || printed < limit); ++j, ++printed) {
      const std::ptrdiff_t at = r * in.stride + j;
      if (is_floating(in.type))
        std::fputs(std::string(text().print("%g,", read.number(in.data, in.type, at))).c_str(),
                   stderr);
      else
        std::fprintf(stderr, "%lld,", static_cast<long long>(read.integer(in.data, in.type, at)));
    }
  std::fputc('\n', stderr);
}

}}}  // namespace lamina::engine
