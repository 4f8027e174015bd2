// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/sync/rows_exchange.hpp - sums sparse gradients over processes, in each
// process.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include <lamina/distributed/process_group.hpp>
#include <lamina/engine/cpu/memory/selected_rows.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Gathers the rows of all parts of a mini-batch from all processes and sums them in the order of
/// the parts, with their weights. The result has the same bits as one process with all parts. A
/// process sends only the rows that its parts have used.
template <class T>
class rows_exchange {
 public:
  using rows_type = engine::cpu::basic_selected_rows<T>;

  explicit rows_exchange(process_group& w) : world_(w) {}

  /// `mine` has the rows of this rank's parts, for one parameter with `columns` columns. `weight`
  /// has the weight of each part of all ranks. Replaces the rows of mine[0] by the sum.
  LAMINA_COLD void reduce(const std::vector<rows_type*>& mine, int columns,
                          const std::vector<T>& weight) {
    const std::size_t local = mine.size(), all = weight.size();
    const std::size_t wide = static_cast<std::size_t>(columns);
    std::vector<int> count(local), counts(all);
    for (std::size_t t = 0; t < local; ++t) count[t] = mine[t]->size();
    world_.gather(count.data(), local * sizeof(int), counts.data());
    std::vector<std::vector<std::byte>> bytes(static_cast<std::size_t>(world_.size()));
    std::vector<process_group::message> sends, receives;
    const std::size_t me = static_cast<std::size_t>(world_.rank());
    const std::size_t row_bytes = sizeof(int) + wide * sizeof(T);
    for (std::size_t r = 0; r < bytes.size(); ++r) {
      std::size_t rows = 0;
      for (std::size_t t = 0; t < local; ++t)
        rows += static_cast<std::size_t>(counts[r * local + t]);
      bytes[r].resize(rows * row_bytes);
      if (r != me && rows > 0)
        receives.push_back({static_cast<int>(r), bytes[r].data(), bytes[r].size()});
    }
    std::byte* to = bytes[me].data();
    for (std::size_t t = 0; t < local; ++t)
      for (int i = 0; i < count[t]; ++i, to += row_bytes) {
        const int number = mine[t]->number(i);
        std::memcpy(to, &number, sizeof number);
        std::memcpy(to + sizeof number, mine[t]->row(i), wide * sizeof(T));
      }
    if (!bytes[me].empty())
      for (std::size_t r = 0; r < bytes.size(); ++r)
        if (r != me) sends.push_back({static_cast<int>(r), bytes[me].data(), bytes[me].size()});
    world_.exchange(sends, receives);
    rows_type sum;
    std::size_t rows = 0;
    for (const auto& b : bytes) rows += b.size() / row_bytes;
    sum.begin(columns);
    sum.reserve(rows, columns);
    std::vector<T> values(wide);
    for (std::size_t r = 0; r < bytes.size(); ++r) {
      const std::byte* from = bytes[r].data();
      for (std::size_t t = 0; t < local; ++t) {
        const std::size_t part = r * local + t;
        const int n = counts[part];
        for (int i = 0; i < n; ++i, from += row_bytes) {
          if (part > 0 && weight[part] == 0) continue;
          int number = 0;
          std::memcpy(&number, from, sizeof number);
          std::memcpy(values.data(), from + sizeof number, wide * sizeof(T));
          sum.add(number, values.data(), part == 0 ? T(1) : weight[part]);
        }
        if (part == 0) sum.scale(weight[0]);
      }
    }
    std::swap(*mine[0], sum);
  }

 private:
  process_group& world_;
};

}}}  // namespace lamina::distributed
