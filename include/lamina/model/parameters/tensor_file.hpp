// SPDX-License-Identifier: Apache-2.0
// lamina/model/parameters/tensor_file.hpp - the format of models and checkpoints: a file of named
// arrays.
//
// All numbers are little-endian and have 64 bits. The file begins with "LAMINA\0\2", the size of
// the header, and the number of entries. For each entry follow the length of the name, the name
// padded with zeros to a multiple of 8 bytes, the dtype, the rank, and the dimensions. The header
// ends with zeros, so that its size is a multiple of 64 bytes, and with its checksum as the last
// number; the checksum is computed with 0 in its own position. After the header follow the elements
// of each entry, padded with zeros to a multiple of 64 bytes, and at the end the checksum of all
// elements, whose seed is the header's checksum. The writer writes a temporary file and renames it,
// so that a reader never sees an incomplete file. The reader checks the header before it allocates
// memory, and returns all entries or throws.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/arrays/raw_bytes.hpp>
#include <lamina/core/dtype.hpp>
#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/files/checksum.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/core/files/little_endian.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// A named array.
struct tensor_entry {
  std::string name;
  dtype type = dtype::float32;
  std::vector<std::uint64_t> dims;
  raw_bytes bytes;

  /// Makes an entry that contains one number.
  static tensor_entry number(std::string name, std::uint64_t value) {
    tensor_entry e{std::move(name), dtype::int64, {1}, raw_bytes(8)};
    std::memcpy(e.bytes.data(), &value, 8);
    return e;
  }
  /// Makes an entry that contains a text.
  static tensor_entry letters(std::string name, std::string_view value) {
    return {std::move(name), dtype::uint8, {value.size()}, raw_bytes(value)};
  }
  std::uint64_t as_number() const {
    std::uint64_t value = 0;
    if (bytes.size() == 8) std::memcpy(&value, bytes.data(), 8);
    return value;
  }
};

namespace detail {

inline constexpr std::string_view tensor_file_magic{"LAMINA\0", 7};
inline constexpr char tensor_file_version = 2;  // the byte after the magic

constexpr std::uint64_t whole_stripes(std::uint64_t bytes) {
  return (bytes + checksum::stripe - 1) / checksum::stripe * checksum::stripe;
}
/// Returns the checksum of a header, computed with 0 as the last number.
LAMINA_API_COLD std::uint64_t sum_of_header(const char* header, std::size_t size);

/// Reads a file that write_tensor_file has written.
class tensor_file_reader {
 public:
  explicit tensor_file_reader(binary_reader& from) : from_(from) {}

  LAMINA_API LAMINA_COLD std::vector<tensor_entry> read();

  /// The following functions are the steps of read(). read_header() returns the entries without
  /// data; then read_data() or verify_data() must be called for each entry in order; finish()
  /// checks the checksum of all data and throws format_error if it is wrong.
  LAMINA_API LAMINA_COLD std::vector<tensor_entry> read_header();
  /// Returns the sizes of the entries' data in bytes.
  const std::vector<std::uint64_t>& sizes() const { return sizes_; }
  /// Reads the data of an entry, `size` bytes, and adds them to the checksum piece by piece, while
  /// each piece is in the cache.
  LAMINA_API LAMINA_COLD void read_data(tensor_entry& to, std::uint64_t size);
  /// Reads the data of an entry and adds them to the checksum without storing them.
  LAMINA_API LAMINA_COLD void verify_data(std::uint64_t size);
  LAMINA_API LAMINA_COLD void finish();

 private:
  static constexpr std::uint64_t piece = 1 << 18;

  LAMINA_API LAMINA_COLD void add_data(char* to, std::uint64_t count);
  /// Adds the last bytes of an entry, which do not fill a stripe.
  LAMINA_API LAMINA_COLD void add_rest(const char* rest, std::uint64_t count);

  LAMINA_API LAMINA_COLD static std::string content(binary_reader& from, const char* what);
  /// Reads type and dimensions; returns the size of the elements in bytes.
  LAMINA_API LAMINA_COLD static std::uint64_t read_shape(binary_reader& from, tensor_entry& e);

