// SPDX-License-Identifier: Apache-2.0
// lamina/io/archive/tar_file.hpp - reads and writes the members of a tar archive. It reads the
// formats POSIX ustar, pax, and GNU with long names.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/messages/error.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// One file in a tar archive.
struct tar_member {
  std::string name{};
  std::uint64_t header = 0;  // offset of its header
  std::uint64_t begin = 0;   // offset of its bytes
  std::uint64_t size = 0;
};

/// Tells how a tar_reader treats links, devices and other members that are not files.
enum class tar_others : std::uint8_t { refused, skipped };

/// Reads the members of an archive in order, without directories. The two blocks of zeros at the
/// end of the archive may be missing. Throws format_error for a wrong checksum, for a member that
/// is larger than the file and, unless `others` is `skipped`, for links, devices and similar
/// members.
class tar_reader {
 public:
  /// The reader keeps a reference to `from`, which must outlive it.
  explicit tar_reader(binary_reader& from, tar_others others = tar_others::refused)
      : from_(from), file_size_(from.left()), others_(others) {}

  /// Finds the next member; returns false at the end of the archive. After it returns true, `from`
  /// reads the bytes of the member and cannot read beyond them.
  bool next(tar_member& m) {
    if (file_size_ == 0) from_.fail_at(0, "expected a tar archive, found an empty file");
    std::string long_name;
    while (at_ != file_size_) {
      from_.window(at_, file_size_ - at_, "a tar archive");
      char block[512];
      from_.read(block, sizeof block, "the header of a member");
      if (std::string_view(block, sizeof block).find_first_not_of('\0') == std::string_view::npos)
        return end();
      check_block(block);
      m.header = at_;
      m.begin = from_.offset();
      const char kind = block[156];
      const bool is_link = kind >= '1' && kind <= '6';  // or a device; these have no bytes
      m.size = is_link && others_ == tar_others::skipped ? 0 : number(block + 124, 12);
      if (m.size > from_.left())
        from_.fail_at(at_ + 124, text("expected at most ")
                                     << from_.left() << " bytes of a member, found " << m.size);
      // The padding of the last member to a whole block may be missing.
      const std::uint64_t blocks = (m.size + 511) / 512 * 512;
      const std::uint64_t header = at_;
      at_ = blocks > from_.left() ? file_size_ : m.begin + blocks;
      from_.window(m.begin, m.size, "a member");
      if (kind == 'L' || kind == 'x') {
        if (m.size > 65536)
          from_.fail_at(header, text("expected a name of at most 65536 bytes, found ") << m.size);
        const std::string all = from_.bytes(m.size, "the name of a member");
        if (kind == 'L') long_name = all.substr(0, all.find('\0'));
        if (kind == 'x') read_pax(m.begin, all, long_name);
      } else if (kind == 0 || kind == '0') {
        m.name = long_name.empty() ? name_in(block) : long_name;
        return true;
      } else if (kind == '5' || kind == 'g') {
        long_name.clear();
      } else if (others_ == tar_others::skipped) {
        if (kind != 'K') long_name.clear();  // K: the next member is a link with a long target
      } else {
        from_.fail_at(header + 156, text("expected files in a tar archive, found a member of type ")
                                        << static_cast<int>(kind));
      }
    }
    if (!long_name.empty()) from_.fail_at(at_, "expected the member of a long name, found the end");
    return false;
  }

