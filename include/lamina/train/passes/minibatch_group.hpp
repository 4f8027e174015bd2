// SPDX-License-Identifier: Apache-2.0
// lamina/train/passes/minibatch_group.hpp - the mini-batches of one update, read before the first
// one runs.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <utility>
#include <vector>

#include <lamina/model/feeding/feeder.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// The mini-batches of an update whose cost depends on the number of rows of all of them. Empty if
/// mini-batches run one by one.
template <program_type P>
class minibatch_group {
 public:
  /// Advances to the next of `size` mini-batches; after the last one, reads `size` more from
  /// `walk`, which fills `single`. Returns whether there is one.
  template <class Walk>
  bool next(Walk& walk, feeder<P>& single, int size) {
    if (count_ > 0 && ++at_ < count_) return true;
    at_ = count_ = 0;
    whole_ = {};
    ahead_.resize(static_cast<std::size_t>(size));
    while (count_ < ahead_.size() && walk.next()) {
      std::swap(single, ahead_[count_]);
      const batch_view<P> batch = ahead_[count_++].view();
      for (int d = 0; d < batch_view<P>::domains; ++d) whole_.rows.count[d] += batch.rows.count[d];
    }
    return count_ > 0;
  }
  /// Returns the current mini-batch; `single` if the group is empty.
  const feeder<P>& now(const feeder<P>& single) const { return count_ > 0 ? ahead_[at_] : single; }
  /// Returns the rows of all mini-batches; null if the group is empty.
  const batch_view<P>* whole() const { return count_ > 0 ? &whole_ : nullptr; }

 private:
  std::vector<feeder<P>> ahead_;
  std::size_t at_ = 0, count_ = 0;
  batch_view<P> whole_;
};

/// Replaces the group for machines that run each mini-batch separately.
template <program_type P>
struct no_minibatch_group {
  const feeder<P>& now(const feeder<P>& single) const { return single; }
  const batch_view<P>* whole() const { return nullptr; }
};

}}}  // namespace lamina::detail
