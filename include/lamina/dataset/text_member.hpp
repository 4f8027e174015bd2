// SPDX-License-Identifier: Apache-2.0
// lamina/dataset/text_member.hpp - divides a text file, or a member of an archive, into lines,
// fields and words, and reports errors with their positions.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/dataset/utf8.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace dataset {

/// A text file of a data set.
struct text_member {
  std::string path;         ///< the path of the file, or of the archive that contains it
  std::string name;         ///< the name in the archive; empty for a plain file
  std::string bytes;        ///< the text of the file
  std::uint64_t begin = 0;  ///< the offset of the text in the archive
  bool stored = true;       ///< uncompressed in the archive; if not, errors report `begin` only

  /// Throws format_error at a position of the text.
  [[noreturn]] LAMINA_COLD void fail(std::size_t position, const std::string& reason) const {
    lamina::text all;
    if (!name.empty()) all << "'" << name << "': ";
    throw format_error(path, begin + (stored ? position : 0), all << reason);
  }
  /// Throws format_error unless the text is UTF-8 without zero bytes and without a byte order mark.
  /// Zero bytes are a sign of UTF-16; a byte order mark would become a part of the first word.
  LAMINA_API LAMINA_COLD void check_utf8() const;
};

/// A line of a text, without its end.
struct text_line {
  const text_member* of;
  std::size_t number;  ///< the number of the line, from 1
  std::string_view text;

  /// Throws format_error at the beginning of the line, or at a part of it.
  [[noreturn]] LAMINA_COLD void fail(const std::string& reason) const { fail(text, reason); }
  [[noreturn]] LAMINA_COLD void fail(std::string_view part, const std::string& reason) const {
    of->fail(static_cast<std::size_t>(part.data() - of->bytes.data()),
             lamina::text("line ") << number << ": " << reason);
  }
};

/// The blanks between words, as in split() of Python's bytes.
inline constexpr std::string_view blanks = " \t\n\v\f\r";

/// Removes blanks at both ends of a text.
constexpr std::string_view trimmed(std::string_view all) {
  const std::size_t begin = all.find_first_not_of(blanks);
  if (begin == all.npos) return all.substr(0, 0);
  return all.substr(begin, all.find_last_not_of(blanks) + 1 - begin);
}

/// Calls `visit(word)` with each word of a text.
template <class Visit>
constexpr void for_each_word(std::string_view all, Visit visit) {
  for (std::size_t at = all.find_first_not_of(blanks); at != all.npos;) {
    const std::size_t end = all.find_first_of(blanks, at);
    visit(all.substr(at, end == all.npos ? end : end - at));
    at = end == all.npos ? end : all.find_first_not_of(blanks, end);
  }
}

/// Calls `visit(line)` for each line of a text. The last line may be without a line feed.
template <class Visit>
void for_each_line(const text_member& of, Visit visit) {
  const std::string_view all = of.bytes;
  std::size_t number = 0;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\n', at);
    visit(text_line{&of, ++number, all.substr(at, end == all.npos ? end : end - at)});
    at = end == all.npos ? all.size() : end + 1;
  }
}

/// Returns the first 40 bytes of a text in quotes, for an error.
LAMINA_COLD inline std::string in_quotes(std::string_view found) {
  return lamina::text("'") << found.substr(0, 40) << (found.size() > 40 ? "...'" : "'");
}

/// Splits a line into fields at `separator`, after removing blanks at both ends of the line. Throws
/// format_error unless there are N fields.
template <std::size_t N>
std::array<std::string_view, N> fields_of(const text_line& line, std::string_view separator) {
  std::array<std::string_view, N> fields;
  std::size_t count = 0;
  for (std::string_view left = trimmed(line.text);;) {
    const std::size_t end = left.find(separator);
    if (count < N) fields[count] = left.substr(0, end);
    ++count;
    if (end == left.npos) break;
    left = left.substr(end + separator.size());
  }
  if (count == 1 && fields[0].empty())
    line.fail(lamina::text("expected ") << N << " fields, found an empty line");
  if (count != N)
    line.fail(lamina::text("expected ")
              << N << " fields with " << (separator == "\t" ? "a tab" : in_quotes(separator))
              << " between them, found " << count);
  return fields;
}

/// Converts a field to a whole number. Throws format_error unless the field is a number from
/// `least` to `most`; the message calls it `what`.
LAMINA_API_COLD std::int64_t whole_number(const text_line& line, std::string_view field,
                                          std::string_view what, std::int64_t least,
                                          std::int64_t most);

#if LAMINA_DEFINES

void text_member::check_utf8() const {
  if (bytes.starts_with("\xef\xbb\xbf"))
    fail(0, "expected UTF-8 without a byte order mark, found one");
  const std::size_t zero = bytes.find('\0'), end = utf8_end(bytes);
  if (end < bytes.size() && end < zero)
    fail(end, lamina::text() << "expected UTF-8, found the byte "
                             << static_cast<unsigned>(static_cast<unsigned char>(bytes[end])));
  if (zero != bytes.npos) fail(zero, "expected UTF-8, found a byte of 0, as UTF-16 has");
}

std::int64_t whole_number(const text_line& line, std::string_view field, std::string_view what,
                          std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (failure != std::errc() || end != field.data() + field.size() || value < least || value > most)
    line.fail(field, lamina::text("expected ") << what << " from " << least << " to " << most
                                               << ", found " << in_quotes(field));
  return value;
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::dataset
