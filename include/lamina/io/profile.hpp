// SPDX-License-Identifier: Apache-2.0
// lamina/io/profile.hpp - the time of each group of a program: a table, and a trace for Perfetto.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/engine/cpu/schedule/timed_machine.hpp>
#include <lamina/io/report.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/gradient_machine.hpp>

namespace lamina::inline LAMINA_ABI {

/// Options of profile and profile_gradients.
struct profile_options {
  int runs = 10;  // number of timed runs; one run before is not timed
};

/// A fused group with its times, added up over all timed runs.
struct profiled_group {
  std::string what;        // as in plan_text()
  std::int64_t calls = 0;  // number of calls in all runs; several per run in a loop
  double seconds = 0;      // time of all calls together
  double flops = 0;        // per call; 0 without products or if row counts are unknown
  double bytes = 0;        // per call, of the arrays that it reads or writes
};

/// The times of a program's groups in some runs over one mini-batch.
struct program_profile {
  std::vector<profiled_group> groups;          // in the order of the schedule
  std::vector<engine::cpu::group_time> times;  // each call, in the order of time
  std::vector<engine::cpu::group_time> runs;   // each run; `group` is its number

  /// The seconds of all runs together.
  double seconds() const {
    double sum = 0;
    for (const auto& r : runs) sum += static_cast<double>(r.end - r.begin) * 1e-9;
    return sum;
  }
  /// A table with one line per group, the slowest first: milliseconds per run, the share of all
  /// groups, calls per run, GFLOP/s of products, GB/s of arrays.
  LAMINA_COLD std::string text() const {
    std::vector<const profiled_group*> order;
    double all = 0;
    for (const profiled_group& g : groups) {
      if (g.calls > 0) order.push_back(&g);
      all += g.seconds;
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto* a, const auto* b) { return a->seconds > b->seconds; });
    const double count = runs.empty() ? 1 : static_cast<double>(runs.size());
    lamina::text lines("   ms/run  share  calls/run  GFLOP/s     GB/s  group\n");
    for (const profiled_group* g : order) {
      const double calls = static_cast<double>(g->calls), time = (std::max)(g->seconds, 1e-12);
      lines.print("%9.4f", 1e3 * g->seconds / count);
      lines.print(" %5.1f%%", all > 0 ? 100 * g->seconds / all : 0);
      lines.print(" %10.1f", calls / count);
      lines.print(" %8.2f", calls * g->flops / time * 1e-9);
      lines.print(" %8.2f", calls * g->bytes / time * 1e-9) << "  " << g->what << "\n";
    }
    lines.print("%9.4f 100.0%%", 1e3 * all / count) << "  all groups; a run took ";
    return lines.print("%.4f ms\n", 1e3 * seconds() / count);
  }
  /// A trace in Chrome's JSON format, which https://ui.perfetto.dev and chrome://tracing open: the
  /// runs, and in each its groups. Times are in microseconds.
  std::string trace() const;
};

namespace detail {

/// Text as a JSON string.
LAMINA_COLD inline std::string json_text(std::string_view from) {
  constexpr const char* hex = "0123456789abcdef";
  std::string to = "\"";
  for (const char c : from) {
    const unsigned char u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') to += '\\';
    if (u >= 0x20)
      to += c;
    else
      to.append("\\u00").append(1, hex[u >> 4]).append(1, hex[u & 15]);
  }
  return to + "\"";
}

/// Adds up the times of a machine that ran over one mini-batch.
template <class Program, class Machine>
program_profile profile_of(Machine& machine, std::vector<engine::cpu::group_time> runs) {
  program_profile p;
  p.runs = std::move(runs);
  p.times = machine.clock().times();
  report_options sizes{.rows = machine.rows()};
  // Flops and bytes are known if the program has at most one row domain besides the batch.
  constexpr int domains = Program::desc.count.domains;
  if (domains == batch::domain + 2) sizes.tokens = machine.rows(batch::domain + 1);
  for (group_report& g : report_of<Program>(sizes).groups) {
    profiled_group& to = p.groups.emplace_back();
    to.what = std::move(g.what);
    if (domains > batch::domain + 2) continue;
    to.flops = g.flops;
    to.bytes = g.bytes;
  }
  for (const auto& t : p.times) {
    profiled_group& g = p.groups[static_cast<std::size_t>(t.group)];
    ++g.calls;
    g.seconds += static_cast<double>(t.end - t.begin) * 1e-9;
  }
  return p;
}

/// Runs once to allocate memory, and then times `runs` calls.
template <class Program, class Machine, class Run>
program_profile timed_runs(Machine& machine, const profile_options& options, Run&& run) {
  if (options.runs < 1)
    throw error(text() << "lamina: profile: expected at least one run, found " << options.runs);
  run();
  machine.clock().clear();
  std::vector<engine::cpu::group_time> runs;
  for (int i = 0; i < options.runs; ++i) {
    const std::int64_t begin = machine.clock().since_start();
    run();
    runs.push_back({i, begin, machine.clock().since_start()});
  }
  return profile_of<Program>(machine, std::move(runs));
}

}  // namespace detail

LAMINA_COLD inline std::string program_profile::trace() const {
  lamina::text all(
      "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n"
      "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"tid\": 1, "
      "\"args\": {\"name\": \"lamina\"}}");
  const auto add = [&](std::string_view name, const char* kind, const engine::cpu::group_time& t) {
    all << ",\n{\"ph\": \"X\", \"cat\": \"" << kind << "\", \"name\": " << detail::json_text(name)
        << ", \"pid\": 1, \"tid\": 1, \"ts\": ";
    all.print("%.3f", static_cast<double>(t.begin) * 1e-3) << ", \"dur\": ";
    all.print("%.3f", static_cast<double>(t.end - t.begin) * 1e-3)
        << ", \"args\": {\"" << kind << "\": " << t.group << "}}";
  };
  for (const auto& r : runs) add(std::string(lamina::text("run ") << r.group), "run", r);
  for (const auto& t : times) add(groups[static_cast<std::size_t>(t.group)].what, "group", t);
  return all << "\n]}\n";
}

/// Runs a model forward, in test mode, over one mini-batch some times and takes the time of each
/// fused group. Each group computes the whole mini-batch: programs that otherwise go through it in
/// tiles of rows (docs/architecture.md) take longer here.
///   const auto p = lamina::profile(model, batch);
///   std::puts(p.text().c_str());
///   lamina::write_file("trace.json", p.trace());
template <program_type P, std::ranges::range Batch>
program_profile profile(const model<P>& m, const Batch& samples,
                        const profile_options& options = {}) {
  using sample = std::ranges::range_value_t<const Batch&>;
  evaluator<P, engine::cpu::timed_machine<for_test<P>>> e{m};
  std::vector<std::vector<sample>> one(1);
  for (const auto& s : samples) one[0].push_back(s);
  return detail::timed_runs<for_test<P>>(e.machine(), options, [&] { e.test(one); });
}
/// Like profile, for the cost and its gradients, without updates.
template <program_type P, std::ranges::range Batch>
program_profile profile_gradients(const model<P>& m, const Batch& samples,
                                  const profile_options& options = {}) {
  gradient_machine<P, engine::cpu::timed_machine<gradient_program<P>>> g{m};
  return detail::timed_runs<gradient_program<P>>(g.machine(), options,
                                                 [&] { g.backward(samples); });
}

}  // namespace lamina::inline LAMINA_ABI
