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

/// A program without look-ups with is_distributed fetches no rows.
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

/// Collects the ids that data layers feed and fetches the rows that they select. All processes must
/// call fetch() equally often and in the same order; the fed ids may differ.
template <program_type P>
class row_fetcher<P, true> {
 public:
  row_fetcher() = default;
  explicit row_fetcher(const model<P>& m) : from_(m.embedding()) {}
  /// Discards all ids.
  void clear() { count_ = 0; }
  /// Records `count` values that data layer `layer` feeds.
  void feed(int layer, const void* values, std::size_t count) {
    for (int l = 0; l < all.lookups; ++l)
      if (all.of[l].layer == layer)
        ids_[count_++] = {all.of[l].table, static_cast<const std::int64_t*>(values), count,
                          all.of[l].padding};
  }
  /// Records all data layers of a mini-batch, or one of them.
  void feed(const batch_view<P>& batch) {
    for (int i = 0; i < counts_of<P>.data; ++i) feed(batch, i);
  }
  void feed(const batch_view<P>& batch, int layer) {
    const data_layer& d = data_layers_of<P>.of[layer];
    feed(
        layer, batch.data[layer],
        static_cast<std::size_t>(batch.rows.count[d.domain]) * static_cast<std::size_t>(d.columns));
  }
  /// Fetches the rows if the tables of the model are divided over processes.
  LAMINA_COLD void fetch(sharded_embedding::purpose why) {
    // Resets the count first: fetch() may throw, and the next mini-batch must start with none.
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