  binary_reader& from_;
  std::vector<std::uint64_t> sizes_;
  checksum sum_{0};
};

/// Returns the header of a file with these entries, and sets `sum` to its checksum.
LAMINA_API_COLD std::string tensor_file_header(const std::vector<tensor_entry>& entries,
                                               std::uint64_t& sum);

#if LAMINA_DEFINES

std::uint64_t sum_of_header(const char* header, std::size_t size) {
  char last[checksum::stripe] = {};
  std::memcpy(last, header + size - checksum::stripe, checksum::stripe - 8);
  checksum sum;
  sum.add(header, size - checksum::stripe);
  sum.add(last, checksum::stripe);
  return sum.value();
}

std::vector<tensor_entry> tensor_file_reader::read() {
  std::vector<tensor_entry> entries = read_header();
  for (std::size_t i = 0; i < entries.size(); ++i) read_data(entries[i], sizes_[i]);
  finish();
  return entries;
}

std::vector<tensor_entry> tensor_file_reader::read_header() {
  const std::uint64_t size = from_.left();
  if (size < 24) from_.fail(text("expected at least 24 bytes, found ") << size);
  const std::string first = from_.bytes(8, "the first bytes");
  if (!first.starts_with(tensor_file_magic))
    from_.fail_at(0, "expected a lamina file, found other first bytes");
  if (first[7] != tensor_file_version)
    from_.fail_at(7, text("expected a lamina file of version ")
                         << int{tensor_file_version} << ", found version "
                         << int{static_cast<unsigned char>(first[7])});
  const std::uint64_t header = from_.number<std::uint64_t>("the size of the header");
  if (header < checksum::stripe || header % checksum::stripe != 0 || header > size - 8)
    from_.fail_at(8, text("expected the size of a header in a file of ")
                         << size << " bytes, found " << header);
  from_.window(0, size, "the file");
  const std::string bytes = from_.bytes(header, "the header");
  const std::uint64_t sum = sum_of_header(bytes.data(), header);
  if (from_little_endian<std::uint64_t>(bytes.data() + header - 8) != sum)
    from_.fail_at(header - 8, "the header's checksum does not match: the file is damaged");

  binary_reader table(bytes, from_.path());
  table.window(16, header - 24, "the header");
  std::vector<tensor_entry> entries;
  sizes_.clear();
  std::uint64_t expected = header + 8;
  for (std::uint64_t n = table.number<std::uint64_t>("number of entries"); n > 0; --n) {
    tensor_entry& e = entries.emplace_back();
    e.name = content(table, "name");
    table.bytes((8 - e.name.size() % 8) % 8, "zeros after a name");
    sizes_.push_back(read_shape(table, e));
    expected += whole_stripes(sizes_.back());
    if (expected > size)
      table.fail(text("'") << e.name << "': expected " << sizes_.back()
                           << " bytes of data, found a file of " << size);
  }
  if (expected != size)
    from_.fail_at(header, text("expected a file of ") << expected << " bytes, found " << size);
  sum_ = checksum(sum);
  return entries;
}

void tensor_file_reader::read_data(tensor_entry& to, std::uint64_t size) {
  to.bytes.resize(size);
  char* const data = to.bytes.data();
  for (std::uint64_t had = 0; had < size; had += piece)
    add_data(data + had, (std::min)(piece, size - had));
  add_rest(data + size - size % checksum::stripe, size % checksum::stripe);
  convert_little_endian(data, size, static_cast<std::size_t>(size_of(to.type)));
}

void tensor_file_reader::verify_data(std::uint64_t size) {
  raw_bytes one((std::min)(piece, size));
  std::uint64_t count = 0;
  for (std::uint64_t had = 0; had < size; had += piece)
    add_data(one.data(), count = (std::min)(piece, size - had));
  add_rest(one.data() + count - size % checksum::stripe, size % checksum::stripe);
}

void tensor_file_reader::finish() {
  const std::uint64_t at = from_.offset();
  if (from_.number<std::uint64_t>("checksum") != sum_.value())
    from_.fail_at(at, "the checksum does not match: the file is damaged");
}

void tensor_file_reader::add_data(char* to, std::uint64_t count) {
  from_.read(to, count, "data");
  sum_.add(to, count / checksum::stripe * checksum::stripe);
}

void tensor_file_reader::add_rest(const char* rest, std::uint64_t count) {
  if (count == 0) return;
  char last[checksum::stripe];
  std::memcpy(last, rest, count);
  from_.read(last + count, checksum::stripe - count, "zeros after data");
  sum_.add(last, checksum::stripe);
}

std::string tensor_file_reader::content(binary_reader& from, const char* what) {
  return from.bytes(from.number<std::uint64_t>(what), what);
}

std::uint64_t tensor_file_reader::read_shape(binary_reader& from, tensor_entry& e) {
  const std::uint64_t type = from.number<std::uint64_t>("dtype");
  e.type = static_cast<dtype>(type);
  if (type > 6 && type != 20 && type != 21) from.fail(text("expected a dtype, found ") << type);
  const std::uint64_t rank = from.number<std::uint64_t>("rank");
  if (rank > 16) from.fail(text("expected a rank of at most 16, found ") << rank);
  std::uint64_t size = static_cast<std::uint64_t>(size_of(e.type));
  for (std::uint64_t d = 0; d < rank; ++d) {
    e.dims.push_back(from.number<std::uint64_t>("dimension"));
    if (e.dims.back() != 0 && size > (std::uint64_t{1} << 48) / e.dims.back())
      from.fail("dimensions are too large");
    size *= e.dims.back();
  }
  return size;
}

std::string tensor_file_header(const std::vector<tensor_entry>& entries, std::uint64_t& sum) {
  std::string header(tensor_file_magic);
  header += tensor_file_version;
  append_little_endian(header, std::uint64_t{0});
  append_little_endian(header, std::uint64_t{entries.size()});
  for (const tensor_entry& e : entries) {
    append_little_endian(header, std::uint64_t{e.name.size()});
    header += e.name;
    header.resize((header.size() + 7) / 8 * 8);
    append_little_endian(header, static_cast<std::uint64_t>(e.type));
    append_little_endian(header, std::uint64_t{e.dims.size()});
    for (const std::uint64_t d : e.dims) append_little_endian(header, d);
  }
  header.resize(whole_stripes(header.size() + 8));
  const auto set = [&](std::size_t at, std::uint64_t value) {
    convert_little_endian(&value, sizeof value, sizeof value);
    std::memcpy(&header[at], &value, sizeof value);
  };
  set(8, header.size());
  sum = sum_of_header(header.data(), header.size());
  set(header.size() - 8, sum);
  return header;
}

#endif  // LAMINA_DEFINES

}  // namespace detail

