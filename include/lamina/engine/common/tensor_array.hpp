// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/tensor_array.hpp - an array of tensors, and the memory of its values during
// one run.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <utility>
#include <vector>

#include <lamina/engine/common/frame_stack.hpp>
#include <lamina/plan/array_views.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// An array of slots; each slot holds one tensor with any number of rows. The array keeps its
/// memory: a run that needs no more than an earlier run allocates nothing. Written values do not
/// move. `Chunks` allocates memory as in frame_stack. Fluid: LoDTensorArray.
template <class Chunks>
class tensor_array {
 public:
  tensor_array() = default;
  explicit tensor_array(Chunks from) : memory_(from) {}

  /// Sets which memory a slot uses when it is written again: the same memory, a second memory in
  /// turn, or new memory.
  void use_memory(slot_memory how) { how_ = how; }
  /// The number of slots up to the last written slot, including unwritten slots before it.
  int size() const { return used_; }
  /// Whether slot i has a value.
  bool holds(int i) const { return i >= 0 && i < used_ && at(i).rows >= 0; }
  /// The number of rows of slot i, which must have a value.
  int rows(int i) const { return at(i).rows; }
  /// The elements of slot i, in the layout of the variable that was written.
  float* data(int i) { return at(i).data; }
  /// The offsets of the sequences of slot i: `sequences(i) + 1` numbers, the first of which is 0.
  const int* offsets(int i) const { return offsets_.data() + at(i).offsets; }
  int sequences(int i) const { return at(i).sequences; }

  /// Prepares slot i for a value of `rows` rows, and returns memory of `floats` floats for it.
  float* write(int i, int rows, std::size_t floats) {
    slot& s = take(i, rows);
    if (how_ == slot_memory::alternate)
      std::swap(s.data, s.other), std::swap(s.capacity, s.other_capacity);
    const std::size_t wanted = (floats + 15) / 16 * 16;
    if (s.capacity < wanted || how_ == slot_memory::fresh || s.data == nullptr) {
      s.data = memory_.push(wanted);
      s.capacity = wanted;
    }
    return s.data;
  }
  /// Makes slot i refer to `rows` rows at `data`, without a copy. The caller must keep this memory
  /// valid as long as the slot is read.
  void refer(int i, int rows, float* data) {
    slot& s = take(i, rows);
    s.data = data;
    s.capacity = 0;
  }
  /// Allocates memory that does not belong to a slot.
  float* allocate(std::size_t floats) { return memory_.push(floats); }
  /// Sets the number of sequences of slot i, which must have a value. Returns memory for their
  /// `sequences + 1` offsets.
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
  /// Exchanges all values with another array.
  void swap(tensor_array& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(used_, other.used_);
    slots_.swap(other.slots_);
    offsets_.swap(other.offsets_);
  }
  /// Removes the value of slot i.
  void erase(int i) {
    if (i < used_) at(i).rows = -1;
  }
  /// Removes all slots, but keeps the memory.
  void clear() {
    used_ = 0;
    memory_.reset({0, 0});
    offsets_.clear();
  }

 private:
  struct slot {
    float *data, *other;
    std::size_t capacity, other_capacity;  // floats
    int rows;                              // -1: no value
    int sequences, offsets, offsets_capacity;
  };
  slot& take(int i, int rows) {
    if (static_cast<int>(slots_.size()) <= i) slots_.resize(static_cast<std::size_t>(i) + 1);
    for (; used_ <= i; ++used_) at(used_) = {nullptr, nullptr, 0, 0, -1, 0, 0, 0};
    slot& s = at(i);
    s.rows = rows;
    s.sequences = 0;
    return s;
  }
  slot& at(int i) { return slots_[static_cast<std::size_t>(i)]; }
  const slot& at(int i) const { return slots_[static_cast<std::size_t>(i)]; }

  std::vector<slot> slots_;
  int used_ = 0;
  slot_memory how_ = slot_memory::in_place;
  frame_stack<Chunks> memory_;
  std::vector<int> offsets_;
};

}}}  // namespace lamina::engine
