// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/byte_source.hpp - reads the bytes of a file in order, and decompresses a gzip
// file.
#pragma once

#include <lamina/core/config.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <lamina/core/files/file.hpp>
#include <lamina/core/files/zlib.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset {

/// Reads a file and, if it begins with the magic bytes of gzip, decompresses it. Throws
/// format_error with the offset in the file if a gzip stream ends early, has a wrong checksum, or
/// is followed by bytes that are not another gzip stream. offset() returns the number of
/// (decompressed) bytes that were read so far.
class byte_source {
 public:
  LAMINA_API explicit byte_source(const std::string& path);
  byte_source(const byte_source&) = delete;
  byte_source& operator=(const byte_source&) = delete;
  ~byte_source() {
#if LAMINA_HAS_ZLIB
    if (open_) inflateEnd(&stream_);
#endif
  }

  const std::string& path() const noexcept { return path_; }
  std::uint64_t offset() const noexcept { return offset_; }

  /// Reads `count` bytes to `to`, fewer only at the end of the file. Returns the number of bytes
  /// that were read.
  LAMINA_API std::size_t read(unsigned char* to, std::size_t count);

 private:
  // input_[used_, filled_) are bytes of the file that were read but not yet returned or
  // decompressed.
  LAMINA_API bool refill();

  LAMINA_API std::size_t read_plain(unsigned char* to, std::size_t count);

#if LAMINA_HAS_ZLIB
  LAMINA_API std::size_t read_compressed(unsigned char* to, std::size_t count);

  // Looks for the next gzip stream after the end of one. Returns true if there is one, false at the
  // end of the file. Throws format_error for other bytes.
  LAMINA_API bool next_member();

  z_stream stream_{};
  bool open_ = false, ended_ = false;
#else
  std::size_t read_compressed(unsigned char*, std::size_t) { return 0; }
#endif

  std::string path_;
  open_file file_;
  std::vector<unsigned char> input_ = std::vector<unsigned char>(std::size_t{1} << 16);
  std::size_t used_ = 0, filled_ = 0;
  std::uint64_t consumed_ = 0, offset_ = 0;
  bool compressed_ = false;
};

/// Returns all bytes of a file. A file compressed with gzip is decompressed.
LAMINA_API std::string read_bytes(const std::string& path);

#if LAMINA_DEFINES

byte_source::byte_source(const std::string& path) : path_(path), file_(path) {
  if (!file_.is_open())
    throw error(text() << "lamina: " << path_ << ": cannot be opened: " << reason_of(errno));
  refill();
  compressed_ = filled_ >= 2 && input_[0] == 0x1f && input_[1] == 0x8b;
  if (!compressed_) return;
#if LAMINA_HAS_ZLIB
  if (inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK)
    throw error("lamina: " + path_ + ": zlib could not be initialised");
  open_ = true;
#else
  throw format_error(path_, 0,
                     "the file is compressed with gzip, and this program was built "
                     "without zlib; decompress it, or build with LAMINA_HAS_ZLIB=1");
#endif
}

std::size_t byte_source::read(unsigned char* to, std::size_t count) {
  std::size_t done = 0;
  while (done < count) {
    const std::size_t got = compressed_ ? read_compressed(to + done, count - done)
                                        : read_plain(to + done, count - done);
    if (got == 0) break;
    done += got;
  }
  offset_ += done;
  return done;
}

bool byte_source::refill() {
  consumed_ += filled_;
  used_ = 0;
  filled_ = 0;
  const long long got = file_.read(input_.data(), input_.size());
  if (got < 0)
    throw format_error(path_, consumed_, "cannot be read: it is a folder, or the device failed");
  filled_ = static_cast<std::size_t>(got);
  return filled_ > 0;
}

std::size_t byte_source::read_plain(unsigned char* to, std::size_t count) {
  if (used_ == filled_ && !refill()) return 0;
  const std::size_t n = filled_ - used_ < count ? filled_ - used_ : count;
  for (std::size_t i = 0; i < n; ++i) to[i] = input_[used_ + i];
  used_ += n;
  return n;
}

#if LAMINA_HAS_ZLIB
std::size_t byte_source::read_compressed(unsigned char* to, std::size_t count) {
  const uInt wanted = count < (1u << 30) ? static_cast<uInt>(count) : 1u << 30;
  stream_.next_out = to;
  stream_.avail_out = wanted;
  while (stream_.avail_out == wanted && !ended_) {
    if (used_ == filled_ && !refill())
      throw format_error(path_, consumed_, "the gzip stream ends before its end mark");
    stream_.next_in = input_.data() + used_;
    stream_.avail_in = static_cast<uInt>(filled_ - used_);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    used_ = filled_ - stream_.avail_in;
    if (status == Z_STREAM_END)
      ended_ = !next_member();
    else if (status != Z_OK)
      throw format_error(path_, consumed_ + used_,
                         std::string("damaged gzip stream: ") +
                             (stream_.msg ? stream_.msg : "zlib gives no reason"));
  }
  return wanted - stream_.avail_out;
}

bool byte_source::next_member() {
  if (used_ == filled_ && !refill()) return false;
  if (input_[used_] != 0x1f)
    throw format_error(path_, consumed_ + used_, "bytes follow the end of the gzip stream");
  return inflateReset(&stream_) == Z_OK;
}
#endif

std::string read_bytes(const std::string& path) {
  byte_source from(path);
  std::string bytes;
  for (std::size_t got = 1; got > 0;) {
    const std::size_t had = bytes.size();
    bytes.resize(had < 65536 ? had + 65536 : 2 * had);
    got = from.read(reinterpret_cast<unsigned char*>(&bytes[had]), bytes.size() - had);
    bytes.resize(had + got);
  }
  return bytes;
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset
