// SPDX-License-Identifier: Apache-2.0
// wav_file - reads and writes sound of one channel as WAV files.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <lamina/core/files/file.hpp>

/// Samples from -1 to 1, and their number per second.
struct wav_file {
  int rate = 48000;
  std::vector<float> samples{};
};

/// Reads the first channel of a file with integers of 16, 24 or 32 bits or floats of 32 bits.
/// Throws std::runtime_error for other files.
inline wav_file read_wav(const std::string& path) {
  static_assert(std::endian::native == std::endian::little);
  const std::string bytes = lamina::read_file(path);
  const auto fail = [&](const char* what) { throw std::runtime_error(path + ": " + what); };
  const auto number = [&](std::size_t at, std::size_t size) {
    std::uint32_t n = 0;
    if (at + size > bytes.size()) fail("expected more bytes of a WAV file");
    std::memcpy(&n, bytes.data() + at, size);
    return n;
  };
  if (bytes.size() < 12 || bytes.compare(0, 4, "RIFF") != 0 || bytes.compare(8, 4, "WAVE") != 0)
    fail("expected a WAV file");
  wav_file read;
  std::size_t format = 0, channels = 0, bits = 0;
  for (std::size_t at = 12; at + 8 <= bytes.size();) {
    const std::size_t size = number(at + 4, 4), begin = at + 8;
    if (bytes.compare(at, 4, "fmt ") == 0) {
      format = number(begin, 2);
      channels = number(begin + 2, 2);
      read.rate = static_cast<int>(number(begin + 4, 4));
      bits = number(begin + 14, 2);
      if (format == 0xfffe) format = number(begin + 24, 2);  // the extensible form
      const bool known =
          (format == 1 && (bits == 16 || bits == 24 || bits == 32)) || (format == 3 && bits == 32);
      if (!known || channels == 0) fail("expected integers of 16, 24 or 32 bits, or floats");
    } else if (bytes.compare(at, 4, "data") == 0) {
      if (channels == 0) fail("expected the chunk fmt before the chunk data");
      const std::size_t width = bits / 8, step = width * channels;
      for (std::size_t i = 0; i + step <= size && begin + i + step <= bytes.size(); i += step) {
        const std::uint32_t n = number(begin + i, width) << (32 - bits);
        read.samples.push_back(
            format == 3 ? std::bit_cast<float>(n)
                        : std::ldexp(static_cast<float>(std::bit_cast<std::int32_t>(n)), -31));
      }
      return read;
    }
    at = begin + size + size % 2;
  }
  fail("expected a chunk data, found none");
  return read;
}

/// Writes a file with floats of 32 bits.
inline void write_wav(const std::string& path, const wav_file& sound) {
  std::string bytes;
  const auto put = [&](std::uint32_t n, std::size_t size) {
    bytes.append(reinterpret_cast<const char*>(&n), size);
  };
  const auto data = static_cast<std::uint32_t>(4 * sound.samples.size());
  const auto rate = static_cast<std::uint32_t>(sound.rate);
  bytes += "RIFF";
  put(36 + data, 4);
  bytes += "WAVEfmt ";
  put(16, 4), put(3, 2), put(1, 2), put(rate, 4), put(4 * rate, 4), put(4, 2), put(32, 2);
  bytes += "data";
  put(data, 4);
  bytes.append(reinterpret_cast<const char*>(sound.samples.data()), data);
  lamina::write_file(path, bytes);
}
