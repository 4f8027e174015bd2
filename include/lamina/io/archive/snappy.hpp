// SPDX-License-Identifier: Apache-2.0
// lamina/io/archive/snappy.hpp - decompresses snappy's framing format, the default of RecordIO's
// chunks.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Computes the CRC-32C of bytes (Castagnoli, reflected).
inline std::uint32_t crc32c_of(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t b = 0; b < 256; ++b) {
      t[b] = b;
      for (int bit = 0; bit < 8; ++bit)
        t[b] = (t[b] & 1) != 0 ? t[b] >> 1 ^ 0x82f63b78u : t[b] >> 1;
    }
    return t;
  }();
  std::uint32_t r = ~0u;
  for (const char c : bytes) r = r >> 8 ^ table[(r ^ static_cast<unsigned char>(c)) & 255];
  return ~r;
}

/// Reads a stream of snappy. It consists of blocks of at most 65536 bytes, each with a checksum.
/// Source: "Snappy framing format description" and "Snappy compressed format description", Google.
class snappy_stream {
 public:
  /// `path` and `offset` are the file and the offset of the first byte of `packed`, for errors.
  snappy_stream(std::string_view packed, const std::string& path, std::uint64_t offset)
      : packed_(packed), path_(path), offset_(offset) {}

  /// Returns all decompressed bytes. Throws format_error for a damaged stream.
  LAMINA_API LAMINA_COLD std::string unpacked();

 private:
  static constexpr std::size_t most = 65536;

  [[noreturn]] LAMINA_API LAMINA_COLD void fail(const std::string& reason) const;
  static std::uint32_t little(std::string_view bytes, std::size_t n) {
    std::uint32_t value = 0;
    for (std::size_t i = n; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return value;
  }
  std::string_view take(std::size_t n) {
    if (n > packed_.size() - at_)
      fail(text("expected ") << n << " bytes, found the end after " << packed_.size() - at_);
    const std::string_view taken = packed_.substr(at_, n);
    at_ += n;
    return taken;
  }

  /// Appends the bytes of one block: its size, then literals and copies of earlier bytes.
  void unpack(std::string_view from, std::string& to) const {
    std::size_t size = 0, at = 0;
    for (int shift = 0;; shift += 7) {
      if (at == from.size() || shift > 14) fail("expected the size of a block, found none");
      const auto digit = static_cast<unsigned char>(from[at++]);
      size |= std::size_t{digit & 127u} << shift;
      if (digit < 128) break;
    }
    if (size > most) fail(text("expected a block of at most 65536 bytes, found ") << size);
    const std::size_t begin = to.size(), end = begin + size;
    const auto number = [&](std::size_t n) {
      if (n > from.size() - at) fail("expected a length, found the end of the block");
      at += n;
      return std::size_t{little(from.substr(at - n), n)};
    };
    while (at < from.size()) {
      const unsigned tag = static_cast<unsigned char>(from[at++]);
      std::size_t length = tag >> 2;
      if (tag % 4 == 0) {
        if (length >= 60) length = number(length - 59);
        if (++length > from.size() - at || length > end - to.size())
          fail("expected bytes of the block, found its end");
        to += from.substr(at, length);
        at += length;
        continue;
      }
      std::size_t back = 0;
      if (tag % 4 == 1) {
        length = 4 + (tag >> 2) % 8;
        back = std::size_t{tag >> 5} << 8 | number(1);
      } else {
        ++length;
        back = number(tag % 4 == 2 ? 2 : 4);
      }
      if (back == 0 || back > to.size() - begin || length > end - to.size())
        fail("expected a copy within the block, found one beyond it");
      for (std::size_t i = 0; i < length; ++i) to += to[to.size() - back];
    }
    if (to.size() != end)
      fail(text("expected a block of ") << size << " bytes, found " << to.size() - begin);
  }

  std::string_view packed_;
  const std::string& path_;
  std::uint64_t offset_;
  std::size_t at_ = 0, begin_ = 0;
};

#if LAMINA_DEFINES

std::string snappy_stream::unpacked() {
  std::string all;
  bool is_begun = false;
  while (at_ < packed_.size()) {
    begin_ = at_;
    const std::uint32_t head = little(take(4), 4);
    const std::uint32_t kind = head & 255;
    const std::string_view content = take(head >> 8);
    if (kind == 0xff) {
      if (content != "sNaPpY") fail("expected the mark of a stream, found another one");
      is_begun = true;
      continue;
    }
    if (!is_begun) fail("expected the mark of a stream of snappy, found another part");
    if (kind >= 0x80) continue;  // a chunk that readers may skip
    if (kind > 1) fail(text("expected compressed or plain bytes, found a part of kind ") << kind);
    if (content.size() < 4) fail("expected a checksum, found the end of the part");
    const std::string_view bytes = content.substr(4);
    const std::size_t had = all.size();
    if (kind == 0)
      unpack(bytes, all);
    else
      all += bytes;
    const std::uint32_t sum = crc32c_of(std::string_view(all).substr(had));
    if ((sum >> 15 | sum << 17) + 0xa282ead8u != little(content, 4))
      fail("expected the checksum of a part, found another one");
  }
  return all;
}

void snappy_stream::fail(const std::string& reason) const {
  throw format_error(path_, offset_ + begin_, "snappy: " + reason);
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::detail
