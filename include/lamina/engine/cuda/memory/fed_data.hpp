// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cuda/memory/fed_data.hpp - the memory of the fed mini-batch on the host and on a
// device.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/cuda/device/device_buffer.hpp>
#include <lamina/engine/cuda/memory/data_range.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

/// Lists the arguments of a schedule that are fed data.
template <class Schedule>
struct data_arguments {
  static constexpr int count = [] {
    int n = 0;
    for (int a = 0; a < Schedule::arguments; ++a)
      n += Schedule::table.slot_of[a].space == memory_space::feed ? 1 : 0;
    return n;
  }();
  struct list {
    int of[bound(count)];
  };
  static constexpr list all = [] {
    list l{};
    for (int a = 0, n = 0; a < Schedule::arguments; ++a)
      if (Schedule::table.slot_of[a].space == memory_space::feed) l.of[n++] = a;
    return l;
  }();
};

/// The mini-batch of program P. The data are gathered in one range of host memory and copied to one
/// range of device memory.
template <class P, class Schedule, class Backend>
class fed_data {
 public:
  using range_type = data_range<P>;
  static constexpr int domains = range_type::domains;

  explicit fed_data(Backend& b) : backend_(b), gathered_(b), on_device_(b) {}

  /// Lays out the range for these numbers of rows. Returns its size in bytes.
  std::size_t bind(const int* rows) {
    range_ = range_type(rows);
    return range_.size();
  }
  /// Reserves host and device memory for the range. Returns whether either has moved.
  bool reserve() {
    const bool moved = gathered_.reserve(range_.size());
    return on_device_.reserve(range_.size()) || moved;
  }
  float* address(int data) const {
    return reinterpret_cast<float*>(on_device_.data() + range_.data(data));
  }
  /// Sets the device addresses of the arguments that are data, and of the fed sequence offsets of
  /// each domain.
  void place(float** arguments, const int** offsets) const {
    using fed = data_arguments<Schedule>;
    for (int n = 0; n < fed::count; ++n)
      arguments[fed::all.of[n]] = address(Schedule::table.slot_of[fed::all.of[n]].offset);
    set_offsets(offsets);
  }
  void set_offsets(const int** offsets) const {
    for (int d = batch::domain; d < domains; ++d)
      if (range_.has_offsets(d))
        offsets[d] = reinterpret_cast<const int*>(on_device_.data() + range_.offsets(d));
  }

  /// Copies the data in the bit mask `given` (one bit per data variable), and all fed sequence
  /// offsets, to the host range.
  void gather(unsigned long long given, const int* rows, const void* const* data,
              const int* const* offsets) {
    range_.gather(gathered_.data(), given, rows, data, offsets);
  }
  void upload() { backend_.upload(on_device_.data(), gathered_.data(), range_.size()); }

 private:
  Backend& backend_;
  range_type range_;
  staging_buffer<Backend> gathered_;
  device_buffer<Backend> on_device_;
};

}}}  // namespace lamina::engine::cuda
