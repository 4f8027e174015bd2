// SPDX-License-Identifier: Apache-2.0
// lamina/io/archive/zip_reader.hpp - reads the members of a zip archive that its directory lists
// (PKWARE APPNOTE 6.3).
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/files/little_endian.hpp>
#include <lamina/core/files/zlib.hpp>
#include <lamina/io/archive/crc32.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// One file in an archive.
struct zip_member {
  std::string name{};
  bool deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t stored_size = 0;  // size in the archive
  std::uint64_t size = 0;
  std::uint64_t header = 0;  // offset of its local header
  std::uint64_t begin = 0;   // offset of its bytes
  std::uint64_t entry = 0;   // offset of its directory entry
  std::string refused{};     // if not empty: the reason why its bytes cannot be read
};

/// Finds the members of an archive, also of a Zip64 archive. The reader is strict. It throws
/// format_error for an archive of several parts, for bytes before the first member or after the
/// archive, for members that overlap or have equal names, and for a directory that is inconsistent
/// or contradicts the headers of members. An encrypted member, or one with an unknown method of
/// compression, is an error only when its bytes are read, because a caller may need only other
/// members.
class zip_reader {
 public:
  /// The reader keeps a reference to `from`, which must outlive it.
  explicit zip_reader(binary_reader& from) : from_(from), file_size_(from.left()) {
    find_directory();
    read_directory();
    read_headers();
  }

  const std::vector<zip_member>& members() const { return members_; }

  /// Moves `from` to the bytes of a member that is stored uncompressed, and limits reads to these
  /// bytes. Throws format_error if the bytes cannot be read.
  void open(const zip_member& m) {
    if (!m.refused.empty()) from_.fail_at(m.entry, m.refused);
    from_.window(m.begin, m.stored_size, "the member '" + m.name + "'");
  }

  /// Throws format_error unless the bytes of an uncompressed member match its checksum.
  void check_member(const zip_member& m) {
    std::vector<unsigned char> piece(std::min<std::uint64_t>(m.stored_size, 1 << 18));
    open(m);
    std::uint32_t crc = 0;
    while (from_.left() > 0) {
      const std::uint64_t n = std::min<std::uint64_t>(from_.left(), piece.size());
      from_.read(piece.data(), n, m.name);
      crc = crc32_of(piece.data(), n, crc);
    }
    check_member(m, crc);
  }

  /// Returns the decompressed bytes of a deflated member. With `checked`, throws format_error if
  /// the checksum is wrong.
  std::string inflate(const zip_member& m, bool checked = true) {
#if LAMINA_HAS_ZLIB
    // Deflate expands by a factor of at most 1032, so a wrong size is detected before memory is
    // allocated for it.
    if (m.size / 1040 > m.stored_size)
      from_.fail_at(m.begin, text("expected at most ") << m.stored_size << " * 1040 bytes in '"
                                                       << m.name << "', found the size " << m.size);
    open(m);
    const std::string packed = from_.bytes(m.stored_size, m.name);
    std::string all(m.size, '\0');
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
      throw error("lamina: " + from_.path() + ": zlib could not be initialised");
    constexpr std::uint64_t most = (std::numeric_limits<uInt>::max)();
    std::uint64_t in = 0, out = 0;
    int status = Z_OK;
    unsigned char none = 0;  // zlib needs a valid address, also for 0 bytes
    while (status == Z_OK) {
      stream.next_in =
          reinterpret_cast<Bytef*>(const_cast<char*>(packed.data())) + in;  // it is only read
      stream.avail_in = static_cast<uInt>((std::min)(packed.size() - in, most));
      stream.next_out = all.empty() ? &none : reinterpret_cast<Bytef*>(all.data()) + out;
      stream.avail_out = static_cast<uInt>((std::min)(all.size() - out, most));
      const uInt had_in = stream.avail_in, had_out = stream.avail_out;
      status = ::inflate(&stream, Z_NO_FLUSH);
      in += had_in - stream.avail_in;
      out += had_out - stream.avail_out;
    }
    inflateEnd(&stream);
    if (status != Z_STREAM_END || out != m.size || in != m.stored_size)
      from_.fail_at(m.begin + in, text("expected ")
                                      << m.size << " bytes deflated to " << m.stored_size << " in '"
                                      << m.name << "', found a damaged stream after " << out);
    if (checked) check_member(m, crc32_of(all.data(), all.size()));
    return all;
#else
    (void)checked;
    from_.fail_at(m.begin, "expected stored members, found the deflated '" + m.name +
                               "', and this program was built without zlib");
#endif
  }

