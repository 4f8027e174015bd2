// SPDX-License-Identifier: Apache-2.0
// lamina/image/jpeg.hpp - decodes JPEG files with libjpeg or libjpeg-turbo, which programs must
// link (JPEG::JPEG).
#pragma once

#include <lamina/core/config.hpp>

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <lamina/core/messages/error.hpp>
#include <lamina/image/decoded.hpp>
// This include must follow <cstdio>, because it needs FILE.
#include <jpeglib.h>

namespace lamina { inline namespace LAMINA_ABI { namespace image {

namespace detail {

/// Returns the orientation in an Exif marker, 1 to 8. It says how the rows and columns of the file
/// lie in the image. If the marker has no orientation or is damaged, returns 1, which means as in
/// the file.
inline int exif_orientation(const unsigned char* data, std::size_t size) {
  if (size < 14 || std::memcmp(data, "Exif\0\0", 6) != 0) return 1;
  data += 6, size -= 6;
  const bool big = data[0] == 'M';
  const auto number = [&](std::size_t at, std::size_t bytes) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < bytes; ++i) n = n << 8 | data[big ? at + i : at + bytes - 1 - i];
    return n;
  };
  const std::size_t entries = number(4, 4);
  if (entries > size - 2) return 1;
  const std::size_t count = number(entries, 2);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = entries + 2 + 12 * i;
    if (at + 12 > size) return 1;
    if (number(at, 2) != 0x0112) continue;
    const std::size_t orientation = number(at + 8, 2);
    return orientation >= 1 && orientation <= 8 ? static_cast<int>(orientation) : 1;
  }
  return 1;
}

/// Rotates and mirrors the pixels of a file as its orientation says.
inline decoded upright(decoded from, int orientation) {
  if (orientation == 1) return from;
  const bool turned = orientation > 4;  // rows of the file are columns of the image
  decoded to = from;
  if (turned) std::swap(to.height, to.width);
  const auto samples = static_cast<std::size_t>(from.samples);
  for (int y = 0; y < to.height; ++y)
    for (int x = 0; x < to.width; ++x) {
      int row = turned ? x : y, column = turned ? y : x;
      if (orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7)
        row = from.height - 1 - row;
      if (orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8)
        column = from.width - 1 - column;
      const auto position = [&](int r, int c, int width) {
        return samples * (static_cast<std::size_t>(r) * static_cast<std::size_t>(width) +
                          static_cast<std::size_t>(c));
      };
      std::memcpy(&to.data[position(y, x, to.width)], &from.data[position(row, column, from.width)],
                  samples);
    }
  return to;
}

/// libjpeg reports errors by longjmp, which runs no destructors. So the functions that call it have
/// no local variables with a destructor.
class jpeg_decoder {
 public:
  explicit jpeg_decoder(std::string_view bytes) : bytes_(bytes) {
    state_.err = ::jpeg_std_error(&manager_);
    state_.client_data = this;
    manager_.error_exit = leave;
    manager_.emit_message = [](::j_common_ptr state, int level) {
      if (level < 0) leave(state);  // libjpeg reports damage as a warning
    };
  }
  jpeg_decoder(const jpeg_decoder&) = delete;
  jpeg_decoder& operator=(const jpeg_decoder&) = delete;
  ~jpeg_decoder() { ::jpeg_destroy_decompress(&state_); }

  /// Reads the file up to the pixels. Returns false if this fails; reason() then returns the
  /// reason.
  bool begin() {
    if (setjmp(back_) != 0) return false;
    ::jpeg_CreateDecompress(&state_, JPEG_LIB_VERSION, sizeof state_);
    ::jpeg_mem_src(&state_, reinterpret_cast<const unsigned char*>(bytes_.data()),
                   static_cast<unsigned long>(bytes_.size()));
    ::jpeg_save_markers(&state_, JPEG_APP0 + 1, 0xffff);
    ::jpeg_read_header(&state_, static_cast<::boolean>(1));
    if (state_.num_components != 1 && state_.num_components != 3) {
      std::snprintf(reason_, sizeof reason_, "expected grey or three colours, found %d (CMYK)",
                    state_.num_components);
      return false;
    }
    state_.out_color_space = state_.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    state_.dct_method = JDCT_ISLOW;
    ::jpeg_calc_output_dimensions(&state_);
    return true;
  }
  /// Reads all pixels and the end of the file. Returns false if this fails.
  bool rows(unsigned char* to) {
    if (setjmp(back_) != 0) return false;
    ::jpeg_start_decompress(&state_);
    const std::size_t row =
        std::size_t{state_.output_width} * static_cast<std::size_t>(state_.output_components);
    while (state_.output_scanline < state_.output_height) {
      unsigned char* at = to + row * state_.output_scanline;
      ::jpeg_read_scanlines(&state_, &at, 1);
    }
    ::jpeg_finish_decompress(&state_);
    return true;
  }

  int samples() const { return state_.num_components; }
  std::uint32_t height() const { return state_.output_height; }
  std::uint32_t width() const { return state_.output_width; }
  std::size_t offset() const {
    return state_.src == nullptr ? 0 : bytes_.size() - state_.src->bytes_in_buffer;
  }
  int orientation() const {
    for (auto marker = state_.marker_list; marker != nullptr; marker = marker->next)
      if (marker->marker == JPEG_APP0 + 1)
        return exif_orientation(marker->data, marker->data_length);
    return 1;
  }
  const char* reason() const { return reason_; }

 private:
  static void leave(::j_common_ptr state) {
    jpeg_decoder& self = *static_cast<jpeg_decoder*>(state->client_data);
    self.manager_.format_message(state, self.reason_);
    std::longjmp(self.back_, 1);
  }

  std::string_view bytes_;
  ::jpeg_decompress_struct state_{};
  ::jpeg_error_mgr manager_{};
  std::jmp_buf back_;
  char reason_[JMSG_LENGTH_MAX] = "libjpeg gives no reason";
};

}  // namespace detail

/// Decodes a JPEG file in memory to grey or RGB pixels. If `rotated`, rotates the image as its Exif
/// orientation says. `path` is the name of the file in errors. Throws format_error for a file that
/// is damaged or truncated, as far as libjpeg detects it, for CMYK, and for more than 2^26 pixels.
inline decoded decode_jpeg(std::string_view bytes, const std::string& path, bool rotated = true) {
  detail::jpeg_decoder decoder(bytes);
  const auto fail = [&] {
    throw format_error(path, decoder.offset(), std::string("JPEG: ") + decoder.reason());
  };
  if (!decoder.begin()) fail();
  decoded to = detail::room_for(path, static_cast<std::uint64_t>(decoder.samples()),
                                decoder.height(), decoder.width(), 1);
  // The orientation is read before the pixels, because libjpeg discards the markers at the end of
  // the file.
  const int orientation = rotated ? decoder.orientation() : 1;
  if (!decoder.rows(to.data.data())) fail();
  return detail::upright(std::move(to), orientation);
}

}}}  // namespace lamina::image
