// SPDX-License-Identifier: Apache-2.0
// lamina/train/minibatch_walk.hpp - the mini-batches of a pass, one after the other.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <iterator>
#include <utility>

#include <lamina/model/feeder.hpp>

namespace lamina::inline LAMINA_ABI::detail {

/// Fills a feeder with the mini-batches of a pass and skips those without samples.
template <program_type P, class Pass>
class minibatch_walk {
 public:
  minibatch_walk(Pass& pass, feeder<P>& to) : at_(pass.begin()), end_(pass.end()), to_(to) {}

  /// Goes to the next mini-batch; returns whether there is one.
  bool next() {
    if (std::exchange(begun_, true)) ++at_;
    for (; at_ != end_; ++at_) {
      to_.fill(*at_);
      if (to_.rows() > 0) return true;
    }
    begun_ = false;  // the end is final
    return false;
  }

 private:
  decltype(std::declval<Pass&>().begin()) at_;
  decltype(std::declval<Pass&>().end()) end_;
  feeder<P>& to_;
  bool begun_ = false;
};

}  // namespace lamina::inline LAMINA_ABI::detail
