// SPDX-License-Identifier: Apache-2.0
// lamina/io/npy.hpp - reads and writes one array in the format of numpy.save.
//
// The format is, in this order: "\x93NUMPY"; the version; the length of the header (u16, from
// version 2 on u32); the header; the elements. The header is the text of a Python dictionary with
// descr, fortran_order and shape. It is padded so that the elements begin at a multiple of 64 bytes
// and can be mapped into memory.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/files/binary_file.hpp>
#include <lamina/core/files/file.hpp>
#include <lamina/io/arrays/tensor_bytes.hpp>
#include <lamina/tensor/tensor.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

struct npy_header {
  dtype type = dtype::float32;
  bool are_big_endian = false;
  bool columns_first = false;  // column-major (Fortran) order
  std::vector<std::uint64_t> dims{};
};

struct npy_type {
  std::string_view word;
  dtype type;
};
inline constexpr npy_type npy_types[] = {
    {"|b1", dtype::boolean}, {"<i2", dtype::int16},   {"<i4", dtype::int32}, {"<i8", dtype::int64},
    {"<f4", dtype::float32}, {"<f8", dtype::float64}, {"|u1", dtype::uint8}, {"|i1", dtype::int8}};

/// Reads the dictionary in the header. It accepts only the form that numpy writes, not every Python
/// dictionary.
class npy_header_reader {
 public:
  npy_header_reader(const binary_reader& from, std::uint64_t offset, std::string_view all)
      : from_(from), offset_(offset), all_(all) {}

  npy_header read() {
    npy_header found;
    bool has_type = false, has_order = false, has_shape = false;
    take('{');
    while (!next_is('}')) {
      const std::size_t start = at_;
      const std::string_view key = string();
      take(':');
      bool& had = key == "descr"           ? has_type
                  : key == "fortran_order" ? has_order
                  : key == "shape"         ? has_shape
                                           : unknown(start, key);
      if (had) fail(start, text("expected one '") << key << "', found a second one");
      had = true;
      if (key == "descr")
        found.type = type(found.are_big_endian);
      else if (key == "fortran_order")
        found.columns_first = truth();
      else
        shape(found.dims);
      if (!next_is('}')) take(',');
    }
    take('}');
    skip_space();
    if (at_ != all_.size()) fail(at_, "expected the end of the header, found more");
    if (!has_type || !has_order || !has_shape)
      fail(0, "expected descr, fortran_order and shape in the header, found fewer");
    return found;
  }

 private:
  [[noreturn]] void fail(std::size_t at, const std::string& what) const {
    from_.fail_at(offset_ + at, what);
  }
  [[noreturn]] bool& unknown(std::size_t at, std::string_view key) const {
    fail(at, text("expected descr, fortran_order or shape, found '") << key << "'");
  }
  void skip_space() {
    while (at_ < all_.size() && std::string_view(" \n\r\t").find(all_[at_]) != all_.npos) ++at_;
  }
  bool next_is(char c) {
    skip_space();
    return at_ < all_.size() && all_[at_] == c;
  }
  void take(char c) {
    if (!next_is(c))
      fail(at_, text("expected '")
                    << std::string_view(&c, 1) << "' in the header of an array, found "
                    << (at_ < all_.size() ? "another character" : "its end"));
    ++at_;
  }
  std::string_view string() {
    skip_space();
    const char quote = next_is('"') ? '"' : '\'';
    take(quote);
    const std::size_t end = all_.find(quote, at_);
    if (end == std::string_view::npos) fail(at_, "expected the end of a text, found none");
    const std::string_view found = all_.substr(at_, end - at_);
    at_ = end + 1;
    return found;
  }
  dtype type(bool& are_big_endian) {
    skip_space();
    const std::size_t start = at_;
    if (next_is('[')) fail(start, "expected elements of one number each, found a structured type");
    const std::string_view word = string();
    // Programs other than numpy write "<i1", although a byte has no byte order, and "=f4", which
    // means the byte order of the machine.
    const auto is = [&](const npy_type& t) {
      return word == t.word || (word.size() == 3 && word.substr(1) == t.word.substr(1) &&
                                (word[0] == '<' || word[0] == '>' || word[0] == '='));
    };
    for (const npy_type& t : npy_types)
      if (is(t)) {
        are_big_endian = word[0] == '>';
        return t.type;
      }
    fail(start, text("expected elements of one of |b1 |i1 |u1 <i2 <i4 <i8 <f4 <f8, or of one with "
                     "> for <, found '")
                    << word << "'");
  }
  bool truth() {
    skip_space();
    for (const std::string_view word : {"True", "False"})
      if (all_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return word == "True";
      }
    fail(at_, "expected True or False, found neither");
  }
  void shape(std::vector<std::uint64_t>& dims) {
    take('(');
    bool comma = true;
    while (comma && !next_is(')')) {
      if (dims.size() == 16) fail(at_, "expected at most 16 dimensions, found more");
      dims.push_back(number());
      comma = next_is(',');
      if (comma) ++at_;
    }
    if (dims.size() == 1 && !comma) fail(at_, "expected ',' after the only dimension, found none");
    take(')');
  }
  std::uint64_t number() {
    const std::size_t start = at_;
    std::uint64_t value = 0;
    for (; at_ < all_.size() && all_[at_] >= '0' && all_[at_] <= '9'; ++at_) {
      if (value > (std::uint64_t{1} << 58))
        fail(start, "expected a dimension below 2^62, found more");
      value = 10 * value + static_cast<std::uint64_t>(all_[at_] - '0');
    }
    if (at_ == start) fail(start, "expected a dimension, found no digits");
    if (at_ < all_.size() && all_[at_] == 'L') ++at_;  // numbers of Python 2 end in L
    return value;
  }

