// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv/filter_memory.hpp - keeps transformed filters from one run to the next.
//
// During inference the transformed filters of the previous run can nearly always be reused. But
// nothing tells the machine when filters change: parameters are plain memory, to which a trainer in
// another thread, a file reader or the user may write. So a copy of the original filters is kept
// with the transformed filters, and each run compares the filters with this copy, bit by bit. The
// comparison costs little compared with a transform.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstring>
#include <vector>

#include <lamina/engine/common/aligned_buffer.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// The transformed filters of a machine. Transformed filters are valid as long as the original
/// filters equal the kept copy, bit for bit. Only one thread at a time may use an object.
class filter_memory {
 public:
  /// Upper bound of the memory for all transformed filters of a machine and the copies of the
  /// originals: 40 MiB, as the three largest convolutions of ResNet-18 that have 256 channels need.
  static constexpr std::size_t most_floats = std::size_t{10} << 20;

  /// The result of find(). `made` is the memory for the transform of the `floats` floats at
  /// `filter`, or null if the upper bound is reached. If `is_current` is true, `made` holds the
  /// transform of exactly these numbers; otherwise the caller must now write the transform to
  /// `made`. find() allocates memory only for filters at an address that it has not seen before.
  struct entry {
    float* made;
    bool is_current;
  };
  LAMINA_API LAMINA_NOINLINE entry find(const float* filter, std::ptrdiff_t floats,
                                        std::ptrdiff_t made_floats);

 private:
  struct kept {
    const float* filter = nullptr;
    aligned_buffer from, made;
  };
  std::vector<kept> kept_;
  std::size_t used_ = 0;
};

#if LAMINA_DEFINES

filter_memory::entry filter_memory::find(const float* filter, std::ptrdiff_t floats,
                                         std::ptrdiff_t made_floats) {
  const std::size_t size = static_cast<std::size_t>(floats);
  const std::size_t made_size = static_cast<std::size_t>(made_floats);
  for (kept& k : kept_) {
    if (k.filter != filter || k.from.size() != size || k.made.size() != made_size) continue;
    const bool same = std::memcmp(k.from.data(), filter, size * sizeof(float)) == 0;
    if (!same) std::memcpy(k.from.data(), filter, size * sizeof(float));
    return {k.made.data(), same};
  }
  if (used_ + size + made_size > most_floats) return {nullptr, false};
  kept_.push_back({filter, aligned_buffer(size), aligned_buffer(made_size)});
  kept& k = kept_.back();
  used_ += size + made_size;
  std::memcpy(k.from.data(), filter, size * sizeof(float));
  return {k.made.data(), false};
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
