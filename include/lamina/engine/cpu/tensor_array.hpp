// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/tensor_array.hpp - the values of an array of tensors in one run.
#pragma once

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include <lamina/engine/cpu/aligned_buffer.hpp>

namespace lamina::engine::cpu {

/// Slots that hold any number of rows each, packed into one buffer that only grows: a run that
/// needs no more than one before allocates nothing. Fluid: LoDTensorArray.
class tensor_array {
 public:
  /// The slots, those in between that were never written included.
  int size() const { return used_; }
  /// Whether slot i has a value.
  bool holds(int i) const { return i >= 0 && i < used_ && at(i).rows >= 0; }
  /// The rows of slot i, which has a value.
  int rows(int i) const { return at(i).rows; }
  /// The elements of slot i, row by row as the variable lies that was written.
  float* data(int i) { return values_.data() + at(i).begin; }
  /// Where the sequences of slot i begin, `sequences(i) + 1` numbers from 0 on.
  const int* offsets(int i) const { return offsets_.data() + at(i).offsets; }
  int sequences(int i) const { return at(i).sequences; }

  /// Memory for `rows` rows, `floats` in all, in slot i; moves the data of other slots.
  float* write(int i, int rows, std::size_t floats) {
    if (static_cast<int>(slots_.size()) <= i) slots_.resize(static_cast<std::size_t>(i) + 1);
    for (; used_ <= i; ++used_) at(used_) = {0, 0, -1, 0, 0, 0};
    slot& s = at(i);
    const std::size_t wanted = (floats + 15) / 16 * 16;
    if (s.capacity < wanted) {
      if (end_ + wanted > values_.size()) {
        aligned_buffer larger((end_ + wanted) * 2);
        if (end_ > 0) std::memcpy(larger.data(), values_.data(), end_ * sizeof(float));
        values_ = std::move(larger);
      }
      s.begin = end_;
      s.capacity = wanted;
      end_ += wanted;
    }
    s.rows = rows;
    s.sequences = 0;
    return data(i);
  }
  /// Gives the rows of slot i, which has a value, sequences: memory for `sequences + 1` offsets.
  int* write_offsets(int i, int sequences) {
    slot& s = at(i);
    if (s.offsets_capacity < sequences + 1) {
      s.offsets = static_cast<int>(offsets_.size());
      s.offsets_capacity = sequences + 1;
      offsets_.resize(offsets_.size() + static_cast<std::size_t>(s.offsets_capacity));
    }
    s.sequences = sequences;
    return offsets_.data() + s.offsets;
  }
  /// Exchanges all values.
  void swap(tensor_array& other) noexcept {
    std::swap(values_, other.values_);
    std::swap(used_, other.used_);
    std::swap(end_, other.end_);
    slots_.swap(other.slots_);
    offsets_.swap(other.offsets_);
  }
  /// Slot i has no value any more.
  void erase(int i) {
    if (i < used_) at(i).rows = -1;
  }
  /// No slots; the memory stays.
  void clear() {
    used_ = 0;
    end_ = 0;
    offsets_.clear();
  }

 private:
  struct slot {
    std::size_t begin, capacity;  // floats
    int rows;                     // -1: no value
    int sequences, offsets, offsets_capacity;
  };
  slot& at(int i) { return slots_[static_cast<std::size_t>(i)]; }
  const slot& at(int i) const { return slots_[static_cast<std::size_t>(i)]; }

  std::vector<slot> slots_;
  int used_ = 0;
  std::size_t end_ = 0;
  aligned_buffer values_;
  std::vector<int> offsets_;
};

}  // namespace lamina::engine::cpu
