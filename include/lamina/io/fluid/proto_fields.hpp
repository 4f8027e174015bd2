// SPDX-License-Identifier: Apache-2.0
// lamina/io/fluid/proto_fields.hpp - reads and writes the fields of a protobuf message with
// protozero. Errors contain the offset of the field in the file.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// clang-format off
#include <lamina/core/simd/macros_hidden.hpp>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <lamina/core/simd/macros_shown.hpp>
// clang-format on

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// The bytes of the file that contains a message, so that errors can report offsets in the file.
struct message_source {
  const std::string& file;
  const char* begin;

  std::uint64_t offset(const char* at) const { return static_cast<std::uint64_t>(at - begin); }
};

/// Reads the fields of one message in order, and keeps the bytes of the fields that the caller does
/// not know.
class field_reader {
 public:
  field_reader(const message_source& source, protozero::data_view bytes, const char* message)
      : source_(source), reader_(bytes), begin_(bytes.data()), message_(message) {}

  std::uint64_t offset() const { return source_.offset(begin_); }

  /// Calls take(number of the field) for each field. `take` must read the field, or return false if
  /// it does not know the field; the bytes of such a field are appended to `unknown`.
  template <class F>
  void each(std::string& unknown, F take) {
    walk(take, [&](const char* first, std::size_t n) { unknown.append(first, n); });
  }
  /// Does the same, but skips unknown fields.
  template <class F>
  void each(F take) {
    walk(take, [](const char*, std::size_t) {});
  }
  std::string string() {
    return std::string(wire(protozero::pbf_wire_type::length_delimited, "text").get_string());
  }
  /// Returns a view of the bytes of a field.
  std::string_view bytes() {
    const protozero::data_view all =
        wire(protozero::pbf_wire_type::length_delimited, "bytes").get_view();
    return {all.data(), all.size()};
  }
  field_reader message(const char* name) {
    return {source_, wire(protozero::pbf_wire_type::length_delimited, name).get_view(), name};
  }
  std::int64_t integer() { return wire(protozero::pbf_wire_type::varint, "a number").get_int64(); }
  std::int32_t integer32() {
    return static_cast<std::int32_t>(integer());  // negative numbers have ten bytes
  }
  float real() { return wire(protozero::pbf_wire_type::fixed32, "a float").get_float(); }
  void integers(std::vector<std::int64_t>& to) {
    if (reader_.wire_type() == protozero::pbf_wire_type::length_delimited)
      for (const std::int64_t i : reader_.get_packed_int64()) to.push_back(i);
    else
      to.push_back(integer());
  }
  void reals(std::vector<float>& to) {
    if (reader_.wire_type() == protozero::pbf_wire_type::length_delimited)
      for (const float x : reader_.get_packed_float()) to.push_back(x);
    else
      to.push_back(real());
  }
  void doubles(std::vector<double>& to) {
    if (reader_.wire_type() == protozero::pbf_wire_type::length_delimited)
      for (const double x : reader_.get_packed_double()) to.push_back(x);
    else
      to.push_back(wire(protozero::pbf_wire_type::fixed64, "a double").get_double());
  }
  /// Throws format_error if a required field is missing, that is, if `found` is false.
  void require(bool found, const char* field) const {
    if (!found)
      throw format_error(source_.file, offset(),
                         text("expected the field ")
                             << field << " of " << message_ << ", found none");
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw format_error(source_.file, source_.offset(start_), what);
  }

 private:
  template <class F, class Keep>
  void walk(F& take, Keep keep) {
    for (;;) {
      start_ = reader_.data().data();
      try {
        if (!reader_.next()) return;
        check_numbers();
        if (take(reader_.tag())) continue;
        reader_.skip();
      } catch (const protozero::exception& e) {
        fail(text("expected a field of ")
             << message_ << ", found bytes that end or are none (" << e.what() << ")");
      }
      keep(start_, static_cast<std::size_t>(reader_.data().data() - start_));
    }
  }

  // Throws format_error for a tag or length of more than 32 bits. protozero truncates such numbers:
  // it would read a part of a field of more than 4 GB, and the remaining bytes of the field as
  // other fields.
  void check_numbers() const {
    const char* at = start_;
    const char* const end = reader_.data().data() + reader_.data().size();
    const std::uint64_t tag = protozero::decode_varint(&at, end);
    if (tag > 0xffffffffu)
      fail(text("expected a field of ")
           << message_ << ", found one whose number does not fit in 32 bits: " << (tag >> 3));
    if (reader_.wire_type() != protozero::pbf_wire_type::length_delimited) return;
    const std::uint64_t length = protozero::decode_varint(&at, end);
    const auto left = static_cast<std::uint64_t>(end - at);
    if (length > left)
      fail(text("expected a field of ")
           << message_ << ", found that field " << reader_.tag() << " has " << length
           << " bytes, of which " << left << " are there");
  }

  protozero::pbf_reader& wire(protozero::pbf_wire_type expected, const char* what) {
    if (reader_.wire_type() != expected)
      fail(text("expected ") << what << " in field " << reader_.tag() << " of " << message_
                             << ", found wire type " << static_cast<int>(reader_.wire_type()));
    return reader_;
  }

  const message_source& source_;
  protozero::pbf_reader reader_;
  const char* begin_;
  const char* start_ = nullptr;  // start of the current field
  const char* message_;
};

/// Writes the fields of one message; take() returns its bytes.
class message_writer {
 public:
  std::string take() { return std::move(bytes_); }

  message_writer& text(unsigned field, const std::string& value) {
    writer_.add_string(field, value);
    return *this;
  }
  message_writer& integer(unsigned field, std::int64_t value) {
    writer_.add_int64(field, value);
    return *this;
  }
  message_writer& real(unsigned field, float value) {
    writer_.add_float(field, value);
    return *this;
  }
  message_writer& flag(unsigned field, bool value) {
    if (value) writer_.add_bool(field, true);
    return *this;
  }
  message_writer& message(unsigned field, const std::string& value) {
    writer_.add_message(field, value);
    return *this;
  }
  message_writer& raw(const std::string& value) {
    bytes_ += value;
    return *this;
  }

 private:
  std::string bytes_;
  protozero::pbf_writer writer_{bytes_};
};

}}}  // namespace lamina::detail
