// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/schedule/index_range_check.hpp - checks that the elements of all arrays can be
// indexed by int.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <limits>

#include <lamina/core/messages/error.hpp>
#include <lamina/engine/common/operator_call.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// Kernels of unfused operators index the elements of an array by int, because on a device a 32 bit
/// division costs a fraction of a 64 bit division. Pointwise groups, matrix products and the mean
/// of all elements do not have this limit. If an array has too many rows, an error names the
/// operator.
template <class Schedule, int Domains>
class index_range_check {
 public:
  LAMINA_COLD index_range_check() {
    for_each_argument([this](const operator_schema&, int domain, std::int64_t columns) {
      if (columns > widest_[domain]) widest_[domain] = columns;
    });
  }

  /// Throws lamina::error if an array with `rows` rows of a domain has more elements than an int
  /// can index.
  void require(int domain, int rows) const {
    if (rows * widest_[domain] > most) fail(domain, rows);
  }
  /// Checks all domains that are fed.
  void require(const bool* fed, const int* rows) const {
    for (int d = 0; d < Domains; ++d)
      if (fed[d]) require(d, rows[d]);
  }

 private:
  static constexpr std::int64_t most = (std::numeric_limits<int>::max)();

  /// Calls f(operator, domain, elements per row of the domain).
  template <class F>
  static void for_each_argument(F&& f) {
    const auto& t = Schedule::table;
    for (int g = 0; g < Schedule::groups; ++g) {
      const operator_schema& schema = *t.entries[g].group.schema;
      if (schema.kind != operator_kind::call || schema.facts.rows == row_rule::summed) continue;
      const bool last = g + 1 == Schedule::groups;
      const int end = last ? Schedule::arguments : t.entries[g + 1].first_argument;
      for (int a = t.entries[g].first_argument; a < end; ++a)
        if (const argument_info& i = t.info[a]; i.rows < 0)
          f(schema, domain_of_rows(i.rows), std::int64_t{i.stride} * parts_of_rows(i.rows));
    }
  }
  [[noreturn]] LAMINA_COLD static void fail(int domain, int rows) {
    for_each_argument([&](const operator_schema& schema, int of, std::int64_t columns) {
      if (of == domain && rows * columns > most)
        throw error(text() << "lamina: " << schema.type << ": expected at most " << most / columns
                           << " rows of " << columns << " numbers on a CUDA device, found "
                           << rows);
    });
    __builtin_unreachable();
  }

  std::int64_t widest_[bound(Domains)] = {};
};

}}}  // namespace lamina::engine::cuda
