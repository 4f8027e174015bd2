// SPDX-License-Identifier: Apache-2.0
// serve_http/server_metrics.hpp - counts and times of a server in Prometheus' text format.
#pragma once

#include <array>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>

namespace serve_http {

/// How often values were at most each of the bounds. Any number of threads may add.
template <std::size_t N>
class histogram {
 public:
  explicit histogram(const std::array<double, N>& bounds) : bounds_(bounds) {}

  void add(double value) {
    std::size_t i = 0;
    while (i < N && value > bounds_[i]) ++i;
    counts_[i].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
  }
  void write(std::string& to, const char* name, const char* help) const {
    to += std::string("# HELP ") + name + ' ' + help + "\n# TYPE " + name + " histogram\n";
    const std::string bucket = std::string(name) + "_bucket{le=\"";
    std::uint64_t below = 0;
    for (std::size_t i = 0; i <= N; ++i) {
      below += counts_[i].load(std::memory_order_relaxed);
      to += bucket + (i < N ? text_of(bounds_[i]) : "+Inf") + "\"} " + std::to_string(below) + '\n';
    }
    to += std::string(name) + "_sum " + text_of(sum_.load(std::memory_order_relaxed)) + '\n' +
          name + "_count " + std::to_string(below) + '\n';
  }

 private:
  /// A number in any locale.
  static std::string text_of(double value) {
    char text[40];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
  }

  const std::array<double, N> bounds_;
  std::array<std::atomic<std::uint64_t>, N + 1> counts_{};
  std::atomic<double> sum_ = 0;
};

struct server_metrics {
  std::array<std::atomic<std::uint64_t>, 600> by_code{};
  histogram<10> request_seconds{{.0005, .001, .0025, .005, .01, .025, .05, .1, .5, 2.5}};
  histogram<8> batch_rows{{1, 2, 4, 8, 16, 32, 64, 128}};
  histogram<8> batch_seconds{{.0001, .0005, .001, .005, .01, .05, .1, 1}};
  std::atomic<std::uint64_t> loads = 0, failed_loads = 0;
  std::atomic<int> connections = 0;

  static void value(std::string& to, const char* name, const char* type, const char* help,
                    std::uint64_t number) {
    to += std::string("# HELP ") + name + ' ' + help + "\n# TYPE " + name + ' ' + type + '\n' +
          name + ' ' + std::to_string(number) + '\n';
  }
  std::string write(std::size_t waiting, std::uint64_t version) const {
    std::string to =
        "# HELP lamina_requests_total Answers by status code.\n"
        "# TYPE lamina_requests_total counter\n";
    for (std::size_t code = 0; code < by_code.size(); ++code)
      if (const auto n = by_code[code].load(std::memory_order_relaxed); n > 0)
        to += "lamina_requests_total{code=\"" + std::to_string(code) + "\"} " + std::to_string(n) +
              '\n';
    request_seconds.write(to, "lamina_infer_seconds",
                          "From the head of a request for inference to its answer.");
    batch_rows.write(to, "lamina_batch_rows", "Rows of a mini-batch.");
    batch_seconds.write(to, "lamina_batch_seconds", "Time to compute a mini-batch.");
    value(to, "lamina_waiting_requests", "gauge", "Requests that wait for a worker.", waiting);
    value(to, "lamina_connections", "gauge", "Open connections, with those that wait for a thread.",
          static_cast<std::uint64_t>(connections.load()));
    value(to, "lamina_model_version", "gauge", "1, and one more after each model that was loaded.",
          version);
    value(to, "lamina_model_loads_total", "counter", "Models that were loaded while serving.",
          loads);
    value(to, "lamina_model_load_errors_total", "counter", "Models that could not be loaded.",
          failed_loads);
    return to;
  }
};

}  // namespace serve_http
