// SPDX-License-Identifier: Apache-2.0
// lamina/reader/shard.hpp - the share of a reader that one of several processes reads.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/reader/adaptor.hpp>
#include <lamina/reader/cursor.hpp>
#include <lamina/reader/element_count.hpp>

namespace lamina::inline LAMINA_ABI::reader {

/// The reader that shard() makes.
template <class R>
class shard_reader {
 public:
  using value_type = reader_element_t<R>;

  shard_reader(std::shared_ptr<R> reader, std::uint64_t index, std::uint64_t count,
               std::uint64_t block)
      : reader_(std::move(reader)), index_(index), count_(count), block_(block) {}

  generator<value_type> operator()(std::uint64_t pass = 0) const {
    return run(reader_, index_, count_, block_, pass);
  }

 private:
  static generator<value_type> run(std::shared_ptr<R> reader, std::uint64_t index,
                                   std::uint64_t count, std::uint64_t block, std::uint64_t pass) {
    cursor<R> elements(reader, pass);
    for (std::uint64_t position = 0; elements.next(); ++position)
      if (position / block % count == index) co_yield hand_over(elements.take());
  }

  std::shared_ptr<R> reader_;
  std::uint64_t index_, count_, block_;
};

/// Share number `index` of `count` shares of a reader: of every `count` blocks of `block`
/// consecutive elements, the block number `index`. The shares have no element in common, and all
/// of them together are the whole reader. All processes must read the same source, so a shuffle
/// before it has the same seed in each. Put costly adaptors, such as map, behind it: they then see
/// the share only. Errors: a count below 1, an index outside of 0 to count - 1, a block below 1.
/// With `block` 1 this is shard of tf.data.
inline auto shard(element_count count, element_count index, element_count block = 1) {
  const std::uint64_t n = count.at_least(1, "shard"), i = index.at_least(0, "shard"),
                      b = block.at_least(1, "shard");
  if (i >= n)
    throw error(text() << "lamina: reader::shard: expected an index from 0 to " << n - 1
                       << ", found " << i);
  auto make = [n, i, b]<class R>(std::shared_ptr<R> reader) {
    return shard_reader<R>(std::move(reader), i, n, b);
  };
  return adaptor<decltype(make)>(std::move(make));
}

/// The share of this process among those that train, for training with `.world = &world,
/// .reads_shard = true`. A parameter server, which reads nothing, may call it too. With B as
/// `block`, `reader | shard(world, B) | batch(B)` of R processes has the samples of
/// `reader | batch(R * B)` in one process, mini-batch by mini-batch.
template <class World>
requires requires(const World& w) {
  { w.rank() } -> std::same_as<int>;
  { w.size() } -> std::same_as<int>;
}
auto shard(const World& world, element_count block = 1) {
  if constexpr (requires { world.trainers(); })
    return shard(world.trainers(), world.rank() < world.trainers() ? world.rank() : 0, block);
  else
    return shard(world.size(), world.rank(), block);
}

}  // namespace lamina::inline LAMINA_ABI::reader