/// Writes entries to a file. An existing file stays as it is until the new file is complete. Throws
/// lamina::error with the path if the file cannot be written.
LAMINA_API_COLD void write_tensor_file(const file_path& path,
                                       const std::vector<tensor_entry>& entries);

/// Returns the entries of a file that write_tensor_file has written. Throws format_error with path,
/// offset and reason if the file is damaged or has another format, and lamina::error if it does not
/// exist.
LAMINA_API_COLD std::vector<tensor_entry> read_tensor_file(const file_path& path);

#if LAMINA_DEFINES

void write_tensor_file(const file_path& path, const std::vector<tensor_entry>& entries) {
  std::uint64_t sum = 0;
  const std::string header = detail::tensor_file_header(entries, sum);
  binary_writer file(path.string());
  file.write(header);
  checksum all(sum);
  for (const tensor_entry& e : entries) {
    const char zeros[checksum::stripe] = {};
    const detail::little_endian_bytes bytes(e.bytes.data(), e.bytes.size(),
                                            static_cast<std::size_t>(size_of(e.type)));
    file.write(bytes.view());
    file.write(zeros, detail::whole_stripes(bytes.size()) - bytes.size());
    all.add(bytes.data(), bytes.size());
  }
  file.number(all.value());
  file.finish();
}

std::vector<tensor_entry> read_tensor_file(const file_path& path) {
  binary_reader from(path.string());
  return detail::tensor_file_reader(from).read();
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina
