// SPDX-License-Identifier: Apache-2.0
// serve_http/listening_server.hpp - cpp-httplib's server, which gets whole requests only,
// takes bursts of connections, and ends without losing any.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "connection.hpp"
#include "infer_protocol.hpp"
#include "request_head.hpp"
#include <httplib.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>
#if defined(__linux__)
#include <linux/filter.h>
#endif

namespace serve_http {

/// A request whose end is known, as cpp-httplib reads it, and the way back for its answer.
class whole_request : public httplib::Stream {
 public:
  whole_request(connection& to, std::string_view head, std::string_view body,
                clock_type::duration time)
      : to_(to), head_(head), body_(body), time_(time) {}

  // Newer versions have more of these functions than older ones, so none says that it overrides.
  virtual bool is_readable() const { return true; }
  virtual bool is_writable() const { return true; }
  virtual bool wait_readable() const { return true; }
  virtual bool wait_writable() const { return true; }
  virtual bool is_peer_alive() const { return true; }
  virtual time_t duration() const { return 0; }
  virtual ssize_t read(char* to, std::size_t size) {
    std::string_view& from = head_.empty() ? body_ : head_;
    const std::size_t part = from.copy(to, size);
    from.remove_prefix(part);
    return static_cast<ssize_t>(part);
  }
  virtual ssize_t write(const char* from, std::size_t size) {
    if (until_ == clock_type::time_point{}) until_ = clock_type::now() + time_;
    return to_.send({from, size}, until_) ? static_cast<ssize_t>(size) : -1;
  }
  virtual void get_remote_ip_and_port(std::string& ip, int& port) const {
    find(::getpeername, ip, port);
  }
  virtual void get_local_ip_and_port(std::string& ip, int& port) const {
    find(::getsockname, ip, port);
  }
  virtual socket_t socket() const { return to_.socket(); }

 private:
  template <class F>
  void find(F name_of, std::string& ip, int& port) const {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    const auto any = reinterpret_cast<sockaddr*>(&address);
    char host[NI_MAXHOST] = "", number[NI_MAXSERV] = "0";
    if (name_of(to_.socket(), any, &size) == 0)
      ::getnameinfo(any, size, host, sizeof host, number, sizeof number,
                    NI_NUMERICHOST | NI_NUMERICSERV);
    ip = host;
    port = std::atoi(number);
  }

  connection& to_;
  std::string_view head_, body_;
  const clock_type::duration time_;
  clock_type::time_point until_{};  // of the answer, from its first byte
};

/// cpp-httplib reads requests itself where this class does not come between: it takes two lengths,
/// leaves the body of a GET to be the next request, and loses those that come in one packet. So
/// here it gets one request at a time, whole, in one form (request_head::text).
class listening_server : public httplib::Server {
 public:
  struct limits {
    clock_type::duration idle{};     ///< until a connection without a request ends
    clock_type::duration request{};  ///< for the head, for the body, and for sending the answer
    std::size_t body = 0;            ///< bytes
  };
  /// The request that a thread answers.
  struct answered {
    clock_type::time_point begin{};  ///< when its head was whole
    bool ends_connection = false;    ///< after the answer, which says so
  };

  listening_server() {
    if (::pipe(ended_) != 0) throw lamina::error("serve_http: expected a pipe, found none");
  }
  ~listening_server() override {
    end_connections();
    ::close(ended_[0]);
  }

  void set_limits(const limits& l) { limits_ = l; }
  /// Called with the status of each answer that no handler gives.
  void set_refused(std::function<void(int)> f) { refused_ = std::move(f); }

  /// The request that the calling thread answers, in a handler.
  static answered& current() {
    thread_local answered one;
    return one;
  }

  /// httplib lets 5 connections at a time wait until it takes them, fewer than a burst has.
  void accept_bursts() { ::listen(svr_sock_, SOMAXCONN); }

