// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/print_kernels.hpp - the print operator, in the format of Fluid 1.7 and before.
#pragma once

#include <array>
#include <atomic>
#include <cstdio>
#include <ctime>

#include <lamina/engine/cpu/row_math.hpp>
#include <lamina/operators/print.hpp>
#include <lamina/program/names.hpp>

namespace lamina::engine::cpu {

namespace detail {

/// How often an operator has printed before; counts this time. Kernels allocate nothing, so the
/// table has a fixed size; operators beyond it share counts.
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

inline void print_name(const call_context& c, int variable) {
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

/// Where the sequences of each level begin and end, the outermost level first; nothing for rows
/// that are no sequences.
inline void print_lod(const call_context& c, int domain) {
  int levels = 0;
  for (int d = domain; c.kind_of(d) == domain_kind::sequence; d = c.parent_of(d)) ++levels;
  if (levels == 0) return;
  std::fputs("\tLoD: [", stderr);
  for (; levels > 0; --levels) {
    int level = domain;
    for (int inner = 1; inner < levels; ++inner) level = c.parent_of(level);
    const sequence_rows rows = c.sequences(level);
    std::fputs("[ ", stderr);
    for (int i = 0; i <= rows.count; ++i)
      std::fprintf(stderr, "%d,", rows.offsets[i] - rows.offsets[0]);
    std::fputs(" ]", stderr);
  }
  std::fputs("]\n", stderr);
}

inline void print_data(const operand& o, int limit) {
  int printed = 0;
  for (int r = 0; r < o.rows; ++r)
    for (int j = 0; j < o.columns; ++j, ++printed) {
      if (limit >= 0 && printed >= limit) return;
      const std::ptrdiff_t at = r * o.stride + j;
      if (is_floating(o.type))
        std::fprintf(stderr, "%g,", load_as<double>(o.data, o.type, at));
      else
        std::fprintf(stderr, "%lld,", load_as<long long>(o.data, o.type, at));
    }
}

}  // namespace detail

/// Host only: writes to stderr while the program runs.
template <>
struct call_kernel<print> {
  template <class = void>
  static void run(const call_context& c) {
    const operand in = c.input(0), out = c.output(0);
    const std::string_view phase = text_of(c, 7);
    const bool asked =
        phase.empty() || phase == "BOTH" || phase == (c.flag(8) ? "FORWARD" : "BACKWARD");
    const int first_n = c.integer(0);
    if (asked && (first_n < 0 || detail::times_printed(c.op()) < first_n)) {
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
      if (c.flag(6)) detail::print_lod(c, in.domain);
      std::fputs("\tdata: ", stderr);
      detail::print_data(in, c.integer(2));
      std::fputc('\n', stderr);
    }
    if (out) copy_elements(in, out);
  }
};

}  // namespace lamina::engine::cpu
