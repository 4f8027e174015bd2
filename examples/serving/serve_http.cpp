// SPDX-License-Identifier: Apache-2.0
// serve_http - answers requests over HTTP with one model: JSON, raw tensors, metrics, a new model
//
//   examples/run serve_http                                  trains, then serves at port 8080
//   examples/run serve_http --train digits.lamina            trains, writes the file and ends
//   examples/run serve_http --model digits.lamina --port 80  serves the file
//
// docs/serving.md has requests for curl. SIGHUP reads the file again, SIGTERM ends the server after
// it has answered what it was asked.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "serve_http/digits_net.hpp"
#include "serve_http/infer_protocol.hpp"
#include "serve_http/listening_server.hpp"
#include "serve_http/server_metrics.hpp"
#include <CLI/CLI.hpp>
#include <httplib.h>
#include <pthread.h>
#include <sys/socket.h>

namespace serve = lamina::serve;
namespace reader = lamina::reader;
using namespace std::chrono_literals;
using serve_http::clock_type;
using serve_http::listening_server;

namespace {

struct options {
  std::string host = "127.0.0.1", name = "digits", model, train;
  int port = 8080, workers = 1, connections = 128, rows = 64, passes = 10;
  std::size_t waiting = 64, body = 1 << 20;
  int linger = 0;  // microseconds
  double seconds = 5, idle = 5, grace = 0, drain = 10;
  std::uint64_t seed = 0;
};

auto seconds(double s) {
  return std::chrono::duration_cast<clock_type::duration>(std::chrono::duration<double>(s));
}

/// httplib's threads, which counts the connections that they have or that wait for one.
class counted_threads : public httplib::TaskQueue {
 public:
  counted_threads(int threads, std::atomic<int>& open)
      : pool_(static_cast<std::size_t>(threads)), open_(open) {}
  /// void, or bool in newer versions.
  using enqueued = decltype(std::declval<httplib::ThreadPool&>().enqueue(std::function<void()>()));
  enqueued enqueue(std::function<void()> work) override {
    ++open_;
    return pool_.enqueue([this, work = std::move(work)] {
      work();
      --open_;
    });
  }
  void shutdown() override { pool_.shutdown(); }

 private:
  httplib::ThreadPool pool_;
  std::atomic<int>& open_;
};

class model_server {
 public:
  explicit model_server(const options& o)
      : o_(o),
        model_(first_model(),
               {.workers = o.workers,
                .queue = {.waiting = o.waiting,
                          .rows = o.rows,
                          .linger = std::chrono::microseconds(o.linger)},
                .on_batch = [this](const serve::batch_report& r) {
                  metrics_.batch_rows.add(r.rows);
                  metrics_.batch_seconds.add(std::chrono::duration<double>(r.time).count());
                }}) {
    set_limits();
    set_routes();
  }

  /// Serves until stop(). Returns false if the port is taken.
  bool run() {
    if (o_.port == 0)
      port_ = http_.bind_to_any_port(o_.host);
    else if (http_.bind_to_port(o_.host, o_.port))
      port_ = o_.port;
    if (port_ <= 0) {
      ended_ = true;
      return false;
    }
    http_.accept_bursts();
    std::printf("lamina: serving %s at http://%s:%d\n", o_.name.c_str(), o_.host.c_str(), port_);
    std::fflush(stdout);
    const bool served = http_.listen_after_bind() || stopping_;  // returns after the last answer
    ended_ = true;
    model_.close();
    return served;
  }

  /// Says that the server is not ready, and after the time of grace takes no more connections.
  /// Answers say from now on that their connection ends; run() returns
  /// when the last one has ended. Connections that go on are ended after the time for it.
  void stop() {
    stopping_ = true;
    while (!http_.is_running() && !ended_) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(seconds(o_.grace));
    if (ended_) return;
    http_.refuse_connections();
    for (const auto until = clock_type::now() + seconds(o_.drain);
         !ended_ && clock_type::now() < until;)
      std::this_thread::sleep_for(5ms);
    http_.end_connections();
  }

