// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/embedding/rows_owner.hpp - sums sparse gradients in the processes that own the
// rows.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include <lamina/distributed/embedding/sharded_table.hpp>
#include <lamina/distributed/process_group.hpp>
#include <lamina/engine/cpu/memory/selected_rows.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Sends the rows of all parts of a mini-batch to their owners, which sum them in the order of the
/// parts, with their weights. The result has the same bits as rows_exchange. A row is sent only to
/// its owner, once for each part that has used it.
template <class T>
class rows_owner {
 public:
  using rows_type = engine::cpu::basic_selected_rows<T>;

  explicit rows_owner(process_group& w) : world_(w) {}

  /// `mine` has the rows of this rank's parts for one table; `weight` has the weight of each part
  /// of all ranks. Replaces the rows of mine[0] by the sums of the rows that this rank owns.
  LAMINA_COLD void reduce(const std::vector<rows_type*>& mine, const sharded_table& table,
                          const std::vector<T>& weight) {
    const std::size_t local = mine.size(), ranks = static_cast<std::size_t>(world_.size());
    const std::size_t me = static_cast<std::size_t>(world_.rank());
    const std::size_t wide = static_cast<std::size_t>(table.table().columns);
    const std::size_t row_bytes = sizeof(int) + wide * sizeof(T);
    // The number of rows, by rank, part of that rank, and owner.
    std::vector<int> count(local * ranks), counts(ranks * local * ranks);
    for (std::size_t t = 0; t < local; ++t)
      for (int i = 0; i < mine[t]->size(); ++i)
        ++count[t * ranks + static_cast<std::size_t>(table.owner(mine[t]->number(i)))];
    world_.gather(count.data(), count.size() * sizeof(int), counts.data());

    const auto rows_from = [&](std::size_t from, std::size_t owner) {
      std::size_t rows = 0;
      for (std::size_t t = 0; t < local; ++t)
        rows += static_cast<std::size_t>(counts[(from * local + t) * ranks + owner]);
      return rows;
    };
    std::vector<std::vector<std::byte>> to(ranks), from(ranks);
    std::vector<process_group::message> sends, receives;
    std::vector<std::byte*> at(ranks);
    std::size_t all = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
      to[r].resize(rows_from(me, r) * row_bytes);
      at[r] = to[r].data();
      const std::size_t arriving = rows_from(r, me);
      all += arriving;
      if (r == me) continue;
      from[r].resize(arriving * row_bytes);
      if (!to[r].empty()) sends.push_back({static_cast<int>(r), to[r].data(), to[r].size()});
      if (arriving > 0) receives.push_back({static_cast<int>(r), from[r].data(), from[r].size()});
    }
    for (std::size_t t = 0; t < local; ++t)
      for (int i = 0; i < mine[t]->size(); ++i) {
        const int number = mine[t]->number(i);
        std::byte*& next = at[static_cast<std::size_t>(table.owner(number))];
        std::memcpy(next, &number, sizeof number);
        std::memcpy(next + sizeof number, mine[t]->row(i), wide * sizeof(T));
        next += row_bytes;
      }
    world_.exchange(sends, receives);
    std::swap(from[me], to[me]);

    rows_type sum;
    sum.begin(table.table().columns);
    sum.reserve(all, table.table().columns);
    std::vector<T> values(wide);
    for (std::size_t r = 0; r < ranks; ++r) {
      const std::byte* next = from[r].data();
      for (std::size_t t = 0; t < local; ++t) {
        const std::size_t part = r * local + t;
        const int n = counts[part * ranks + me];
        for (int i = 0; i < n; ++i, next += row_bytes) {
          if (part > 0 && weight[part] == 0) continue;
          int number = 0;
          std::memcpy(&number, next, sizeof number);
          std::memcpy(values.data(), next + sizeof number, wide * sizeof(T));
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
