// SPDX-License-Identifier: Apache-2.0
// lamina/v2/reader.hpp - reader decorators as functions that take a reader.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <utility>

#include <lamina/reader/batch.hpp>
#include <lamina/reader/buffered.hpp>
#include <lamina/reader/cache.hpp>
#include <lamina/reader/chain.hpp>
#include <lamina/reader/compose.hpp>
#include <lamina/reader/first_n.hpp>
#include <lamina/reader/map.hpp>
#include <lamina/reader/shuffle.hpp>
#include <lamina/reader/xmap.hpp>
#include <lamina/v2/init.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2 {

namespace reader {

using lamina::reader::chain;
using lamina::reader::compose;
using ComposeNotAligned = lamina::reader::compose_not_aligned;

/// Yields f(element) for each element. With several readers, f receives one element of each reader;
/// the result ends when a reader ends. v2: reader.map_readers.
template <class F, class... R>
auto map_readers(F f, R&&... readers) {
  return lamina::reader::map(std::move(f), std::forward<R>(readers)...);
}
/// Yields the elements in random order: shuffles `buf_size` elements at a time. The order differs
/// between passes and depends on the seed of init(). v2: reader.shuffle.
template <class R>
auto shuffle(R&& reader, lamina::reader::element_count buf_size) {
  return std::forward<R>(reader) | lamina::reader::shuffle(buf_size, current().seed);
}
/// Yields the same elements; a thread reads up to `size` elements ahead. v2: reader.buffered.
template <class R>
auto buffered(R&& reader, lamina::reader::element_count size) {
  return std::forward<R>(reader) | lamina::reader::buffered(size);
}
/// Yields the first n elements. v2: reader.firstn.
template <class R>
auto firstn(R&& reader, lamina::reader::element_count n) {
  return std::forward<R>(reader) | lamina::reader::first_n(n);
}
/// Yields f(element) for each element, computed by several threads. The results have the order of
/// the reader only if `order` is true. v2: reader.xmap_readers.
template <class F, class R>
auto xmap_readers(F mapper, R&& reader, lamina::reader::element_count process_num,
                  lamina::reader::element_count buffer_size, bool order = false) {
  return std::forward<R>(reader) |
         lamina::reader::xmap(std::move(mapper), process_num, buffer_size, order);
}
/// Yields the same elements. They are read once and kept in memory for later passes. v2:
/// reader.cache.
template <class R>
auto cache(R&& reader) {
  return std::forward<R>(reader) | lamina::reader::cache();
}

}  // namespace reader

/// Yields mini-batches of the samples of a reader. The last mini-batch may be smaller; with
/// `drop_last`, a smaller one is left out. v2: paddle.batch.
template <class R>
auto batch(R&& reader, lamina::reader::element_count batch_size, bool drop_last = false) {
  return std::forward<R>(reader) | lamina::reader::batch(batch_size, drop_last);
}

}}}  // namespace lamina::v2
