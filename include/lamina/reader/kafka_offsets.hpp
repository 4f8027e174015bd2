// SPDX-License-Identifier: Apache-2.0
// lamina/reader/kafka_offsets.hpp - how far a training has read the partitions of a Kafka topic.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

/// Stores the next offset of each partition, and the partition whose turn it is.
/// `trainer::keep(offsets)` saves them in the trainer's file, so that parameters, optimizer state
/// and offsets are written together or not at all. For a partition without an offset, reading
/// begins at its first message.
class kafka_offsets {
 public:
  static constexpr int most_partitions = 1024;

  /// Returns the offset of the next message; -1 before the first one.
  std::int64_t next(int partition) const {
    const auto p = static_cast<std::size_t>(partition);
    return partition < 0 || p >= next_.size() ? -1 : next_[p];
  }
  /// Returns the partition whose turn it is: one more than the last message's partition; take it
  /// modulo the number of partitions.
  int turn() const { return turn_; }

  /// Counts a message as trained. Messages of a partition must come in the order of their offsets;
  /// throws lamina::error for one that was counted before.
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
  /// all topics, so that a file still fits after a topic has got more partitions. A double
  /// represents each offset below 2^53 exactly.
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
