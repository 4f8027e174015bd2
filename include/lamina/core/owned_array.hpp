// SPDX-License-Identifier: Apache-2.0
// lamina/core/owned_array.hpp - an array that belongs to one object.
// Why not std::unique_ptr<T[]>: for each T it is a tuple, its parts and a deleter, twenty functions
// that cost g++ some 25 ms; a trainer has seven such arrays.
#pragma once

#include <cstddef>

namespace lamina {

/// Owns `count` elements, zeros or as their constructor makes them, or none. Moved from, it is
/// empty.
template <class T>
class owned_array {
 public:
  owned_array() = default;
  explicit owned_array(std::size_t count) : first_(count > 0 ? new T[count]() : nullptr) {}
  owned_array(owned_array&& other) noexcept : first_(other.first_) { other.first_ = nullptr; }
  owned_array& operator=(owned_array&& other) noexcept {
    T* const taken = other.first_;
    other.first_ = nullptr;
    delete[] first_;
    first_ = taken;
    return *this;
  }
  ~owned_array() { delete[] first_; }

  /// As that of a pointer: constness is that of T.
  T& operator[](std::size_t i) const { return first_[i]; }
  T* get() const { return first_; }
  explicit operator bool() const { return first_ != nullptr; }

 private:
  T* first_ = nullptr;
};

}  // namespace lamina
