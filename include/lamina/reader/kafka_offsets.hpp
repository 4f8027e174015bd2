// SPDX-License-Identifier: Apache-2.0
// lamina/reader/kafka_offsets.hpp - the position of a training in the partitions of a Kafka topic.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

/// Stores the next offset of each partition, and the partition whose turn it is.
/// `trainer::keep(offsets)` saves them in the trainer's file, so that parameters, optimizer state
/// and offsets are written together or not at all. For a partition without an offset, reading
/// begins at its first message.
class kafka_offsets {
 public:
  static constexpr int most_partitions = 1024;

  /// Returns the offset of the next message of a partition; -1 if no message of the partition was
  /// counted.
  std::int64_t next(int partition) const {
    const auto p = static_cast<std::size_t>(partition);
    return partition < 0 || p >= next_.size() ? -1 : next_[p];
  }
  /// Returns the number of the last message's partition plus 1. Modulo the number of partitions,
  /// this is the partition whose turn it is.
  int turn() const { return turn_; }

  /// Counts a message as trained. Call it in the order of the offsets of each partition. Throws
  /// lamina::error if the message was counted before, and if the partition is not in [0,
  /// most_partitions).
  void advance(int partition, std::int64_t offset) {
    if (partition < 0 || partition >= most_partitions || offset < next(partition))
      throw error(text("lamina: kafka_offsets: expected partition 0 to ")
                  << most_partitions - 1 << " and an offset of at least " << next(partition)
                  << ", found partition " << partition << " and offset " << offset);
    const auto p = static_cast<std::size_t>(partition);
    if (p >= next_.size()) next_.resize(p + 1, -1);
    next_[p] = offset + 1;
    turn_ = partition + 1;
  }

  bool operator==(const kafka_offsets& other) const {
    for (int p = 0; p < most_partitions; ++p)
      if (next(p) != other.next(p)) return false;
    return turn_ == other.turn_;
  }

  /// Calls f for each number of the state, for trainer::keep. The count of numbers is the same for
  /// all topics, so that a file can still be loaded after partitions were added to the topic. A
  /// double represents each offset below 2^53 exactly.
  template <class F>
  void each_number(F f) {
    next_.resize(most_partitions, -1);
    double turn = turn_;
    f(turn);
    turn_ = static_cast<int>(turn);
    for (std::int64_t& n : next_) {
      double number = static_cast<double>(n);
      f(number);
      n = static_cast<std::int64_t>(number);
    }
  }

 private:
  std::vector<std::int64_t> next_;
  int turn_ = 0;
};

}}}  // namespace lamina::reader
