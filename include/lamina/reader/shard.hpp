// SPDX-License-Identifier: Apache-2.0
// lamina/reader/shard.hpp - divides a reader into shards for several processes.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/reader/adaptor.hpp>
#include <lamina/reader/cursor.hpp>
#include <lamina/reader/element_count.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

/// The type of reader that shard() makes.
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

/// Yields shard number `index` of `count` shards of a reader. The reader is divided into blocks of
/// `block` consecutive elements, and shard `index` has every count-th block, starting with block
/// `index`. So the shards are disjoint, and together they are the whole reader. All processes must
/// read the same source in the same order: a shuffle before the shard must have the same seed in
/// each process, or some elements are read twice and others never. Put costly adaptors, such as
/// map, after the shard, because they then process only the shard. Throws lamina::error for a count
/// below 1, an index outside of 0 to count - 1, or a block below 1. With `block` 1 this equals
/// shard of tf.data.
inline auto shard(element_count count, element_count index, element_count block = 1) {
  const std::uint64_t n = count.at_least(1, "shard"), i = index.at_least(0, "shard"),
                      b = block.at_least(1, "shard");
  if (i >= n)
    LAMINA_THROW error(text() << "lamina: reader::shard: expected an index from 0 to " << n - 1
                              << ", found " << i);
  auto make = [n, i, b]<class R>(std::shared_ptr<R> reader) {
    return shard_reader<R>(std::move(reader), i, n, b);
  };
  return adaptor<decltype(make)>(std::move(make));
}

/// Yields the shard of this process among the training processes, for training with `.world =
/// &world, .reads_shard = true`. A parameter server, which reads nothing, may call it too. The n-th
/// mini-batches of `reader | shard(world, B) | batch(B)` in R processes together have the samples
/// of the n-th mini-batch of `reader | batch(R * B)` in one process.
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

}}}  // namespace lamina::reader
