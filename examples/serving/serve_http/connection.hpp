// SPDX-License-Identifier: Apache-2.0
// serve_http/connection.hpp - a connection of HTTP/1.1: whole requests, one after the
// other, each within its time.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "request_head.hpp"
#include <poll.h>
#include <sys/socket.h>

namespace serve_http {

using clock_type = std::chrono::steady_clock;

/// A socket, and what has come from it but was not read yet: the beginning of the next request may
/// come together with the end of this one. Does not own the socket.
class connection {
 public:
  /// `ended`: a descriptor that is readable, or closed at its other end, as soon as connections
  /// that wait for a request shall end.
  connection(int socket, int ended) : socket_(socket), ended_(ended) {}

  int socket() const { return socket_; }

  /// Waits for the first byte of a request. Returns false if there will be none: the client has
  /// ended, the time has passed, or the server ends.
  bool begins(clock_type::time_point until) {
    // A client may end the request before with an empty line.
    for (;;) {
      while (unread().starts_with("\r\n")) at_ += 2;
      const bool is_half = unread() == "\r";
      if (!unread().empty() && !is_half) return true;
      if (fill(until, true) != found::bytes) return false;
    }
  }

  /// The head of the request that has begun. Throws refusal.
  request_head read_head(clock_type::time_point until) {
    head_finder finder;
    std::size_t size = 0;
    while ((size = finder.end_in(unread())) == 0) {
      switch (fill(until, true)) {
        case found::bytes:
          break;
        case found::late:
          throw refusal{408, "expected the head within the time for a request, found a part"};
        case found::stop:
          throw refusal{503, "the server ends"};
        case found::end:
          throw refusal{400, "expected a whole head, found a part"};
      }
    }
    request_head made = head_reader(unread().substr(0, size)).take();
    at_ += size;
    return made;
  }

  /// Reads the body of `head`, of which it keeps the first `most` bytes. Returns how many there
  /// were; throws refusal, also if there are more than 4 * most: a client reads the answer when it
  /// has sent all, so a body that is somewhat too long is read too.
  std::uint64_t read_body(const request_head& head, std::size_t most, clock_type::time_point until,
                          std::string& body) {
    const refusal too_long{
        413, "expected a body of at most " + std::to_string(most) + " bytes, found more"};
    const std::uint64_t last = 4 * static_cast<std::uint64_t>(most);
    if (head.length > (head.waits_for_answer ? most : last)) throw too_long;
    if (head.waits_for_answer && head.has_body() && unread().empty() &&
        !send("HTTP/1.1 100 Continue\r\n\r\n", until))
      throw refusal{408, "expected a client that reads"};
    if (!head.in_chunks) {
      take(head.length, most, until, body);
      return head.length;
    }
    std::uint64_t all = 0;
    for (;;) {
      const std::string line = take_line(until);
      // What follows a semicolon are extensions, which nobody knows.
      const std::uint64_t size =
          digits_of(std::string_view(line).substr(0, line.find(';')), 16, "size of a chunk");
      if (size == 0) break;
      if (size > last - all) throw too_long;
      take(size, most, until, body);
      all += size;
      if (!take_line(until).empty()) throw refusal{400, "expected the end of a chunk"};
    }
    std::size_t fields = 0;
    for (std::string line = take_line(until); !line.empty(); line = take_line(until)) {
      head_reader::field_of(line);  // of no use here, but it must be one
      if (++fields > most_fields)
        throw refusal{431, "expected at most " + std::to_string(most_fields) +
                               " fields after the chunks, found more"};
    }
    return all;
  }

  /// Returns false if the client takes no more, or not in time.
  bool send(std::string_view data, clock_type::time_point until) {
    while (!data.empty()) {
      const auto sent = ::send(socket_, data.data(), data.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent > 0) {
        data.remove_prefix(static_cast<std::size_t>(sent));
        continue;
      }
      if (sent < 0 && errno == EINTR) continue;
      if (sent == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) return false;
      std::array<pollfd, 1> wait{{{socket_, POLLOUT, 0}}};
      if (!poll_until(wait, until)) return false;
    }
    return true;
  }

  /// Says that no more comes, and reads what the client still sends: a socket that is closed with
  /// bytes in it makes the client's system throw the answer away.
  void end_answers() {
    ::shutdown(socket_, SHUT_WR);
    const auto until = clock_type::now() + std::chrono::seconds(1);
    for (std::size_t more = 0; more < 1 << 24;) {
      at_ = come_.size();
      if (fill(until, false) != found::bytes) return;
      more += unread().size();
    }
  }

 private:
  enum class found { bytes, end, late, stop };

  std::string_view unread() const { return std::string_view(come_).substr(at_); }

  /// Waits for one of `on` until then. Returns false if it is too late.
  template <std::size_t N>
  static bool poll_until(std::array<pollfd, N>& on, clock_type::time_point until) {
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock_type::now());
      if (left.count() <= 0) return false;
      const auto most = static_cast<long long>(3600000);
      const int ready = ::poll(
          on.data(), N, static_cast<int>((std::min)(static_cast<long long>(left.count()), most)));
      if (ready > 0) return true;
    }
  }

  /// Waits for more bytes, or, if `until_stop`, for the end of the server.
  found fill(clock_type::time_point until, bool until_stop) {
    if (at_ == come_.size()) {
      come_.clear();
      at_ = 0;
    } else if (at_ > 1 << 16) {
      come_.erase(0, at_);
      at_ = 0;
    }
    for (;;) {
      std::array<pollfd, 2> wait{{{socket_, POLLIN, 0}, {until_stop ? ended_ : -1, POLLIN, 0}}};
      if (!poll_until(wait, until)) return found::late;
      if (wait[1].revents != 0) return found::stop;
      const std::size_t before = come_.size();
      come_.resize(before + (1 << 14));
      const auto came = ::recv(socket_, come_.data() + before, 1 << 14, MSG_DONTWAIT);
      come_.resize(before + static_cast<std::size_t>((std::max)(came, decltype(came){0})));
      if (came > 0) return found::bytes;
      if (came == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK))
        return found::end;
    }
  }
  /// The same within a body.
  void need_more(clock_type::time_point until) {
    switch (fill(until, false)) {
      case found::bytes:
        return;
      case found::end:
        throw refusal{400, "expected the whole body, found a part"};
      default:
        throw refusal{408, "expected the body within the time for a request, found a part"};
    }
  }

  /// Reads `size` bytes to `body`, as far as that has room for `most`.
  void take(std::uint64_t size, std::size_t most, clock_type::time_point until, std::string& body) {
    while (size > 0) {
      if (unread().empty()) need_more(until);
      const auto part =
          static_cast<std::size_t>((std::min)(size, static_cast<std::uint64_t>(unread().size())));
      body.append(unread().substr(0, (std::min)(part, most - body.size())));
      at_ += part;
      size -= part;
    }
  }
  /// A line within chunks, without its end.
  std::string take_line(clock_type::time_point until) {
    for (std::size_t i = 0;; ++i) {
      while (unread().size() < i + 1) need_more(until);
      const auto c = static_cast<unsigned char>(unread()[i]);
      if ((i > 0 && unread()[i - 1] == '\r') != (c == '\n') ||
          (c < ' ' && c != '\t' && c != '\r' && c != '\n') || c == 0x7f || i > 1000)
        throw refusal{400, "expected a line of a body in chunks, found another one"};
      if (c == '\n') {
        std::string line(unread().substr(0, i - 1));
        at_ += i + 1;
        return line;
      }
    }
  }

  const int socket_, ended_;
  std::string come_;
  std::size_t at_ = 0;
};

}  // namespace serve_http