  /// Reads the file of the model again. The answers of one model never mix with those of another;
  /// if the file is damaged, the old one goes on. Returns its version.
  std::uint64_t load() {
    const std::lock_guard one_at_a_time(loading_);
    try {
      if (o_.model.empty())
        throw lamina::error("load: expected --model FILE at the start of the server, found none");
      const std::uint64_t version = model_.exchange(read_model());
      ++metrics_.loads;
      return version;
    } catch (...) {
      ++metrics_.failed_loads;
      throw;
    }
  }

 private:
  lamina::any_model read_model() const {
    lamina::model m{serve_http::served_net};
    m.load(o_.model);
    return m;
  }
  lamina::any_model first_model() const;

  void set_limits() {
    http_.new_task_queue = [this] {
      return new counted_threads(o_.connections, metrics_.connections);
    };
    http_.set_socket_options([](auto socket) {  // no SO_REUSEPORT: a second server is an error
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    http_.set_tcp_nodelay(true);
    http_.set_keep_alive_max_count(1000000);  // answers name both; this server does not count
    http_.set_keep_alive_timeout(static_cast<time_t>(o_.idle));
    http_.set_limits({seconds(o_.idle), seconds(o_.seconds), o_.body});
    http_.set_refused([this](int status) { count(status); });
    http_.set_error_handler([](const httplib::Request& q, httplib::Response& r) {
      if (r.body.empty() && !r.has_header("Content-Type"))  // those that httplib finds itself
        r.set_content(
            serve_http::error_body(r.status == 404 ? "expected a path of the server, found " +
                                                         q.path.substr(0, 200)
                                   : r.status == 413 ? "expected a shorter body"
                                                     : "expected a request of HTTP/1.1"),
            "application/json");
    });
    http_.set_exception_handler([](const auto&, httplib::Response& r, std::exception_ptr) {
      fail(r, 500, "the server could not compute the answer");
    });
    http_.set_post_routing_handler([this](const auto&, httplib::Response& r) {
      if (!stopping_) return;
      r.set_header("Connection", "close");
      listening_server::current().ends_connection = true;
    });
    http_.set_logger([this](const auto&, const httplib::Response& r) { count(r.status); });
  }
  void count(int status) {
    if (status > 0 && status < 600) ++metrics_.by_code[static_cast<std::size_t>(status)];
  }

  void set_routes() {
    using httplib::Request, httplib::Response;
    const auto json = [](Response& r, std::string body) {
      r.set_content(body, "application/json");
    };
    http_.Get("/v2", [=](const Request&, Response& r) {
      json(r, "{\"name\":\"lamina\",\"version\":\"" + std::to_string(LAMINA_VERSION_MAJOR) + "." +
                  std::to_string(LAMINA_VERSION_MINOR) + "." +
                  std::to_string(LAMINA_VERSION_PATCH) +
                  "\",\"extensions\":[\"binary_tensor_data\",\"model_repository\"]}");
    });
    http_.Get("/v2/health/live", [=](const Request&, Response& r) { json(r, "{\"live\":true}"); });
    const auto ready = [=, this](const Request&, Response& r) {
      r.status = stopping_ ? 503 : 200;
      json(r, stopping_ ? "{\"ready\":false}" : "{\"ready\":true}");
    };
    http_.Get("/v2/health/ready", ready);
    http_.Get("/v2/models/([^/]+)/ready", [=, this](const Request& q, Response& r) {
      if (is_model(q, r)) ready(q, r);
    });
    http_.Get("/v2/models/([^/]+)", [=, this](const Request& q, Response& r) {
      if (is_model(q, r)) json(r, serve_http::describe(model_.form(), o_.name, model_.version()));
    });
    http_.Post("/v2/models/([^/]+)/infer",
               [this](const Request& q, Response& r, const httplib::ContentReader& body) {
                 infer(q, r, body);
               });
    http_.Post("/v2/repository/models/([^/]+)/load",
               [=, this](const Request& q, Response& r, const httplib::ContentReader& read) {
                 std::string body;  // parameters for the load, of which this server has none
                 if (!read_body(q, r, read, body)) return;
                 if (!is_model(q, r)) return;
                 try {
                   json(r, "{\"model_version\":\"" + std::to_string(load()) + "\"}");
                 } catch (const lamina::error& e) {
                   fail(r, 400, e.what());
                 }
               });
    http_.Get("/metrics", [this](const Request&, Response& r) {
      r.set_content(metrics_.write(model_.waiting(), model_.version()),
                    "text/plain; version=0.0.4; charset=utf-8");
    });
  }

  static void fail(httplib::Response& r, int status, const std::string& what) {
    r.status = status;
    r.set_content(serve_http::error_body(what), "application/json");
  }
  bool is_model(const httplib::Request& q, httplib::Response& r) const {
    if (q.matches[1] == o_.name) return true;
    fail(r, 404, "expected the model " + o_.name + ", found " + q.matches[1].str().substr(0, 200));
    return false;
  }
  /// The value of a header that is a whole number; -1: there is none, -2: it is something else.
  static long long number_in(const httplib::Request& q, const char* header) {
    if (!q.has_header(header)) return -1;
    const std::string text = q.get_header_value(header);
    long long value = 0;
    const auto end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    return read.ec == std::errc() && read.ptr == end && value >= 0 ? value : -2;
  }
  /// Reads the body, which has come as a whole. If it is in an encoding, its size and whether it
  /// can be read are found only here. Otherwise answers and returns false.
  bool read_body(const httplib::Request& q, httplib::Response& r,
                 const httplib::ContentReader& read, std::string& body) const {
    if (q.is_multipart_form_data())
      return fail(r, 415, "expected JSON or application/octet-stream, found a form"), false;
    const bool whole = read([&](const char* data, std::size_t size) {
      if (size > o_.body - body.size()) return false;
      body.append(data, size);
      return true;
    });
    if (!whole && r.status >= 400)
      fail(r, r.status, "expected a body in the encoding that its head names");
    else if (!whole)
      fail(r, 413, "expected a body of at most " + std::to_string(o_.body) + " bytes, found more");
    return whole;
  }

  void infer(const httplib::Request& q, httplib::Response& r, const httplib::ContentReader& read) {
    const auto begin = listening_server::current().begin, until = begin + seconds(o_.seconds);
    std::string body;
    if (!read_body(q, r, read, body) || !is_model(q, r)) return;
    answer(q, r, std::move(body), until);
    metrics_.request_seconds.add(std::chrono::duration<double>(clock_type::now() - begin).count());
  }
  void answer(const httplib::Request& q, httplib::Response& r, std::string body,
              clock_type::time_point until) {
    const char* const head_length = "Inference-Header-Content-Length";
    try {
      const std::string type = q.get_header_value("Content-Type");
      const long long given = number_in(q, head_length);
      const bool raw = type.starts_with("application/octet-stream") && given <= 0;
      if (given < -1 || given > static_cast<long long>(body.size()))
        throw lamina::error(std::string(head_length) + ": expected a number of at most " +
                            std::to_string(body.size()) + ", found " +
                            q.get_header_value(head_length));
      serve_http::infer_request asked;
      if (raw) {
        asked = serve_http::read_raw(std::move(body), model_.form());
        if (q.has_param("output")) asked.model.outputs = {q.get_param_value("output")};
      } else {
        const std::string_view all = body;
        const std::size_t head = given < 0 ? all.size() : static_cast<std::size_t>(given);
        asked =
            serve_http::request_reader(all.substr(0, head), all.substr(head), model_.form()).take();
      }
      if (raw && q.get_header_value("Accept").starts_with("application/octet-stream")) {
        if (asked.model.outputs.empty())
          throw lamina::error(
              "request: expected ?output=NAME in the path for a raw answer, found "
              "none");
        const serve::model_answer found = model_.answer(std::move(asked.model), until);
        r.set_header("Model-Version", std::to_string(found.version));
        r.set_content(found.outputs[0].bytes, "application/octet-stream");
        return;
      }
      const serve::model_answer found = model_.answer(std::move(asked.model), until);
      const serve_http::infer_answer made = serve_http::write_answer(asked, found, o_.name);
      const bool binary = made.json_bytes < made.body.size();
      if (binary) r.set_header(head_length, std::to_string(made.json_bytes));
      r.set_content(made.body, binary ? "application/octet-stream" : "application/json");
    } catch (const serve::unavailable& e) {
      const bool late = e.why() == serve::unavailable::reason::late;
      if (!late) r.set_header("Retry-After", "1");
      fail(r, late ? 504 : 503, e.what());
    } catch (const std::range_error& e) {  // NaN or infinity, computed from finite numbers
      fail(r, 500, e.what());
    } catch (const lamina::error& e) {
      fail(r, 400, e.what());
    }
  }

  const options o_;
  serve_http::server_metrics metrics_;
  serve::batched_model model_;
  listening_server http_;
  std::mutex loading_;
  std::atomic<bool> stopping_ = false, ended_ = false;
  int port_ = 0;
};

/// Trains on handwritten digits, some seconds.
template <class Model>
void teach(Model& m, const options& o) {
  lamina::optimizer::adam{.learning_rate = 3e-3f}.train(
      m, lamina::dataset::digits::train() | reader::shuffle(2000) | reader::batch(32),
      {.passes = o.passes, .seed = o.seed});
}

lamina::any_model model_server::first_model() const {
  if (!o_.model.empty()) return read_model();
  lamina::model trained{serve_http::training_net, o_.seed};
  teach(trained, o_);
  return lamina::model{serve_http::served_net, lamina::share_parameters_of(trained)};
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App app("Answers requests over HTTP with one model: docs/serving.md");
  app.add_option("--model", o.model, "file with parameters; without it, the server trains first");
  app.add_option("--train", o.train, "train, write this file, and end");
  app.add_option("--passes", o.passes, "passes of the training")->check(CLI::Range(1, 10000));
  app.add_option("--seed", o.seed, "of the training");
  app.add_option("--name", o.name, "name of the model in paths");
  app.add_option("--host", o.host, "address; 0.0.0.0 is for all networks");
  app.add_option("--port", o.port, "0 takes a free one")->check(CLI::Range(0, 65535));
  app.add_option("--workers", o.workers, "threads that compute")->check(CLI::Range(1, 256));
  app.add_option("--rows", o.rows, "most rows of a mini-batch")->check(CLI::Range(1, 1 << 20));
  app.add_option("--linger", o.linger, "microseconds that a request waits for others")
      ->check(CLI::Range(0, 1000000));
  app.add_option("--connections", o.connections, "connections that are served at once")
      ->check(CLI::Range(1, 10000));
  app.add_option("--waiting", o.waiting, "requests that may wait; more are answered 503")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--body", o.body, "most bytes of a request")->check(CLI::Range(1, 1 << 30));
  app.add_option("--seconds", o.seconds, "for a request, from its head to its answer")
      ->check(CLI::Range(0.001, 3600.0));
  app.add_option("--idle", o.idle, "seconds until an idle connection ends")
      ->check(CLI::Range(1.0, 3600.0));
  app.add_option("--grace", o.grace, "seconds from SIGTERM until the port closes; not ready then")
      ->check(CLI::Range(0.0, 3600.0));
  app.add_option("--drain", o.drain,
                 "most seconds from there until connections end after their next answer")
      ->check(CLI::Range(0.0, 3600.0));
  CLI11_PARSE(app, argc, argv);

  std::signal(SIGPIPE, SIG_IGN);
  sigset_t signals;
  sigemptyset(&signals);
  for (const int s : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, s);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // for all threads: one of them waits for signals
  try {
    if (!o.train.empty()) {
      lamina::model trained{serve_http::training_net, o.seed};
      teach(trained, o);
      trained.save(o.train);
      return 0;
    }
    model_server server(o);
    std::thread waits([&] {
      for (;;) {
        int s = 0;
        sigwait(&signals, &s);
        if (s != SIGHUP) return server.stop();
        try {
          std::fprintf(stderr, "lamina: loaded version %llu\n",
                       static_cast<unsigned long long>(server.load()));
        } catch (const std::exception& e) {
          std::fprintf(stderr, "lamina: the old model goes on: %s\n", e.what());
        }
      }
    });
    const bool served = server.run();
    if (!served) {
      std::fprintf(stderr, "lamina: cannot serve at %s:%d\n", o.host.c_str(), o.port);
      pthread_kill(waits.native_handle(), SIGTERM);
    }
    waits.join();
    return served ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