 private:
  static constexpr std::uint32_t saturated = 0xffffffffu;

  void check_member(const zip_member& m, std::uint32_t crc) const {
    if (crc != m.crc)
      from_.fail_at(m.begin, text("expected the checksum ")
                                 << m.crc << " of '" << m.name << "', found " << crc);
  }
  void go(std::uint64_t at, std::uint64_t size, std::string_view what) {
    from_.window(at, size, what);
  }
  void signature(std::uint32_t expected, std::string_view of) {
    const std::uint64_t at = from_.offset();
    if (from_.number<std::uint32_t>(of) != expected)
      from_.fail_at(at, text("expected ") << of << " of a zip archive, found other bytes");
  }
  std::uint16_t u16() { return from_.number<std::uint16_t>("a zip archive's record"); }
  std::uint32_t u32() { return from_.number<std::uint32_t>("a zip archive's record"); }
  std::uint64_t u64() { return from_.number<std::uint64_t>("a zip archive's record"); }

  /// Finds the end record of the archive. Only a comment may follow it, and the comment must end at
  /// the end of the file.
  void find_directory() {
    constexpr std::uint64_t record = 22;
    const std::uint64_t n = std::min<std::uint64_t>(file_size_, record + 65535);
    go(file_size_ - n, n, "the end of a zip archive");
    const std::string tail = from_.bytes(n, "the end of a zip archive");
    std::uint64_t k = n + 1;
    for (std::uint64_t back = record; back <= n && k > n; ++back)
      if (tail.compare(n - back, 4, "PK\5\6", 4) == 0 &&
          (static_cast<unsigned char>(tail[n - back + 20]) |
           static_cast<unsigned char>(tail[n - back + 21]) << 8) == static_cast<int>(back - record))
        k = n - back;
    if (k > n) from_.fail_at(0, "expected a zip archive, found no end record of one");
    const std::uint64_t end = file_size_ - n + k;
    go(end + 4, file_size_ - end - 4, "the end of a zip archive");
    const std::uint32_t disk = u16(), first_disk = u16();
    std::uint64_t here = u16();
    count_ = u16(), size_ = u32(), directory_ = u32();
    end_ = end;
    const bool larger = count_ == 0xffff || size_ == saturated || directory_ == saturated;
    if (larger && end >= 20 && read_locator(end - 20)) here = count_;
    if (disk != 0 || first_disk != 0 || here != count_)
      from_.fail_at(end, "expected a zip archive of one part, found several");
    if (directory_ > end_ || size_ != end_ - directory_)
      from_.fail_at(end, text("expected a zip archive's directory that ends at ")
                             << end_ << ", found " << size_ << " bytes from " << directory_);
    if (count_ > size_ / 46)
      from_.fail_at(end, text("expected at most ") << size_ / 46 << " members in a directory of "
                                                   << size_ << " bytes, found " << count_);
  }
  /// Reads the Zip64 locator, which may precede the end record at offset `at` and which has the
  /// offset of a larger end record. Returns false if there is none.
  bool read_locator(std::uint64_t at) {
    go(at, 20, "a Zip64 locator");
    if (from_.number<std::uint32_t>("a Zip64 locator") != 0x07064b50) return false;
    const std::uint32_t disk = u32();
    const std::uint64_t record = u64();
    if (disk != 0 || u32() > 1)
      from_.fail_at(at, "expected a zip archive of one part, found several");
    if (record > at || at - record < 56)
      from_.fail_at(at, text("expected a Zip64 end record before ")
                            << at << ", found it at " << record);
    go(record, at - record, "a Zip64 end record");
    signature(0x06064b50, "a Zip64 end record");
    if (u64() != at - record - 12)
      from_.fail_at(record, "expected a Zip64 end record up to its locator, found another size");
    u32();  // versions
    const bool parts = u32() != 0 || u32() != 0;
    const std::uint64_t here = u64();
    count_ = u64(), size_ = u64(), directory_ = u64();
    if (parts || here != count_)
      from_.fail_at(record, "expected a zip archive of one part, found several");
    end_ = record;
    return true;
  }

