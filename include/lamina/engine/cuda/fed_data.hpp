// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/fed_data.hpp - the mini-batch of a run at a place, and the next one, which is
// copied there while this one is computed.
#pragma once

#include <algorithm>
#include <cstddef>

#include <lamina/engine/cuda/data_range.hpp>
#include <lamina/engine/cuda/device_buffer.hpp>

namespace lamina::engine::cuda {

/// The arguments of a schedule that are data.
template <class Schedule>
struct data_arguments {
  static constexpr int count = [] {
    int n = 0;
    for (int a = 0; a < Schedule::arguments; ++a)
      n += Schedule::table.slots[a].space == memory_space::feed ? 1 : 0;
    return n;
  }();
  struct list {
    int of[at_least_one(count)];
  };
  static constexpr list all = [] {
    list l{};
    for (int a = 0, n = 0; a < Schedule::arguments; ++a)
      if (Schedule::table.slots[a].space == memory_space::feed) l.of[n++] = a;
    return l;
  }();
};

/// Two ranges at the place for mini-batches of program P: a run reads one, and the next mini-batch
/// is copied to the other meanwhile. What is recorded depends on which one it reads.
///
/// On the host each mini-batch is gathered in one of two buffers in turn. Of the one before, the
/// copy is done when the host fills it again: the run that took it has been waited for.
template <class P, class Schedule, class Backend>
class fed_data {
 public:
  using range_type = data_range<P>;
  static constexpr int domains = range_type::domains;
  static constexpr int data_count = range_type::data_count;

  explicit fed_data(Backend& b)
      : backend_(b),
        gathered_(b),
        next_gathered_{staging(b), staging(b)},
        at_place_{device_buffer<Backend>(b), device_buffer<Backend>(b)} {}

  /// Lays out the range that the next run reads for so many rows; returns its bytes.
  std::size_t bind(const int* rows) {
    range_ = range_type(rows);
    return range_.size();
  }
  /// Makes room for it; returns whether its memory is another one.
  bool reserve() {
    const bool moved = gathered_.reserve(range_.size());
    return at_place_[turn_].reserve(range_.size()) || moved;
  }
  /// Which of the two ranges it is.
  int turn() const { return turn_; }
  float* address(int data) const { return reinterpret_cast<float*>(begin() + range_.data(data)); }
  /// Sets the addresses of data among the arguments of the schedule, and, by domain, where
  /// sequences that are fed begin.
  void place(float** arguments, const int** offsets) const {
    using fed = data_arguments<Schedule>;
    for (int n = 0; n < fed::count; ++n)
      arguments[fed::all.of[n]] = address(Schedule::table.slots[fed::all.of[n]].offset);
    for (int d = batch::domain; d < domains; ++d)
      if (range_.has_offsets(d))
        offsets[d] = reinterpret_cast<const int*>(begin() + range_.offsets(d));
  }

  /// Gathers a mini-batch on the host, and copies it to the place.
  void gather(unsigned long long given, const int* rows, const void* const* data,
              const int* const* offsets) {
    range_.gather(gathered_.data(), given, rows, data, offsets);
  }
  void upload() { backend_.upload(begin(), gathered_.data(), range_.size()); }

  /// Begins to copy a mini-batch to the other range; its arrays are free afterwards.
  void fetch(const int* rows, const void* const* data, const int* const* offsets) {
    holds_ = false;
    const range_type range(rows);
    staging& from = next_gathered_[gathered_turn_ ^= 1];
    from.reserve(range.size());
    if (at_place_[turn_ ^ 1].reserve(range.size())) {
      // New memory is cleared in the order of the runs, but copied to beside them; what was
      // recorded may read the old one.
      backend_.forget();
      backend_.wait();
    }
    range.gather(from.data(), ~0ull, rows, data, offsets);
    backend_.upload_ahead(at_place_[turn_ ^ 1].data(), from.data(), range.size());
    std::copy_n(rows, domains, rows_);
    std::copy_n(offsets, domains, offsets_);
    std::copy_n(data, data_count, data_);
    holds_ = true;
  }
  /// Makes the mini-batch that was fetched that of the next run, if it is this one; else forgets
  /// it.
  bool take(const int* rows, const void* const* data, const int* const* offsets) {
    if (!holds_) return false;
    holds_ = false;
    // The run follows the copy even if it has no use for it: buffers are filled again after that.
    backend_.take_ahead();
    const bool found = is(rows, data, offsets);
    if (found) turn_ ^= 1;
    return found;
  }

 private:
  using staging = staging_buffer<Backend>;

  char* begin() const { return at_place_[turn_].data(); }
  bool is(const int* rows, const void* const* data, const int* const* offsets) const {
    if (!std::equal(data_, data_ + data_count, data)) return false;
    for (int d = batch::domain; d < domains; ++d)
      if ((plan<P>::fed.of[d] && rows[d] != rows_[d]) ||
          (range_type::has_offsets(d) && offsets[d] != offsets_[d]))
        return false;
    return true;
  }

  Backend& backend_;
  range_type range_;
  staging gathered_, next_gathered_[2];
  device_buffer<Backend> at_place_[2];
  int turn_ = 0, gathered_turn_ = 0;
  bool holds_ = false;
  // What was fetched.
  int rows_[domains] = {};
  const void* data_[at_least_one(data_count)] = {};
  const int* offsets_[domains] = {};
};

}  // namespace lamina::engine::cuda
