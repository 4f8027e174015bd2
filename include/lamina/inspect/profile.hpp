// SPDX-License-Identifier: Apache-2.0
// lamina/inspect/profile.hpp - measures the time of each group of a program, and returns the times
// as a table or as a trace for Perfetto.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/engine/cpu/schedule/timed_machine.hpp>
#include <lamina/inspect/report.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/gradient_machine.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Options of profile and profile_gradients.
struct profile_options {
  int runs = 10;  // number of timed runs, after one run that is not timed
};

/// A fused group and its time, summed over all timed runs.
struct profiled_group {
  std::string what;        // the description of the group, as in plan_text()
  std::string phase{};     // "forward", "backward", "update", or several joined by " + "
  std::int64_t calls = 0;  // number of calls in all runs; in a loop there are several per run
  double seconds = 0;      // time of all calls together
  double flops = 0;        // flops per call; 0 without products, or if numbers of rows are unknown
  double bytes = 0;        // size of the arrays that a call reads or writes
};

/// The times of a program's groups in some runs over one mini-batch.
struct program_profile {
  std::vector<profiled_group> groups;          // in the order of the schedule
  std::vector<engine::cpu::group_time> times;  // times of all calls, sorted by time
  std::vector<engine::cpu::group_time> runs;   // times of all runs; `group` is the run's number
  int threads = 1;                             // number of threads that computed the groups

  /// Returns the total time of all runs in seconds.
  double seconds() const {
    double sum = 0;
    for (const auto& r : runs) sum += static_cast<double>(r.end - r.begin) * 1e-9;
    return sum;
  }
  /// Returns a table with one line per group, the slowest first. The columns are milliseconds per
  /// run, the fraction of the total time, calls per run, GFLOP/s of products, and GB/s of arrays.
  /// If the program has several phases, a line per phase follows. With several threads,
  /// milliseconds and calls are sums over all threads.
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
    lamina::text lines("   ms/run  %time  calls/run  GFLOP/s     GB/s  group\n");
    for (const profiled_group* g : order) {
      const double calls = static_cast<double>(g->calls), time = (std::max)(g->seconds, 1e-12);
      lines.print("%9.4f", 1e3 * g->seconds / count);
      lines.print(" %5.1f%%", all > 0 ? 100 * g->seconds / all : 0);
      lines.print(" %10.1f", calls / count);
      lines.print(" %8.2f", calls * g->flops / time * 1e-9);
      lines.print(" %8.2f", calls * g->bytes / time * 1e-9) << "  " << g->what << "\n";
    }
    std::vector<std::pair<std::string_view, double>> phases;
    for (const profiled_group& g : groups) {
      if (g.calls == 0) continue;
      const auto same = [&](const auto& p) { return p.first == g.phase; };
      if (std::none_of(phases.begin(), phases.end(), same)) phases.emplace_back(g.phase, 0);
      std::find_if(phases.begin(), phases.end(), same)->second += g.seconds;
    }
    for (const auto& [phase, seconds] : phases) {
      if (phases.size() == 1) break;
      lines.print("%9.4f", 1e3 * seconds / count);
      lines.print(" %5.1f%%", all > 0 ? 100 * seconds / all : 0) << "  " << phase << "\n";
    }
    lines.print("%9.4f 100.0%%", 1e3 * all / count) << "  all groups";
    if (threads > 1) lines << " of " << threads << " threads";
    lines << "; a run took ";
    return lines.print("%.4f ms\n", 1e3 * seconds() / count);
  }
  /// Returns a trace in Chrome's JSON format, for https://ui.perfetto.dev and chrome://tracing. It
  /// has a track per thread, with the runs and the groups of each run. Times are in microseconds.
  std::string trace() const;
};