  void read_directory() {
    go(directory_, size_, "a zip archive's directory");
    for (std::uint64_t i = 0; i < count_; ++i) {
      const std::uint64_t at = from_.offset();
      signature(0x02014b50, "an entry of the directory");
      u32();  // versions
      zip_member& m = members_.emplace_back();
      const std::uint16_t flags = u16(), method = u16();
      u32();  // time
      m.crc = u32(), m.stored_size = u32(), m.size = u32();
      const std::uint64_t name = u16(), extra = u16(), comment = u16();
      const std::uint16_t disk = u16();
      u16(), u32();  // attributes
      m.header = u32();
      m.name = from_.bytes(name, "a member's name");
      read_extra(extra, m);
      from_.bytes(comment, "a member's comment");
      m.entry = at;
      if ((flags & 0x2041) != 0 || disk != 0)
        m.refused = "expected '" + m.name + "' in the clear and in this file, found it is not";
      else if (method != 0 && method != 8)
        m.refused = text("expected '")
                    << m.name << "' stored (0) or deflated (8), found method " << method;
      m.deflated = method == 8;
      if (method == 0 && m.refused.empty() && m.size != m.stored_size)
        from_.fail_at(at, text("expected one size of the stored '")
                              << m.name << "', found " << m.stored_size << " and " << m.size);
    }
    if (from_.left() != 0) from_.fail("expected the end of a zip archive's directory, found more");
  }
  /// Reads the Zip64 extra field (number 1) of a directory entry. It holds the sizes and offsets
  /// that do not fit into the entry.
  void read_extra(std::uint64_t size, zip_member& m) {
    const std::uint64_t begin = from_.offset();
    const std::string all = from_.bytes(size, "a member's extra fields");
    bool had = false;
    for (std::size_t at = 0; at + 4 <= all.size();) {
      const auto kind = detail::from_little_endian<std::uint16_t>(all.data() + at);
      const std::size_t wide = detail::from_little_endian<std::uint16_t>(all.data() + at + 2);
      std::size_t left = wide;
      at += 4;
      if (left > all.size() - at)
        from_.fail_at(begin + at, "expected extra fields within their size, found a longer one");
      if (kind == 1 && !had) {
        had = true;
        std::size_t position = at;
        for (std::uint64_t* number : {&m.size, &m.stored_size, &m.header}) {
          if (*number != saturated) continue;
          if (left < 8)
            from_.fail_at(begin + at, "expected a Zip64 field with all numbers, found fewer");
          *number = detail::from_little_endian<std::uint64_t>(all.data() + position);
          position += 8, left -= 8;
        }
      }
      at += wide;
    }
  }

  /// Reads the local headers of the members. Throws format_error if two members have the same name
  /// or overlap.
  void read_headers() {
    std::vector<zip_member*> order;
    for (zip_member& m : members_) order.push_back(&m);
    std::sort(order.begin(), order.end(),
              [](const zip_member* a, const zip_member* b) { return a->name < b->name; });
    for (std::size_t i = 1; i < order.size(); ++i)
      if (order[i]->name == order[i - 1]->name)
        from_.fail_at(order[i]->header <= file_size_ ? order[i]->header : directory_,
                      "expected one member '" + order[i]->name + "', found a second one");
    std::sort(order.begin(), order.end(),
              [](const zip_member* a, const zip_member* b) { return a->header < b->header; });
    std::uint64_t end = 0;
    for (zip_member* m : order) {
      if (m->header < end || m->header > directory_)
        from_.fail_at(directory_, text("expected '")
                                      << m->name << "' between " << end << " and the directory at "
                                      << directory_ << ", found it at " << m->header);
      go(m->header, directory_ - m->header, "the header of a member");
      signature(0x04034b50, "the header of a member");
      u16();  // version
      const std::uint16_t flags = u16(), method = u16();
      u32();  // time
      const std::uint32_t crc = u32(), stored = u32(), size = u32();
      const std::uint16_t name = u16(), extra = u16();
      const bool later = (flags & 8) != 0;  // CRC and sizes follow the bytes
      if (from_.bytes(name, "a member's name") != m->name || (method == 8) != m->deflated ||
          (!later && (crc != m->crc || (stored != saturated && stored != m->stored_size) ||
                      (size != saturated && size != m->size))))
        from_.fail_at(m->header, "expected the header of '" + m->name +
                                     "' to agree with the directory, found another one");
      from_.bytes(extra, "a member's extra fields");
      m->begin = from_.offset();
      if (m->stored_size > from_.left())
        from_.fail_at(m->begin, text("expected ") << m->stored_size << " bytes of '" << m->name
                                                  << "', found " << from_.left());
      end = m->begin + m->stored_size;
    }
    if (!order.empty() && order[0]->header != 0)
      from_.fail_at(0, text("expected the first member at the begin, found it at ")
                           << order[0]->header);
  }

  binary_reader& from_;
  std::uint64_t file_size_ = 0, end_ = 0, count_ = 0, size_ = 0, directory_ = 0;
  std::vector<zip_member> members_;
};

}}  // namespace lamina
