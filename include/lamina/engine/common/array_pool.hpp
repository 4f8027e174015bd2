// SPDX-License-Identifier: Apache-2.0
// lamina/engine/common/array_pool.hpp - a pool of tensor arrays. The frame of a loop iteration
// takes from it the arrays that the gradient of the iteration reads.
#pragma once

#include <lamina/core/config.hpp>

#include <memory>
#include <vector>

#include <lamina/engine/common/tensor_array.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// Lends tensor arrays to callers. An array that a caller gives back keeps its memory, so that the
/// next caller allocates none.
template <class Chunks>
class array_pool {
 public:
  using array_type = tensor_array<Chunks>;

  array_pool() = default;
  explicit array_pool(Chunks from) : from_(from) {}

  array_type* take() {
    if (unused_.empty()) {
      all_.insert(all_.begin(), std::make_unique<array_type>(from_));
      unused_.reserve(all_.size());
      return all_.front().get();
    }
    array_type* const taken = unused_.back();
    unused_.pop_back();
    return taken;
  }
  void give_back(array_type* a) { unused_.push_back(a); }
  void give_back_all() {
    unused_.clear();
    for (const auto& a : all_) unused_.push_back(a.get());
  }

 private:
  [[no_unique_address]] Chunks from_{};
  std::vector<std::unique_ptr<array_type>> all_;
  std::vector<array_type*> unused_;
};

}}}  // namespace lamina::engine