 private:
  /// Requires that only zeros follow a block of zeros, which ends the archive. Returns false, as
  /// next() does at the end.
  bool end() {
    while (from_.left() > 0) {
      char piece[512] = {};
      const std::uint64_t at = from_.offset();
      from_.read(piece, from_.left() < sizeof piece ? from_.left() : sizeof piece, "zeros");
      for (const char c : piece)
        if (c != 0)
          from_.fail_at(at, "expected zeros up to the end of a tar archive, found others");
    }
    at_ = file_size_;
    return false;
  }
  void check_block(const char* block) const {
    std::uint64_t sum = 0;
    for (int i = 0; i < 512; ++i)
      sum += i >= 148 && i < 156 ? std::uint64_t{' '} : static_cast<unsigned char>(block[i]);
    if (number(block + 148, 8) != sum)
      from_.fail_at(at_ + 148, text("expected the checksum ")
                                   << sum << " of a member's header, found "
                                   << number(block + 148, 8));
  }
  /// Reads a number in one of two forms: octal digits, with spaces before and spaces or zeros after
  /// them; or big-endian bytes, which GNU tar writes for sizes above 8 GiB.
  std::uint64_t number(const char* field, std::size_t size) const {
    const auto fail = [&] {
      from_.fail_at(at_ + 124,
                    "expected an octal number in a member's header, found other characters");
    };
    std::uint64_t value = 0;
    std::size_t i = 0;
    if (static_cast<unsigned char>(field[0]) == 0x80) {
      for (i = 1; i < size; ++i) {
        if (value >> 55 != 0) fail();
        value = value << 8 | static_cast<unsigned char>(field[i]);
      }
      return value;
    }
    while (i < size && field[i] == ' ') ++i;
    const std::size_t digits = i;
    for (; i < size && field[i] >= '0' && field[i] <= '7'; ++i)
      value = value << 3 | static_cast<std::uint64_t>(field[i] - '0');
    const bool found = i > digits;
    for (; i < size; ++i)
      if (field[i] != ' ' && field[i] != 0) fail();
    if (!found) fail();
    return value;
  }
  static std::string text_in(const char* field, std::size_t size) {
    return std::string(field, ::strnlen(field, size));
  }
  std::string name_in(const char* block) const {
    const std::string name = text_in(block, 100);
    // Headers of GNU tar begin with "ustar ". They have other fields in place of the prefix of the
    // name.
    if (std::memcmp(block + 257, "ustar\0", 6) != 0) return name;
    const std::string prefix = text_in(block + 345, 155);
    return prefix.empty() ? name : prefix + "/" + name;
  }
  /// Reads the records of a pax header, which have the form "LENGTH KEY=VALUE\n". Only the record
  /// of the key "path" is used.
  void read_pax(std::uint64_t begin, const std::string& all, std::string& name) const {
    for (std::size_t at = 0; at < all.size();) {
      std::size_t length = 0, i = at;
      for (; i < all.size() && all[i] >= '0' && all[i] <= '9' && length <= all.size(); ++i)
        length = 10 * length + static_cast<std::size_t>(all[i] - '0');
      if (length > all.size() - at || i + 1 >= at + length || all[i] != ' ' ||
          all[at + length - 1] != '\n')
        from_.fail_at(begin + at,
                      "expected 'LENGTH KEY=VALUE' in a pax header, found another text");
      const std::string_view record(all.data() + i + 1, at + length - 1 - (i + 1));
      if (record.starts_with("path=")) name = std::string(record.substr(5));
      if (record.starts_with("size="))
        from_.fail_at(begin + at,
                      "expected sizes in the headers of members, found one in a pax header");
      at += length;
    }
  }

  binary_reader& from_;
  std::uint64_t file_size_, at_ = 0;
  tar_others others_;
};

/// Writes an archive member by member; the caller must call finish() after the last member. Equal
/// members always give equal bytes, because the time of each member is 0.
class tar_writer {
 public:
  explicit tar_writer(binary_writer& to) : to_(to) {}

  /// Writes the header of a member. The caller then writes its `size` bytes and calls end_member().
  void begin_member(const std::string& name, std::uint64_t size) {
    if (name.empty() || name.find('\0') != std::string::npos)
      throw error("lamina: tar archive: expected a name, found '" + name + "'");
    if (name.size() > 100) {
      header("././@LongLink", name.size() + 1, 'L');
      to_.write(name);
      to_.write(std::string(1, '\0'));
      end_member();
    }
    header(name.substr(0, 100), size, '0');
  }
  /// Pads the bytes of the member to a whole block.
  void end_member() { to_.write(std::string((512 - to_.offset() % 512) % 512, '\0')); }
  void finish() { to_.write(std::string(1024, '\0')); }

 private:
  void header(const std::string& name, std::uint64_t size, char kind) {
    char block[512] = {};
    std::memcpy(block, name.data(), name.size());
    const auto octal = [&](int at, int digits, std::uint64_t value) {
      for (int i = digits; i-- > 0; value >>= 3)
        block[at + i] = static_cast<char>('0' + (value & 7));
    };
    octal(100, 7, 0644);
    octal(108, 7, 0);
    octal(116, 7, 0);
    octal(136, 11, 0);
    if (size >> 33 == 0) {
      octal(124, 11, size);
    } else {
      block[124] = static_cast<char>(0x80);
      for (int i = 0; i < 8; ++i) block[135 - i] = static_cast<char>(size >> (8 * i));
    }
    block[156] = kind;
    std::memcpy(block + 257, "ustar  ", 8);  // the magic of GNU tar, which long names need
    unsigned sum = 8 * ' ';
    for (int i = 0; i < 512; ++i) sum += static_cast<unsigned char>(block[i]);
    octal(148, 6, sum);
    block[155] = ' ';
    to_.write(block, 512);
  }

  binary_writer& to_;
};

}}  // namespace lamina
