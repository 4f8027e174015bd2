// SPDX-License-Identifier: Apache-2.0
// lamina/train/passes/minibatch_walk.hpp - the mini-batches of a pass, one after the other.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <iterator>
#include <utility>

#include <lamina/model/feeding/feeder.hpp>
#include <lamina/model/feeding/minibatch_position.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Fills a feeder with the mini-batches of a pass and skips those without samples. Errors about a
/// field name the mini-batch and the sample.
template <program_type P, class Pass>
class minibatch_walk {
 public:
  minibatch_walk(Pass& pass, feeder<P>& to, std::int64_t number)
      : at_(pass.begin()), end_(pass.end()), to_(to), position_{.pass = number} {}

  /// Advances to the next mini-batch; returns whether there is one.
  bool next() {
    if (std::exchange(begun_, true)) {
      ++at_;
      ++position_.batch;
      position_.first_sample += rows_;
    }
    for (; at_ != end_; ++at_) {
      LAMINA_TRY { to_.fill(*at_); }
      LAMINA_CATCH(const row_error& e) { position_.fail(e, e.row()); }
      rows_ = to_.rows();
      if (rows_ > 0) return true;
    }
    begun_ = false;  // a reader that has ended is not read again
    return false;
  }

 private:
  decltype(std::declval<Pass&>().begin()) at_;
  decltype(std::declval<Pass&>().end()) end_;
  feeder<P>& to_;
  minibatch_position position_;
  int rows_ = 0;  // rows of the mini-batch, because the caller may take the feeder's contents
  bool begun_ = false;
};

}}}  // namespace lamina::detail
