// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/prefetched_data.hpp - the next mini-batch, copied to a place while it computes
// another.
#pragma once

#include <algorithm>
#include <cstddef>

#include <lamina/engine/cuda/data_range.hpp>
#include <lamina/engine/cuda/device_buffer.hpp>

namespace lamina::engine::cuda {

/// One mini-batch of program P on its way: gathered in memory of the host, copied to a range of the
/// place beside the one that runs read, and moved there when its run begins.
///
/// The host fills one of two buffers in turn. Of the one before, the copy is done when the host
/// fills it again: the run that took it has been waited for.
template <class P, class Backend>
class prefetched_data {
 public:
  using range_type = data_range<P>;
  static constexpr int domains = range_type::domains;
  static constexpr int data_count = range_type::data_count;

  explicit prefetched_data(Backend& b) : backend_(b), from_{staging(b), staging(b)}, at_place_(b) {}

  /// Begins to copy a mini-batch; its arrays are free afterwards.
  void fetch(const int* rows, const void* const* data, const int* const* offsets) {
    holds_ = false;
    const range_type range(rows);
    staging& from = from_[turn_ ^= 1];
    from.reserve(range.size());
    // New memory is cleared in the order of the runs, but copied to beside them.
    if (at_place_.reserve(range.size())) backend_.wait();
    range.gather(from.data(), ~0ull, rows, data, offsets);
    backend_.upload_ahead(at_place_.data(), from.data(), range.size());
    std::copy_n(rows, domains, rows_);
    std::copy_n(offsets, domains, offsets_);
    std::copy_n(data, data_count, data_);
    size_ = range.size();
    holds_ = true;
  }
  /// Moves the mini-batch to where the next run reads it, if it is this one; else forgets it.
  bool take(char* to, const int* rows, const void* const* data, const int* const* offsets) {
    if (!holds_) return false;
    holds_ = false;
    const bool found = is(rows, data, offsets);
    // The run follows the copy even if it has no use for it: buffers are filled again after that.
    backend_.take_ahead(to, at_place_.data(), found ? size_ : 0);
    return found;
  }

 private:
  using staging = staging_buffer<Backend>;

  bool is(const int* rows, const void* const* data, const int* const* offsets) const {
    if (!std::equal(data_, data_ + data_count, data)) return false;
    for (int d = batch::domain; d < domains; ++d)
      if ((plan<P>::fed.of[d] && rows[d] != rows_[d]) ||
          (range_type::has_offsets(d) && offsets[d] != offsets_[d]))
        return false;
    return true;
  }

  Backend& backend_;
  staging from_[2];
  device_buffer<Backend> at_place_;
  int turn_ = 0;
  bool holds_ = false;
  std::size_t size_ = 0;
  // What was fetched.
  int rows_[domains] = {};
  const void* data_[at_least_one(data_count)] = {};
  const int* offsets_[domains] = {};
};

}  // namespace lamina::engine::cuda