  const binary_reader& from_;
  std::uint64_t offset_;
  std::string_view all_;
  std::size_t at_ = 0;
};

/// Returns the elements of a column-major array of shape `dims` in row-major order.
template <class T>
xt::xarray<T> rows_first(const xt::xarray<T>& from, const std::vector<std::uint64_t>& dims) {
  xt::xarray<T> to = xt::xarray<T>::from_shape(tensor_shape(dims.begin(), dims.end()));
  std::vector<std::size_t> index(dims.size());
  for (std::size_t i = 0; i < to.size(); ++i) {
    std::size_t at = 0;
    for (std::size_t d = dims.size(); d-- > 0;) at = at * dims[d] + index[d];
    to.flat(i) = from.flat(at);
    for (std::size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < dims[d]) break;
      index[d] = 0;
    }
  }
  return to;
}

}  // namespace detail

/// Reads an array at the position of `from`; `what` is its name in errors. Supports versions 1 to
/// 3, row-major and column-major order, and elements of the types of lamina in both byte orders.
/// Throws format_error for all other arrays.
inline tensor read_npy(binary_reader& from, std::string_view what) {
  const std::uint64_t begin = from.offset();
  if (from.bytes(6, what) != "\x93NUMPY")
    from.fail_at(begin, text("expected an array of numpy for ")
                            << what << ", found other first bytes");
  const int major = from.number<std::uint8_t>("the version of an array");
  const int minor = from.number<std::uint8_t>("the version of an array");
  if (major < 1 || major > 3 || minor != 0)
    from.fail_at(begin + 6, text("expected version 1.0, 2.0 or 3.0 of an array, found ")
                                << major << "." << minor);
  const std::uint64_t at_length = from.offset();
  const std::uint64_t length = major == 1 ? from.number<std::uint16_t>("the length of a header")
                                          : from.number<std::uint32_t>("the length of a header");
  if (length > 65535)
    from.fail_at(at_length, text("expected a header of at most 65535 bytes, found ") << length);
  const std::uint64_t at_header = from.offset();
  const std::string header = from.bytes(length, "the header of an array");
  const detail::npy_header read = detail::npy_header_reader(from, at_header, header).read();
  if (!read.columns_first || read.dims.size() < 2)
    return read_elements(from, read.type, read.dims, what, read.are_big_endian);
  const std::vector<std::uint64_t> turned(read.dims.rbegin(), read.dims.rend());
  return read_elements(from, read.type, turned, what, read.are_big_endian)
      .visit([&](const auto& a) { return tensor(detail::rows_first(a, read.dims)); });
}

/// Returns all bytes that precede the elements of a value in a file; their number is a multiple of
/// 64.
inline std::string npy_header_of(const tensor& value) {
  std::string_view word;
  for (const detail::npy_type& t : detail::npy_types)
    if (t.type == value.type()) word = t.word;
  std::string header = text("{'descr': '") << word << "', 'fortran_order': False, 'shape': (";
  const tensor_shape shape = value.shape();
  for (std::size_t d = 0; d < shape.size(); ++d)
    header += (d == 0 ? "" : " ") + std::to_string(shape[d]) +
              (d + 1 < shape.size() || d == 0 ? "," : "");
  header += "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(header.size() & 255) +
         static_cast<char>(header.size() >> 8) + header;
}

/// Writes a value to a file that numpy.load can read, also with mmap_mode. An existing file stays
/// intact until the new one is complete.
inline void save_npy(const file_path& path, const tensor& value) {
  binary_writer to(path.string());
  to.write(npy_header_of(value));
  write_elements(to, value);
  to.finish();
}

/// Reads a file that numpy.save or save_npy wrote. Throws format_error for damaged files.
inline tensor load_npy(const file_path& path) {
  binary_reader from(path.string());
  tensor value = read_npy(from, "an array");
  if (from.left() != 0)
    from.fail(text("expected the end of the file of one array, found ")
              << from.left() << " more bytes");
  return value;
}

}}  // namespace lamina