  /// Takes no more connections, as if the port was closed; open ones go on. Server::stop() would
  /// close connections too whose request was not read yet.
  void refuse_connections() {
#if defined(__linux__)
    // What the system has accepted by itself, and httplib has not, would be lost with the socket.
    // So drop the first packets (SYN without ACK) of new connections, and let httplib take the
    // rest.
    sock_filter code[] = {BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),  // the flags in a TCP head
                          BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, 0), BPF_STMT(BPF_RET | BPF_K, 0xffffffff)};
    const sock_fprog filter{5, code};
    ::setsockopt(svr_sock_, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
#endif
    ::shutdown(svr_sock_, SHUT_RDWR);  // ends the loop that accepts
  }
  /// Ends connections that wait for a request or for the rest of its head, and each other one after
  /// its answer.
  void end_connections() {
    svr_sock_ = INVALID_SOCKET;
    if (ended_[1] >= 0) ::close(ended_[1]);  // all that wait for ended_[0] see it
    ended_[1] = -1;
  }

 private:
  bool process_and_close_socket(socket_t socket) override {
    connection c(socket, ended_[0]);
    try {
      while (c.begins(clock_type::now() + limits_.idle) && answer_one(c)) {
      }
    } catch (const std::exception&) {  // no memory for this one: the others go on
    }
    ::close(socket);
    return true;
  }

  /// Answers a request. Returns whether the connection goes on.
  bool answer_one(connection& c) {
    std::string method;
    bool goes_on = false;
    try {
      request_head head = c.read_head(clock_type::now() + limits_.request);
      method = head.method;
      answered& mine = current();
      mine = {clock_type::now(), !head.keeps_open};
      std::string body;
      const bool fits =
          c.read_body(head, limits_.body, mine.begin + limits_.request, body) <= limits_.body;
      if (fits)
        goes_on = answer_whole(c, head, body);
      else  // read to its end, so what follows is the next request
        goes_on = refuse(c, {413, too_long()}, method, head.keeps_open);
      if (mine.ends_connection) goes_on = false;
    } catch (const refusal& r) {
      refuse(c, r, method, false);
    }
    if (!goes_on) c.end_answers();
    return goes_on;
  }

  bool answer_whole(connection& c, const request_head& head, const std::string& body) {
    const std::string text = head.text(body.size());
    whole_request request(c, text, body, limits_.request);
    bool closed = false;
    // With addresses in newer versions.
    return [&](auto& to) {
      if constexpr (requires { this->process_request(to, false, closed, nullptr); })
        return this->process_request(to, false, closed, nullptr);
      else {
        std::string remote, local;
        int remote_port = 0, local_port = 0;
        to.get_remote_ip_and_port(remote, remote_port);
        to.get_local_ip_and_port(local, local_port);
        return this->process_request(to, remote, remote_port, local, local_port, false, closed,
                                     nullptr);
      }
    }(request);
  }

  std::string too_long() const {
    return "expected a body of at most " + std::to_string(limits_.body) + " bytes, found more";
  }

  /// Answers without a handler. Returns whether the connection goes on.
  bool refuse(connection& c, const refusal& r, const std::string& method, bool keeps_open) {
    if (refused_) refused_(r.status);
    const std::string body = error_body(r.what);
    const bool sent = c.send(
        "HTTP/1.1 " + std::to_string(r.status) + ' ' + reason_of(r.status) +
            "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
            (r.status == 405 ? "\r\nAllow: GET, HEAD, POST" : "") +
            (keeps_open ? "" : "\r\nConnection: close") + "\r\n\r\n" +
            (method == "HEAD" ? "" : body),
        clock_type::now() + limits_.request);
    return sent && keeps_open;
  }
  static const char* reason_of(int status) {
    switch (status) {
      case 405:
        return "Method Not Allowed";
      case 408:
        return "Request Timeout";
      case 411:
        return "Length Required";
      case 413:
        return "Content Too Large";
      case 414:
        return "URI Too Long";
      case 417:
        return "Expectation Failed";
      case 431:
        return "Request Header Fields Too Large";
      case 501:
        return "Not Implemented";
      case 503:
        return "Service Unavailable";
      case 505:
        return "HTTP Version Not Supported";
      default:
        return "Bad Request";
    }
  }

  limits limits_;
  std::function<void(int)> refused_;
  int ended_[2] = {-1, -1};
};

}  // namespace serve_http
