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

/// Results that are not in the image yet: `width` elements, which are whole vectors, of each of
/// some consecutive channels. Result (i, j) is sums[i * stride + j]; it belongs to the element
/// i * channel_size + j after the begin of the part.
struct image_tile {
  const float* sums = nullptr;  // null if the results are in the image
  int stride = 0, channels = 0, width = 0, channel_size = 0;
};

/// A part of an image: the elements of the tile, which begins at `begin`; or, without a tile, the
/// elements [begin, end). `begin` is a multiple of the vector length, and so is `end` unless it is
/// that of the image, which may be any larger number.
struct image_part {
  std::ptrdiff_t begin = 0, end = (std::numeric_limits<std::ptrdiff_t>::max)();
  image_tile tile = {};
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
  /// Processes a tile, which begins at `begin`. Nothing may be pending from reach(), and skip_to()
  /// must follow when all tiles are processed.
  void finish_tile(std::ptrdiff_t begin, const image_tile& tile) {
    done_(row_, {begin, begin, tile});
  }
  void skip_to(std::ptrdiff_t end) { begin_ = end; }
  /// Whether there is something to do for finished elements, and none before `begin` is pending.
  bool finishes_tiles_at(std::ptrdiff_t begin) const {
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
