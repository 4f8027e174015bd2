// SPDX-License-Identifier: Apache-2.0
// lamina/train/minibatch_walk.hpp - the mini-batches of a pass, one after the other.
#pragma once

#include <cstdint>
#include <exception>
#include <iterator>
#include <utility>

#include <lamina/model/feeder.hpp>

namespace lamina::detail {

/// Fills feeders with the mini-batches of a pass; those without samples are skipped. With a second
/// feeder the next one may be read while the first is in use.
template <program_type P, class Pass>
class minibatch_walk {
 public:
  minibatch_walk(Pass& pass, feeder<P>* feeders)
      : at_(pass.begin()), end_(pass.end()), feeders_(feeders) {}

  /// Passes over mini-batches with samples; returns how many, `most` if there are as many.
  std::int64_t skip(std::int64_t most) {
    std::int64_t found = 0;
    for (; found < most && at_ != end_; ++at_) {
      auto&& batch = *at_;
      found += std::ranges::begin(batch) != std::ranges::end(batch) ? 1 : 0;
    }
    return found;
  }
  /// Goes to the next mini-batch; returns whether there is one. What was read ahead arrives here,
  /// an exception of the reader too.
  bool next() {
    if (!std::exchange(ahead_, false)) return found_ = fill(feeders_[now_]);
    if (failed_ != nullptr) std::rethrow_exception(std::exchange(failed_, nullptr));
    if (found_) now_ ^= 1;
    return found_;
  }
  const feeder<P>& now() const { return feeders_[now_]; }
  /// Reads the mini-batch after this one into the other feeder; null if there is none, or if
  /// reading fails, which next() will tell.
  const feeder<P>* look_ahead() {
    ahead_ = true;
    try {
      found_ = fill(feeders_[now_ ^ 1]);
    } catch (...) {
      failed_ = std::current_exception();
      found_ = false;
    }
    return found_ ? &feeders_[now_ ^ 1] : nullptr;
  }

 private:
  bool fill(feeder<P>& to) {
    if (std::exchange(begun_, true)) ++at_;
    for (; at_ != end_; ++at_) {
      to.fill(*at_);
      if (to.rows() > 0) return true;
    }
    begun_ = false;  // the end stays the end
    return false;
  }

  decltype(std::declval<Pass&>().begin()) at_;
  decltype(std::declval<Pass&>().end()) end_;
  feeder<P>* feeders_;
  int now_ = 0;
  bool begun_ = false, ahead_ = false, found_ = false;
  std::exception_ptr failed_;
};

}  // namespace lamina::detail
