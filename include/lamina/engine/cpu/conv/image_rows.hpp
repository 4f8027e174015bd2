// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv/image_rows.hpp - the images of a mini-batch, a function that processes
// each finished image.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <limits>

#include <lamina/core/arrays/padding.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// The images of a mini-batch, `stride` floats apart.
struct image_rows {
  float* data;
  std::ptrdiff_t stride;
};

/// A part of an image: `count` ranges of elements, whose begins are `step` elements apart. The
/// first range is [begin, end). All begins are multiples of the vector length, and so are all ends
/// but that of the image, which may be any larger number. If there are several ranges, they are at
/// the same place of consecutive channels, and `step` is the size of a channel.
struct image_part {
  std::ptrdiff_t begin = 0, end = (std::numeric_limits<std::ptrdiff_t>::max)();
  std::ptrdiff_t step = 0;
  int count = 1;
  /// If not null, the results are not in the image yet but here. Two ranges are `sums_stride`
  /// floats apart.
  const float* sums = nullptr;
  int sums_stride = 0;
};

/// A function that processes a result as soon as a part of an image is finished, while the part is
/// still in the cache. `run` gets the index of the image in the mini-batch; it is called once for
/// each element of the image and of the padding after it.
struct image_epilogue {
  void (*run)(const void* context, int row, const image_part& part) = nullptr;
  const void* context = nullptr;

  /// Processes the whole image.
  void operator()(int row) const { (*this)(row, {}); }
  void operator()(int row, const image_part& part) const {
    if (run != nullptr) run(context, row, part);
  }
};

/// Processes an image that is computed from its first element to its last, in parts of whole
/// vectors that are not too small.
class image_progress {
 public:
  /// Elements before `begin` are processed already.
  image_progress(const image_epilogue& done, int row, std::ptrdiff_t begin = 0)
      : done_(done), row_(row), begin_(begin) {}

  /// States that all elements before `end` are finished. Returns the first element that is not
  /// processed yet.
  std::ptrdiff_t reach(std::ptrdiff_t end) {
    constexpr std::ptrdiff_t least = 4096;
    if (end - begin_ < least) return begin_;
    const std::ptrdiff_t whole = end / alignment_floats * alignment_floats;
    done_(row_, {begin_, whole});
    return begin_ = whole;
  }
  /// Processes a part that is not at the begin of the elements that are not processed yet. Nothing
  /// may be pending from reach(), and skip_to() must follow when all parts are processed.
  void finish_part(const image_part& part) { done_(row_, part); }
  void skip_to(std::ptrdiff_t end) { begin_ = end; }
  /// Whether there is something to do for finished elements, and none before `begin` is pending.
  bool finishes_parts_at(std::ptrdiff_t begin) const {
    return done_.run != nullptr && begin_ == begin;
  }
  /// States that the image is finished.
  void finish() { done_(row_, {begin_}); }

 private:
  const image_epilogue& done_;
  int row_;
  std::ptrdiff_t begin_;
};

}}}  // namespace lamina::engine::cpu