namespace detail {

/// Returns text as a JSON string.
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

/// Returns the phases of training (forward, backward, update) to which the operators of a group
/// belong.
LAMINA_COLD inline std::string phase_of(const plan_view& plan, int group) {
  bool has[3] = {};
  const group_desc& d = plan.group[group];
  for (int e = d.first; e < d.first + d.count; ++e) {
    const int op = plan.instructions[e].op;
    const op_role role = op < 0 ? op_role::forward : plan.program.operators[op].role;
    const bool updates = role == op_role::optimize || role == op_role::learning_rate;
    const bool is_backward = role == op_role::backward || role == op_role::loss_gradient;
    has[updates ? 2 : is_backward ? 1 : 0] = true;
  }
  constexpr const char* names[] = {"forward", "backward", "update"};
  std::string all;
  for (int i = 0; i < 3; ++i)
    if (has[i]) all += (all.empty() ? "" : " + ") + std::string(names[i]);
  return all;
}

/// Lists the groups of a program, with the flops and bytes of a call for the rows of a machine.
template <class Program, class Machine>
std::vector<profiled_group> groups_of(const Machine& machine) {
  std::vector<profiled_group> all;
  report_options sizes{.rows = machine.rows()};
  // Flops and bytes are computed only if the program has at most one row domain besides the batch.
  constexpr int domains = counts_of<Program>.domains;
  if (domains == batch::domain + 2) sizes.tokens = machine.rows(batch::domain + 1);
  constexpr plan_view plan = view_of_plan<Program>();
  for (group_report& g : report_of(plan, sizes).groups) {
    profiled_group& to = all.emplace_back();
    to.what = std::move(g.what);
    to.phase = phase_of(plan, static_cast<int>(all.size()) - 1);
    if (domains > batch::domain + 2) continue;
    to.flops = g.flops;
    to.bytes = g.bytes;
  }
  return all;
}

/// Adds the times of calls to their groups.
LAMINA_COLD inline void add_times(std::vector<profiled_group>& groups,
                                  const std::vector<engine::cpu::group_time>& times) {
  for (const auto& t : times) {
    profiled_group& g = groups[static_cast<std::size_t>(t.group)];
    ++g.calls;
    g.seconds += static_cast<double>(t.end - t.begin) * 1e-9;
  }
}

/// Sums the times of a machine that ran over one mini-batch.
template <class Program, class Machine>
program_profile profile_of(Machine& machine, std::vector<engine::cpu::group_time> runs) {
  program_profile p;
  p.runs = std::move(runs);
  p.times = machine.clock().times();
  p.groups = groups_of<Program>(machine);
  add_times(p.groups, p.times);
  return p;
}

/// Calls run() once to allocate memory, and then measures the times of options.runs calls.
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
  for (int i = 0; threads > 1 && i < threads; ++i)
    all << ",\n{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 1, \"tid\": " << i + 1
        << ", \"args\": {\"name\": \"thread " << i << "\"}}";
  const auto add = [&](std::string_view name, const char* kind, const engine::cpu::group_time& t) {
    all << ",\n{\"ph\": \"X\", \"cat\": \"" << kind << "\", \"name\": " << detail::json_text(name)
        << ", \"pid\": 1, \"tid\": " << t.thread + 1 << ", \"ts\": ";
    all.print("%.3f", static_cast<double>(t.begin) * 1e-3) << ", \"dur\": ";
    all.print("%.3f", static_cast<double>(t.end - t.begin) * 1e-3)
        << ", \"args\": {\"" << kind << "\": " << t.group;
    if (t.group < static_cast<int>(groups.size()) && kind[0] == 'g')
      all << ", \"phase\": \"" << groups[static_cast<std::size_t>(t.group)].phase << "\"";
    all << "}}";
  };
  for (const auto& r : runs) add(std::string(lamina::text("run ") << r.group), "run", r);
  for (const auto& t : times) add(groups[static_cast<std::size_t>(t.group)].what, "group", t);
  return all << "\n]}\n";
}

/// Runs a model forward, in test mode, several times over one mini-batch and measures the time of
/// each fused group. Each group computes the whole mini-batch. Outside of profile(), some programs
/// are computed in tiles of rows (docs/architecture.md); these are slower in profile().
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
/// Does the same as profile() for the cost and its gradients, without updates of the parameters.
template <program_type P, std::ranges::range Batch>
program_profile profile_gradients(const model<P>& m, const Batch& samples,
                                  const profile_options& options = {}) {
  gradient_machine<P, engine::cpu::timed_machine<gradient_program<P>>> g{m};
  return detail::timed_runs<gradient_program<P>>(g.machine(), options,
                                                 [&] { g.backward(samples); });
}

}}  // namespace lamina
