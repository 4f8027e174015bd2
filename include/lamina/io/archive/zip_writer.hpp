// SPDX-License-Identifier: Apache-2.0
// lamina/io/archive/zip_writer.hpp - writes a zip archive of uncompressed members (PKWARE APPNOTE
// 6.3).
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/io/archive/crc32.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Writes members in the order of the calls. They are uncompressed and aligned to 64 bytes, so that
/// a program can map them into memory. The caller must call finish() at the end, which writes the
/// directory; without it, the file is not an archive. Sizes and offsets of at least `limit` (2^32 -
/// 1, except in tests) are written as Zip64. Equal members always give equal bytes, because the
/// time of each member is 1980-01-01.
class zip_writer {
 public:
  explicit zip_writer(binary_writer& to, std::uint64_t limit = 0xffffffffu)
      : to_(to), limit_(limit) {}

  /// Adds a member; its bytes are `head` and then the `size` bytes at `data`. Throws lamina::error
  /// for a name that is empty, contains a zero byte or has more than 65535 bytes.
  void add(const std::string& name, std::string_view head, const void* data, std::uint64_t size) {
    if (name.empty() || name.size() > 65535 || name.find('\0') != std::string::npos)
      throw error(text() << "lamina: zip archive: expected a name of 1 to 65535 bytes, found "
                         << name.size());
    entry e{name, 0, head.size() + size, to_.offset()};
    e.crc = crc32_of(data, size, crc32_of(head.data(), head.size()));
    const bool large = e.size >= limit_;
    const std::uint64_t fixed = to_.offset() + 30 + name.size() + (large ? 20 : 0);
    std::uint64_t gap = (64 - fixed % 64) % 64;
    if (gap != 0 && gap < 6) gap += 64;
    u32(0x04034b50);
    common(e, large);
    u32(large ? 0xffffffffu : static_cast<std::uint32_t>(e.size));
    u32(large ? 0xffffffffu : static_cast<std::uint32_t>(e.size));
    u16(name.size());
    u16(gap + (large ? 20 : 0));
    to_.write(name);
    if (large) u16(1), u16(16), u64(e.size), u64(e.size);
    if (gap != 0) {
      u16(0xd935), u16(gap - 4), u16(64);  // Android's alignment field
      to_.write(std::string(gap - 6, '\0'));
    }
    to_.write(head);
    to_.write(data, size);
    entries_.push_back(std::move(e));
  }

  /// Writes the central directory after the members.
  void finish() {
    const std::uint64_t directory = to_.offset();
    for (const entry& e : entries_) {
      const bool large = e.size >= limit_, distant = e.header >= limit_;
      u32(0x02014b50);
      u16(large || distant ? 45 : 20);  // made by
      common(e, large || distant);
      u32(large ? 0xffffffffu : static_cast<std::uint32_t>(e.size));
      u32(large ? 0xffffffffu : static_cast<std::uint32_t>(e.size));
      u16(e.name.size());
      const unsigned extra = (large ? 16u : 0u) + (distant ? 8u : 0u);
      u16(extra == 0 ? 0 : extra + 4);
      u16(0), u16(0), u16(0), u32(0);  // comment, part, attributes
      u32(distant ? 0xffffffffu : static_cast<std::uint32_t>(e.header));
      to_.write(e.name);
      if (extra != 0) u16(1), u16(extra);
      if (large) u64(e.size), u64(e.size);
      if (distant) u64(e.header);
    }
    const std::uint64_t end = to_.offset(), size = end - directory, count = entries_.size();
    const bool large = count >= 65535 || size >= limit_ || directory >= limit_;
    if (large) {
      u32(0x06064b50), u64(44), u16(45), u16(45), u32(0), u32(0);
      u64(count), u64(count), u64(size), u64(directory);
      u32(0x07064b50), u32(0), u64(end), u32(1);
    }
    u32(0x06054b50), u16(0), u16(0);
    for (int i = 0; i < 2; ++i) u16(large ? 0xffff : count);
    u32(large ? 0xffffffffu : static_cast<std::uint32_t>(size));
    u32(large ? 0xffffffffu : static_cast<std::uint32_t>(directory));
    u16(0);
  }

 private:
  struct entry {
    std::string name;
    std::uint32_t crc;
    std::uint64_t size, header;
  };

  void u16(std::uint64_t n) { to_.number(static_cast<std::uint16_t>(n)); }
  void u32(std::uint32_t n) { to_.number(n); }
  void u64(std::uint64_t n) { to_.number(n); }
  /// Writes the fields that local headers and directory entries have in common, from the version
  /// that a reader needs to the CRC.
  void common(const entry& e, bool large) {
    u16(large ? 45 : 20);
    u16(0x800);         // names are UTF-8
    u16(0);             // stored
    u16(0), u16(0x21);  // 1980-01-01
    u32(e.crc);
  }

  binary_writer& to_;
  std::uint64_t limit_;
  std::vector<entry> entries_;
};

}}  // namespace lamina
