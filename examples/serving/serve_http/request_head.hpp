// SPDX-License-Identifier: Apache-2.0
// serve_http/request_head.hpp - the head of a request of HTTP/1.1, read so that there is
// one way only to tell where the request ends: RFC 9112, sections 2 to 7.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace serve_http {

/// Thrown for bytes that are not a request, or for one that this server does not take.
struct refusal {
  int status;
  std::string what;  ///< what was expected, and found
};

/// Limits in bytes, and in a number of fields.
inline constexpr std::size_t longest_line = 8190, longest_head = 1 << 16, most_fields = 100;

/// A name of a method or of a field.
inline bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}
/// Whether `text` is `wanted`, which is in lower case, in any case.
inline bool is_word(std::string_view text, std::string_view wanted) {
  return std::equal(text.begin(), text.end(), wanted.begin(), wanted.end(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}
inline std::string_view without_spaces_around(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}
/// A whole number of digits alone, to the base 10 or 16. Throws refusal.
inline std::uint64_t digits_of(std::string_view text, int base, const char* place) {
  std::uint64_t value = 0;
  const auto end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value, base);
  // from_chars takes no sign for an unsigned number, and no 0x.
  if (read.ec != std::errc() || read.ptr != end)
    throw refusal{400, std::string(place) + ": expected a whole number of digits, found " +
                           std::string(text.substr(0, 60))};
  return value;
}

/// Finds the end of a head while its bytes arrive, and looks at each byte once.
class head_finder {
 public:
  /// `found` are all bytes since the beginning of the head. Returns the length of the head with the
  /// empty line at its end; 0: more bytes must come. Throws refusal for a byte that no head has: a
  /// line ends with CR and LF, as what takes one of them alone for an end sees other lines.
  std::size_t end_in(std::string_view found) {
    for (; at_ < found.size(); ++at_) {
      const auto c = static_cast<unsigned char>(found[at_]);
      const bool after_return = at_ > 0 && found[at_ - 1] == '\r';
      if (after_return != (c == '\n'))
        throw refusal{400, "expected lines that end with CR and LF, found one of them alone"};
      if ((c < ' ' && c != '\t' && c != '\r' && c != '\n') || c == 0x7f)
        throw refusal{400, "expected a request of HTTP/1.1, found a control character"};
      if (c == '\n') {
        if (at_ - line_ == 1) return at_ + 1;
        line_ = at_ + 1;
        ++lines_;
      } else if (at_ - line_ > longest_line) {
        throw refusal{lines_ == 0 ? 414 : 431, "expected lines of at most " +
                                                   std::to_string(longest_line) +
                                                   " bytes, found a longer one"};
      }
      if (at_ > longest_head || lines_ > most_fields + 1)
        throw refusal{431, "expected a head of at most " + std::to_string(most_fields) +
                               " fields and " + std::to_string(longest_head) +
                               " bytes, found more"};
    }
    return 0;
  }
  /// Whether the line of the request has come.
  bool has_request_line() const { return lines_ > 0; }

 private:
  std::size_t at_ = 0, line_ = 0, lines_ = 0;
};

/// A head, and how many bytes follow it.
struct request_head {
  std::string method, target;
  std::vector<std::pair<std::string, std::string>> fields;  ///< but those of the framing
  std::uint64_t length = 0;                                 ///< of the body, if it is not in chunks
  bool has_length = false;                                  ///< as a number in the head
  bool in_chunks = false;                                   ///< the body says itself where it ends
  bool keeps_open = true;                                   ///< the connection, after the answer
  bool waits_for_answer = false;  ///< before the body is sent (100 Continue)

  /// Whether a body follows.
  bool has_body() const { return in_chunks || length > 0; }

  /// The same head with a body of `size` bytes, in the form that any reader understands alike.
  std::string text(std::size_t size) const {
    std::string made = method + ' ' + target + " HTTP/1.1\r\n";
    for (const auto& [name, value] : fields) made += name + ": " + value + "\r\n";
    if (!keeps_open) made += "Connection: close\r\n";
    if (method == "POST") made += "Content-Length: " + std::to_string(size) + "\r\n";
    return made + "\r\n";
  }
};

/// Reads a head that head_finder has found, with its empty line. Throws refusal. After each refusal
/// the connection must end: where the request ends is not known.
class head_reader {
 public:
  explicit head_reader(std::string_view text) {
    read_request_line(next_line(text));
    for (std::string_view line = next_line(text); !line.empty(); line = next_line(text))
      read_field(line);
    if (version_ == 1 && hosts_ != 1)
      throw refusal{400, "expected one field Host, found " + std::to_string(hosts_)};
    if (read_.in_chunks && read_.has_length)
      throw refusal{400, "expected Content-Length or Transfer-Encoding, found both"};
    if (read_.in_chunks && version_ == 0)
      throw refusal{400, "expected Content-Length in a request of HTTP/1.0, found chunks"};
    if (read_.method == "POST" && !read_.in_chunks && !read_.has_length)
      throw refusal{411, "expected Content-Length or chunks"};
    read_.keeps_open = !closes_ && (version_ == 1 || keeps_alive_);
    if (version_ == 0) read_.waits_for_answer = false;  // it would not know the answer
  }
  request_head take() { return std::move(read_); }

  /// One field: its name and its value. Throws refusal.
  static std::pair<std::string_view, std::string_view> field_of(std::string_view line) {
    const std::size_t colon = line.find(':');
    // A line that begins with a space continued the one above, long ago.
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
      throw refusal{400, "expected a line 'name: value', found " + std::string(line.substr(0, 60))};
    return {line.substr(0, colon), without_spaces_around(line.substr(colon + 1))};
  }

 private:
  static std::string_view next_line(std::string_view& text) {
    const std::size_t end = text.find("\r\n");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 2);
    return line;
  }

  void read_request_line(std::string_view line) {
    const std::size_t first = line.find(' '), last = line.rfind(' ');
    const std::string_view version = line.substr(last + 1);
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (first == std::string_view::npos || first == last || !is_token(line.substr(0, first)) ||
        version.size() != 8 || !version.starts_with("HTTP/") || !is_digit(version[5]) ||
        version[6] != '.' || !is_digit(version[7]))
      throw refusal{400,
                    "expected a request of HTTP/1.1, found " + std::string(line.substr(0, 60))};
    if (version[5] != '1') throw refusal{505, "expected HTTP/1.1, found " + std::string(version)};
    version_ = version[7] == '0' ? 0 : 1;
    read_.method = line.substr(0, first);
    std::string_view target = line.substr(first + 1, last - first - 1);
    if (is_word(target.substr(0, 7), "http://")) {  // as a proxy gets it
      target.remove_prefix(7);
      target.remove_prefix((std::min)(target.find('/'), target.size()));
      if (target.empty()) target = "/";
    }
    if (read_.method != "GET" && read_.method != "HEAD" && read_.method != "POST")
      throw refusal{405, "expected GET, HEAD or POST, found " + read_.method.substr(0, 60)};
    if (target.empty() || target[0] != '/' || target.find_first_of(" \t") != std::string_view::npos)
      throw refusal{400, "expected a path, found " + std::string(target.substr(0, 60))};
    read_.target = target;
  }

  void read_field(std::string_view line) {
    const auto [name, value] = field_of(line);
    // Of each of these the second might be the one that another reader takes.
    constexpr std::array<std::string_view, 7> single{
        "host",        "content-length",   "transfer-encoding",
        "expect",      "content-encoding", "inference-header-content-length",
        "content-type"};
    for (std::size_t i = 0; i < single.size(); ++i)
      if (is_word(name, single[i])) {
        if ((seen_ & 1u << i) != 0)
          throw refusal{400, "expected one field " + std::string(name) + ", found two"};
        seen_ |= 1u << i;
      }
    if (is_word(name, "host")) ++hosts_;
    if (is_word(name, "content-length")) {
      read_.length = digits_of(value, 10, "Content-Length");
      read_.has_length = true;
    } else if (is_word(name, "transfer-encoding")) {
      if (!is_word(value, "chunked"))
        throw refusal{
            501, "Transfer-Encoding: expected chunked, found " + std::string(value.substr(0, 60))};
      read_.in_chunks = true;
    } else if (is_word(name, "connection")) {
      read_connection(value);
    } else if (is_word(name, "expect")) {
      if (!is_word(value, "100-continue"))
        throw refusal{417,
                      "Expect: expected 100-continue, found " + std::string(value.substr(0, 60))};
      read_.waits_for_answer = true;
    } else if (!is_of_connection(name)) {
      read_.fields.emplace_back(name, value);
    }
  }
  void read_connection(std::string_view all) {
    while (!all.empty()) {
      const std::size_t comma = (std::min)(all.find(','), all.size());
      const std::string_view option = without_spaces_around(all.substr(0, comma));
      closes_ = closes_ || is_word(option, "close");
      keeps_alive_ = keeps_alive_ || is_word(option, "keep-alive");
      all.remove_prefix((std::min)(comma + 1, all.size()));
    }
  }
  /// Fields that speak of the connection, parts of an answer, which this server does not send, and
  /// names that cpp-httplib gives to what it knows of the client.
  static bool is_of_connection(std::string_view name) {
    constexpr std::array<std::string_view, 14> all{"keep-alive",
                                                   "proxy-connection",
                                                   "te",
                                                   "trailer",
                                                   "upgrade",
                                                   "range",
                                                   "if-range",
                                                   "remote_addr",
                                                   "remote_port",
                                                   "local_addr",
                                                   "local_port",
                                                   "http2-settings",
                                                   "sec-websocket-key",
                                                   "sec-websocket-version"};
    return std::any_of(all.begin(), all.end(), [&](auto one) { return is_word(name, one); });
  }

  request_head read_;
  int version_ = 1, hosts_ = 0;
  unsigned seen_ = 0;
  bool closes_ = false, keeps_alive_ = false;
};

}  // namespace serve_http
