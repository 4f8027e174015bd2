// SPDX-License-Identifier: Apache-2.0
// lamina/io/archive/recordio.hpp - reads and writes files of PaddlePaddle's format RecordIO, which
// store records in chunks.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/files/little_endian.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/io/archive/crc32.hpp>
#include <lamina/io/archive/gzip.hpp>
#include <lamina/io/archive/snappy.hpp>

// A file is a sequence of chunks. A chunk begins with five 32-bit numbers, little-endian:
// 0x01020304, the number of records, the CRC-32 of the stored bytes, the compression (0 none, 1
// snappy, 2 gzip) and the number of stored bytes. Then the stored bytes follow. Decompressed, they
// are, for each record, its size (32 bits) and its bytes.
namespace lamina { inline namespace LAMINA_ABI {

namespace detail {
inline constexpr std::uint32_t recordio_magic = 0x01020304;
}

/// The limits of a chunk.
struct recordio_options {
  std::size_t records = 1000;  ///< maximum number of records
  /// The writer ends a chunk before it would become larger.
  std::size_t bytes = std::size_t{1} << 24;
};

/// Writes records to a file, in chunks without compression. The caller must call finish() at the
/// end, which writes the last chunk; otherwise its records are missing.
class recordio_writer {
 public:
  LAMINA_API LAMINA_COLD explicit recordio_writer(binary_writer& to,
                                                  const recordio_options& how = {});
  /// Appends a record. Throws lamina::error for a record of 2 GiB or more.
  LAMINA_API LAMINA_COLD void write(std::string_view record);
  LAMINA_API LAMINA_COLD void finish();

 private:
  LAMINA_API LAMINA_COLD void write_chunk();

  binary_writer& to_;
  recordio_options how_;
  std::string content_{};
  std::size_t count_ = 0;
};

/// Reads the records of a file in order, also from chunks that are compressed with snappy or gzip.
/// Throws format_error for a file that is damaged or ends within a chunk.
class recordio_reader {
 public:
  /// The reader keeps a reference to `from`, which must outlive it.
  explicit recordio_reader(binary_reader& from) : from_(from) {}

  /// Reads the next record; returns false at the end. The record is valid until the next call.
  LAMINA_API LAMINA_COLD bool next(std::string_view& record);
  /// Returns the offset of the chunk of the last record, for errors.
  std::uint64_t offset() const { return chunk_; }
  [[noreturn]] LAMINA_API LAMINA_COLD void fail(const std::string& reason) const;

 private:
  LAMINA_API LAMINA_COLD void read_chunk();

  binary_reader& from_;
  std::string content_{};
  std::size_t at_ = 0, left_ = 0;
  std::uint64_t chunk_ = 0;
};

#if LAMINA_DEFINES

recordio_writer::recordio_writer(binary_writer& to, const recordio_options& how)
    : to_(to), how_(how) {
  if (how.records == 0) throw error("lamina: RecordIO: expected at least 1 record, found 0");
}

void recordio_writer::write(std::string_view record) {
  if (record.size() >> 31 != 0)
    throw error(text("lamina: RecordIO: expected a record below 2 GiB, found ")
                << record.size() << " bytes");
  constexpr std::size_t most = std::size_t{1} << 31;  // the size of a chunk is stored in 32 bits
  const std::size_t bytes = how_.bytes < most ? how_.bytes : most;
  if (count_ > 0 && content_.size() + record.size() + 4 > bytes) write_chunk();
  detail::append_little_endian(content_, static_cast<std::uint32_t>(record.size()));
  content_ += record;
  if (++count_ == how_.records) write_chunk();
}

void recordio_writer::finish() {
  if (count_ > 0) write_chunk();
}

void recordio_writer::write_chunk() {
  to_.number(detail::recordio_magic);
  to_.number(static_cast<std::uint32_t>(count_));
  to_.number(crc32_of(content_.data(), content_.size()));
  to_.number(std::uint32_t{0});
  to_.number(static_cast<std::uint32_t>(content_.size()));
  to_.write(content_);
  content_.clear();
  count_ = 0;
}

bool recordio_reader::next(std::string_view& record) {
  while (left_ == 0) {
    if (at_ != content_.size())
      from_.fail_at(chunk_, text("RecordIO: expected the end of a chunk, found ")
                                << content_.size() - at_ << " more bytes");
    if (from_.left() == 0) return false;
    read_chunk();
  }
  const std::string_view rest = std::string_view(content_).substr(at_);
  const std::uint32_t size =
      rest.size() < 4 ? 0 : detail::from_little_endian<std::uint32_t>(rest.data());
  if (rest.size() < 4 || size > rest.size() - 4)
    from_.fail_at(chunk_, text("RecordIO: expected ")
                              << left_ << " more records of a chunk, found its end");
  record = rest.substr(4, size);
  at_ += 4 + size;
  --left_;
  return true;
}

void recordio_reader::fail(const std::string& reason) const { from_.fail_at(chunk_, reason); }

void recordio_reader::read_chunk() {
  chunk_ = from_.offset();
  const auto magic = from_.number<std::uint32_t>("a chunk of RecordIO");
  if (magic != detail::recordio_magic)
    from_.fail_at(chunk_, "RecordIO: expected the mark of a chunk, found other bytes");
  const auto records = from_.number<std::uint32_t>("the number of records");
  const auto sum = from_.number<std::uint32_t>("the checksum of a chunk");
  const auto packing = from_.number<std::uint32_t>("the compression of a chunk");
  const auto size = from_.number<std::uint32_t>("the size of a chunk");
  const std::uint64_t begin = from_.offset();
  std::string stored = from_.bytes(size, "a chunk of RecordIO");
  const std::uint32_t found = crc32_of(stored.data(), stored.size());
  if (found != sum)
    from_.fail_at(chunk_, text("RecordIO: expected the checksum ")
                              << sum << " of a chunk, found " << found);
  if (packing > 2)
    from_.fail_at(chunk_,
                  text("RecordIO: expected a chunk without compression, of snappy or of gzip, "
                       "found the compression ")
                      << packing);
  if (packing == 1) stored = detail::snappy_stream(stored, from_.path(), begin).unpacked();
  if (packing == 2) {
    if (stored.empty()) from_.fail_at(chunk_, "RecordIO: expected a gzip stream, found no bytes");
    stored = detail::unpack_gzip(stored, from_.path());
  }
  content_ = std::move(stored);
  at_ = 0;
  left_ = records;
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina
