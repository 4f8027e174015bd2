// SPDX-License-Identifier: Apache-2.0
// lamina/reader/shard.hpp - divides a reader into shares for several processes.
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

/// Yields share number `index` of `count` shares of a reader. Blocks of `block` consecutive
/// elements are dealt to the shares in turn, so this share gets every count-th block, starting with
/// block `index`. The shares are disjoint, and together they are the whole reader. All processes
/// must read the same source, so a shuffle before it must have the same seed in each. Put costly
/// adaptors, such as map, after it: they then process only the share. Errors: a count below 1, an
/// index outside of 0 to count - 1, a block below 1. With `block` 1 this equals shard of tf.data.
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

/// Yields the share of this process among the training processes, for training with `.world =
/// &world, .reads_shard = true`. A parameter server, which reads nothing, may call it too. With B
/// as `block`, `reader | shard(world, B) | batch(B)` of R processes has the same samples as `reader
/// | batch(R * B)` in one process, mini-batch by mini-batch.
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
