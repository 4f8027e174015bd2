// SPDX-License-Identifier: Apache-2.0
// lamina/image/png.hpp - decodes PNG files with libpng, which programs must link (PNG::PNG).
#pragma once

#include <lamina/core/config.hpp>

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <png.h>

#include <lamina/core/messages/error.hpp>
#include <lamina/image/decoded.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace image {

/// The values of the pixels of a file with a palette: colours, or their indices in the palette.
enum class png_palette { colors, indices };

namespace detail {

/// libpng reports errors by longjmp, which runs no destructors. So the functions that call it have
/// no local variables with a destructor.
class png_decoder {
 public:
  explicit png_decoder(std::string_view bytes)
      : bytes_(bytes),
        png_(::png_create_read_struct(PNG_LIBPNG_VER_STRING, this, leave, ignore)),
        info_(png_ == nullptr ? nullptr : ::png_create_info_struct(png_)) {}
  png_decoder(const png_decoder&) = delete;
  png_decoder& operator=(const png_decoder&) = delete;
  ~png_decoder() { ::png_destroy_read_struct(&png_, &info_, nullptr); }

  /// Reads the file up to the pixels. Returns false if this fails; reason() then returns the
  /// reason.
  bool begin(png_palette palette) {
    if (info_ == nullptr) return false;
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    ::png_set_read_fn(png_, this, give);
    ::png_read_info(png_, info_);
    if (palette == png_palette::indices) {
      const int kind = ::png_get_color_type(png_, info_);
      if (kind != PNG_COLOR_TYPE_PALETTE &&
          (kind != PNG_COLOR_TYPE_GRAY || ::png_get_bit_depth(png_, info_) != 8))
        ::png_error(png_, "expected a palette or 8 bits of grey, found another kind");
      ::png_set_packing(png_);  // unpacks palette indices to one byte each
    } else {
      ::png_set_expand(png_);  // expands palettes, fewer than 8 bits, and a transparent colour
    }
    const std::uint16_t one = 1;
    unsigned char first;
    std::memcpy(&first, &one, 1);
    if (first == 1) ::png_set_swap(png_);  // 16-bit samples in the byte order of this machine
    ::png_set_interlace_handling(png_);
    ::png_read_update_info(png_, info_);
    return true;
  }
  /// Reads all pixels and the end of the file. Returns false if this fails.
  bool rows(unsigned char** to) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    ::png_read_image(png_, to);
    ::png_read_end(png_, nullptr);
    return true;
  }

  int samples() const { return ::png_get_channels(png_, info_); }
  int bytes_of_sample() const { return ::png_get_bit_depth(png_, info_) == 16 ? 2 : 1; }
  std::uint32_t height() const { return ::png_get_image_height(png_, info_); }
  std::uint32_t width() const { return ::png_get_image_width(png_, info_); }
  std::size_t offset() const { return at_; }
  const char* reason() const { return reason_; }

 private:
  static png_decoder& of(void* self) { return *static_cast<png_decoder*>(self); }
  [[noreturn]] static void leave(::png_structp png, ::png_const_charp reason) {
    std::strncpy(of(::png_get_error_ptr(png)).reason_, reason, sizeof reason_ - 1);
    ::png_longjmp(png, 1);
  }
  static void ignore(::png_structp, ::png_const_charp) {}
  static void give(::png_structp png, ::png_bytep to, std::size_t n) {
    png_decoder& self = of(::png_get_io_ptr(png));
    if (n > self.bytes_.size() - self.at_) ::png_error(png, "the file ends before its end mark");
    std::memcpy(to, self.bytes_.data() + self.at_, n);
    self.at_ += n;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  char reason_[128] = "libpng gives no reason";
  ::png_structp png_;
  ::png_infop info_;
};

}  // namespace detail

/// Decodes a PNG file in memory; all types of PNG are supported, also 16 bits per sample. `path` is
/// the name of the file in errors. The gamma and the colour profile of the file are not applied.
/// With png_palette::indices, a pixel has one sample, which is the index of its colour in the
/// palette, or its grey value of 8 bits. Throws format_error for a file that is damaged or
/// truncated or has more than 2^26 pixels, and, with png_palette::indices, for a file without a
/// palette or 8 bits of grey.
inline decoded decode_png(std::string_view bytes, const std::string& path,
                          png_palette palette = png_palette::colors) {
  detail::png_decoder decoder(bytes);
  if (!decoder.begin(palette))
    throw format_error(path, decoder.offset(), std::string("PNG: ") + decoder.reason());
  decoded to = detail::room_for(path, static_cast<std::uint64_t>(decoder.samples()),
                                decoder.height(), decoder.width(), decoder.bytes_of_sample());
  std::vector<unsigned char*> rows;
  const std::size_t row = to.data.size() / static_cast<std::size_t>(to.height);
  for (std::size_t y = 0; y < static_cast<std::size_t>(to.height); ++y)
    rows.push_back(to.data.data() + y * row);
  if (!decoder.rows(rows.data()))
    throw format_error(path, decoder.offset(), std::string("PNG: ") + decoder.reason());
  return to;
}

}}}  // namespace lamina::image
