// SPDX-License-Identifier: Apache-2.0
// lamina/model/evaluation/test_sums.hpp - adds up the cost and the metrics of a test over
// mini-batches and processes.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/model/evaluation/metric_sums.hpp>
#include <lamina/model/evaluation/run_result.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Takes the place of the session in a test that this process runs alone.
struct no_world {};

/// Calls f(). If f throws, reports the error to the other processes of `all`, which then end too,
/// and rethrows.
template <class F>
void run_or_fail_all(no_world&, F&& f) {
  f();
}
template <class World, class F>
LAMINA_COLD void run_or_fail_all(World& all, F&& f) {
  LAMINA_TRY { f(); }
  LAMINA_CATCH(const std::exception& e) {
    all.fail(e.what());
    LAMINA_RETHROW;
  }
}

/// The sums of a test; P is the program in test mode.
template <class P>
class test_sums {
  using metrics = metric_rules<P>;

 public:
  std::int64_t samples() const { return all_.samples; }
  /// Adds the cost and the metrics of a mini-batch of n samples that a machine has run.
  template <class Machine>
  void add(Machine& m, int n, double cost) {
    all_.samples += n;
    all_.cost += static_cast<double>(n) * cost;
    for (int i = 0; i < metrics::count; ++i) {
      metric_sum one;
      metrics::add(one, m, i);
      metrics::extend(all_.of[i], one, n, i);
    }
  }
  /// Adds up the sums of all training processes; all of them must call it. If the sums are equal in
  /// all processes, each has read the whole data; they are then not added up, and the result has
  /// the same bits as with one process.
  template <class Machine>
  void all_reduce(Machine&, no_world&) {}
  template <class Machine, class World>
  LAMINA_COLD void all_reduce(Machine& m, World& all) {
    const std::size_t count = static_cast<std::size_t>(all.trainers());
    std::vector<sums> found(count);
    all.gather_trainers(&all_, sizeof all_, found.data());
    bool same = true;
    for (const sums& one : found) same = same && std::memcmp(&one, found.data(), sizeof one) == 0;
    if (same) return;
    const sums none{};  // a temporary object is an internal error of g++ 12
    all_ = none;
    for (const sums& one : found) {
      all_.samples += one.samples;
      all_.cost += one.cost;
      for (int i = 0; i < metrics::count && one.samples > 0; ++i) {
        all_.of[i].sums.add(one.of[i].sums);
        all_.of[i].numerator += one.of[i].numerator;
        all_.of[i].denominator += one.of[i].denominator;
      }
    }
    struct holder {
      Machine* of;
      Machine& machine() const { return *of; }
    } const own{&m};
    const holder* const machines[] = {&own};
    for (int i = 0; i < metrics::count; ++i)
      if (metrics::all.of[i].counts.positive >= 0)
        metrics::add_counts(all_.of[i], machines, i, [&](double* counts, std::size_t n) {
          std::vector<double> every(n * count);
          all.gather_trainers(counts, n * sizeof(double), every.data());
          for (std::size_t k = 0; k < n; ++k) counts[k] = 0;
          for (std::size_t k = 0; k < every.size(); ++k) counts[k % n] += every[k];
        });
  }
  /// Returns the mean cost and the metrics. Throws lamina::error if there were no samples.
  test_result result() const {
    if (all_.samples == 0)
      LAMINA_THROW error(
          "lamina: test: expected at least one mini-batch, found none: the reader is empty, or "
          "drop_last left nothing of it");
    test_result r;
    r.samples = all_.samples;
    r.cost = all_.cost / static_cast<double>(all_.samples);
    for (int i = 0; i < metrics::count; ++i)
      r.metrics.push_back(
          {std::string(program_metrics<P>::all.name[i]), metrics::value(all_.of[i], i)});
    return r;
  }

 private:
  struct sums {
    std::int64_t samples = 0;
    double cost = 0;
    metric_sum of[bound(metrics::count)] = {};
  };
  sums all_;
};

}}}  // namespace lamina::detail
