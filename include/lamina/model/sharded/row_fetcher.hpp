// SPDX-License-Identifier: Apache-2.0
// lamina/model/sharded/row_fetcher.hpp - fetches the rows of sharded tables for a mini-batch.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

#include <lamina/model/feeding/batch_view.hpp>
#include <lamina/model/refused/refused_model.hpp>
#include <lamina/model/sharded/distributed_tables.hpp>
#include <lamina/model/sharded/sharded_embedding.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// For a program without look-ups with is_distributed, there are no rows to fetch.
template <program_type P, bool = has_distributed_tables<P>>
struct row_fetcher {
  constexpr row_fetcher() = default;
  explicit constexpr row_fetcher(const model<P>&) {}
  void clear() {}
  void feed(int, const void*, std::size_t) {}
  void feed(const batch_view<P>&) {}
  void feed(const batch_view<P>&, int) {}
  void fetch(sharded_embedding::purpose) {}
};

/// Collects the ids that are fed and fetches the rows of sharded tables that they select. All
/// processes must call fetch() the same number of times and in the same order, because it
/// communicates; the ids may differ.
template <program_type P>
class row_fetcher<P, true> {
 public:
  row_fetcher() = default;
  explicit row_fetcher(const model<P>& m) : from_(m.embedding()) {}
  /// Discards all ids.
  void clear() { count_ = 0; }
  /// Stores the address of `count` values for data layer `layer`, if a look-up reads its ids from
  /// this layer.
  void feed(int layer, const void* values, std::size_t count) {
    for (int l = 0; l < all.lookups; ++l)
      if (all.of[l].layer == layer)
        ids_[count_++] = {all.of[l].table, static_cast<const std::int64_t*>(values), count,
                          all.of[l].padding};
  }
  /// Does the same for all data layers of a mini-batch, or for one of them.
  void feed(const batch_view<P>& batch) {
    for (int i = 0; i < counts_of<P>.data; ++i) feed(batch, i);
  }
  void feed(const batch_view<P>& batch, int layer) {
    const data_layer& d = data_layers_of<P>.of[layer];
    feed(
        layer, batch.data[layer],
        static_cast<std::size_t>(batch.rows.count[d.domain]) * static_cast<std::size_t>(d.columns));
  }
  /// If the tables of the model are divided over processes, fetches the rows and discards the ids.
  LAMINA_COLD void fetch(sharded_embedding::purpose why) {
    // The count is reset before, because fetch() may throw and the next mini-batch must start
    // without ids.
    const auto count = static_cast<std::size_t>(std::exchange(count_, 0));
    if (from_ != nullptr) from_->fetch(ids_, count, why);
  }

 private:
  static constexpr const auto& all = distributed_tables<P>::all;
  sharded_embedding* from_ = nullptr;
  int count_ = 0;
  looked_up_ids ids_[bound(all.lookups)] = {};
};

}}}  // namespace lamina::detail
