// SPDX-License-Identifier: Apache-2.0
// lamina/v2/reader.hpp - the decorators of readers as functions of a reader.
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

namespace lamina::inline LAMINA_ABI::v2 {

namespace reader {

using lamina::reader::chain;
using lamina::reader::compose;
using ComposeNotAligned = lamina::reader::compose_not_aligned;

/// f of each element. With several readers, f takes an element of each, until the shortest one
/// ends. v2: reader.map_readers.
template <class F, class... R>
auto map_readers(F f, R&&... readers) {
  return lamina::reader::map(std::move(f), std::forward<R>(readers)...);
}
/// The same elements in random order, a buffer at a time; another order in each pass, by the seed
/// of init(). v2: reader.shuffle.
template <class R>
auto shuffle(R&& reader, lamina::reader::element_count buf_size) {
  return std::forward<R>(reader) | lamina::reader::shuffle(buf_size, current().seed);
}
/// The same elements, read ahead by a thread. v2: reader.buffered.
template <class R>
auto buffered(R&& reader, lamina::reader::element_count size) {
  return std::forward<R>(reader) | lamina::reader::buffered(size);
}
/// The first n elements. v2: reader.firstn.
template <class R>
auto firstn(R&& reader, lamina::reader::element_count n) {
  return std::forward<R>(reader) | lamina::reader::first_n(n);
}
/// f of each element, by several threads; in the order of the reader only if `order` says so. v2:
/// reader.xmap_readers.
template <class F, class R>
auto xmap_readers(F mapper, R&& reader, lamina::reader::element_count process_num,
                  lamina::reader::element_count buffer_size, bool order = false) {
  return std::forward<R>(reader) |
         lamina::reader::xmap(std::move(mapper), process_num, buffer_size, order);
}
/// The same elements, read once and kept in memory. v2: reader.cache.
template <class R>
auto cache(R&& reader) {
  return std::forward<R>(reader) | lamina::reader::cache();
}

}  // namespace reader

/// Mini-batches of a reader's samples; the last one may be smaller. v2: paddle.batch.
template <class R>
auto batch(R&& reader, lamina::reader::element_count batch_size, bool drop_last = false) {
  return std::forward<R>(reader) | lamina::reader::batch(batch_size, drop_last);
}

}  // namespace lamina::inline LAMINA_ABI::v2
