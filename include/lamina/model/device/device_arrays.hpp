// SPDX-License-Identifier: Apache-2.0
// lamina/model/device/device_arrays.hpp - arrays on a device for the parameters of a program, such
// as copies of the parameters or accumulators.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>
#include <vector>

#include <lamina/core/arrays/padding.hpp>
#include <lamina/engine/cuda/device/device_buffer.hpp>
#include <lamina/model/parameters/stored_arrays.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Arrays in the memory of a backend: `of_each` arrays per parameter of a program, each with the
/// shape of the parameter, in padded rows. The host stores weights in panels, so upload and
/// download convert the layout. The arrays of a parameter i have no rows if has_none(i) is true.
template <class Backend>
class device_arrays {
 public:
  LAMINA_COLD device_arrays(Backend& b, const parameter_list_view& all, int of_each,
                            bool (*has_none)(int) = nullptr)
      : backend_(b), of_each_(of_each), memory_(b), staging_(b) {
    std::size_t floats = 0, most = 0;
    for (int i = 0; i < all.size(); ++i) {
      infos_.push_back(all.describe(i));
      if (has_none != nullptr && has_none(i)) infos_.back().rows = 0;
      floats += size_of(infos_.back()) * static_cast<std::size_t>(of_each);
      if (size_of(infos_.back()) > most) most = size_of(infos_.back());
    }
    if (infos_.empty() || of_each == 0) return;
    // One additional float, so that an array without rows at the end has a valid address too.
    memory_.reserve((floats + 1) * sizeof(float));
    staging_.reserve(most * sizeof(float));
    rows_.resize(most);
    float* at = reinterpret_cast<float*>(memory_.data());
    for (const parameter_info& info : infos_)
      for (int s = 0; s < of_each; ++s, at += size_of(info)) pointers_.push_back(at);
  }

  /// Returns one pointer per array to its device memory.
  float* const* pointers() const { return pointers_.data(); }

  /// upload() copies all arrays from the host to the device; download() copies them to the host.
  LAMINA_COLD void upload(float* const* host) {
    each([&](const parameter_info& info, std::size_t i) {
      copy_to_device(info, host[i], pointers_[i]);
    });
  }
  LAMINA_COLD void download(float* const* host) {
    each([&](const parameter_info& info, std::size_t i) { bring(info, pointers_[i], host[i]); });
  }
  /// upload_one() copies one array from the host to a device array with the layout of parameter i;
  /// download_one() copies one to the host.
  LAMINA_COLD void upload_one(int i, const float* host, float* to) {
    copy_to_device(infos_[static_cast<std::size_t>(i)], host, to);
  }
  LAMINA_COLD void download_one(int i, const float* from, float* host) {
    bring(infos_[static_cast<std::size_t>(i)], from, host);
  }

 private:
  void copy_to_device(const parameter_info& info, const float* host, float* to) {
    float* const padded_rows = reinterpret_cast<float*>(staging_.data());
    std::memset(padded_rows, 0, size_of(info) * sizeof(float));
    unpack_like(info, host, rows_.data());
    copy(info, rows_.data(), info.columns, padded_rows, padded(info.columns));
    backend_.upload(to, padded_rows, size_of(info) * sizeof(float));
    backend_.wait();
  }
  void bring(const parameter_info& info, const float* from, float* host) {
    float* const padded_rows = reinterpret_cast<float*>(staging_.data());
    backend_.download(padded_rows, from, size_of(info) * sizeof(float));
    backend_.wait();
    copy(info, padded_rows, padded(info.columns), rows_.data(), info.columns);
    pack_like(info, rows_.data(), host);
  }
  static std::size_t size_of(const parameter_info& info) {
    return static_cast<std::size_t>(info.rows) * static_cast<std::size_t>(padded(info.columns));
  }
  static void copy(const parameter_info& info, const float* from, int from_stride, float* to,
                   int to_stride) {
    for (std::ptrdiff_t r = 0; r < info.rows; ++r)
      std::memcpy(to + r * to_stride, from + r * from_stride,
                  static_cast<std::size_t>(info.columns) * sizeof(float));
  }
  template <class F>
  void each(F&& f) {
    std::size_t n = 0;
    for (const parameter_info& info : infos_)
      for (int s = 0; s < of_each_; ++s) f(info, n++);
  }

  Backend& backend_;
  int of_each_;
  std::vector<parameter_info> infos_;
  engine::cuda::device_buffer<Backend> memory_;
  engine::cuda::staging_buffer<Backend> staging_;
  std::vector<float> rows_;
  std::vector<float*> pointers_;
};

}}  // namespace lamina
