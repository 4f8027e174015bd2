// SPDX-License-Identifier: Apache-2.0
// lamina/core/arrays/owned_array.hpp - an array that belongs to one object. It replaces
// std::unique_ptr<T[]>, which instantiates some twenty functions of a tuple and a deleter per T.
// These functions cost g++ about 25 ms; a trainer has seven such arrays.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

namespace lamina { inline namespace LAMINA_ABI {

/// Owns an array of `count` value-initialised elements, or no array. A moved-from object owns no
/// array.
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

  /// As with a pointer, the elements of a const owned_array can be changed unless T is const.
  T& operator[](std::size_t i) const { return first_[i]; }
  T& operator[](int i) const { return first_[i]; }
  T* get() const { return first_; }
  explicit operator bool() const { return first_ != nullptr; }

 private:
  T* first_ = nullptr;
};

}}  // namespace lamina
