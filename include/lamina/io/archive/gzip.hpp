// SPDX-License-Identifier: Apache-2.0
// lamina/io/archive/gzip.hpp - decompresses whole files in gzip format (RFC 1952).
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <lamina/core/files/zlib.hpp>
#include <lamina/core/messages/error.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

#if LAMINA_HAS_ZLIB
/// Decompresses all streams of `packed`. `window` is the argument of zlib's inflateInit2, which
/// also tells zlib whether the streams have headers of gzip.
inline std::string unpack_streams(std::string_view packed, const std::string& path, int window) {
  struct inflating {
    z_stream stream{};
    ~inflating() { inflateEnd(&stream); }
  } open;
  z_stream& stream = open.stream;
  if (inflateInit2(&stream, window) != Z_OK)
    throw error("lamina: " + path + ": zlib could not be initialised");
  constexpr std::size_t most = (std::numeric_limits<uInt>::max)();
  std::string all;
  std::size_t in = 0, out = 0;
  for (int status = Z_OK; in < packed.size() || status != Z_STREAM_END;) {
    if (status == Z_STREAM_END && inflateReset(&stream) != Z_OK)
      throw error("lamina: " + path + ": zlib could not be initialised");
    if (out == all.size()) all.resize(std::max<std::size_t>(65536, 2 * out));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data())) + in;  // read only
    stream.avail_in = static_cast<uInt>((std::min)(packed.size() - in, most));
    stream.next_out = reinterpret_cast<Bytef*>(all.data()) + out;
    stream.avail_out = static_cast<uInt>((std::min)(all.size() - out, most));
    const uInt had_in = stream.avail_in, had_out = stream.avail_out;
    status = ::inflate(&stream, Z_NO_FLUSH);
    in += had_in - stream.avail_in;
    out += had_out - stream.avail_out;
    if (status == Z_BUF_ERROR && in == packed.size())
      throw format_error(path, in,
                         window > MAX_WBITS ? "the gzip stream ends before its end mark"
                                            : "the zlib stream ends before its end mark");
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      throw format_error(
          path, in,
          text(window > MAX_WBITS ? "damaged gzip stream: " : "damaged zlib stream: ")
              << (stream.msg != nullptr ? stream.msg : "zlib gives no reason"));
  }
  all.resize(out);
  return all;
}
#endif

/// Decompresses all members of `packed`. Throws format_error if a stream ends early, has a wrong
/// checksum or is followed by other bytes; the offset in the error is an offset in `packed`.
inline std::string unpack_gzip(std::string_view packed, const std::string& path) {
#if LAMINA_HAS_ZLIB
  return unpack_streams(packed, path, 16 + MAX_WBITS);
#else
  (void)packed;
  throw format_error(path, 0,
                     "the file is compressed with gzip, and this program was built without zlib; "
                     "decompress it, or build with LAMINA_HAS_ZLIB=1");
#endif
}

}}}  // namespace lamina::detail
