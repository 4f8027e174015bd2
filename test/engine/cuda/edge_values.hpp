// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/edge_values.hpp - feeds edge values, such as NaN, equal numbers, infinities and
// numbers around 1e20, to a program with its gradients on a device and on the CPU, and compares the
// two. Used by the tests on the host and by the run on a device.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <list>
#include <string>
#include <vector>

#include "engine/cuda/train_both.hpp"

#include <lamina/program/variable_name.hpp>
#include <lamina/transform/append_backward.hpp>

namespace test {

/// Options of edges_apart().
struct edge_options {
  double tolerance = 1e-5, margin = 0;
  std::vector<std::vector<int>>
      lengths{};  // the sequence lengths of each domain; 1 for domains without a list
  // in the order of P; parameters without values are random
  std::vector<std::vector<float>> parameters{};
};

/// The memory layout of the variables of a plan.
template <int Variables>
struct layout_table {
  lamina::variable_layout of[lamina::at_least_one(Variables)];
};
template <class Plan, int Variables>
constexpr layout_table<Variables> layouts_of() {
  layout_table<Variables> table{};
  for (int v = 0; v < Variables; ++v)
    table.of[v] = lamina::layout_of<Plan>(Plan::lowered.variables[v].root);
  return table;
}

/// The part of edges_apart() that makes feeds and compares results. It does not depend on the type
/// of the program, so it is compiled once, not once for each of hundreds of programs.
class edge_comparison {
 public:
  /// `derived` is the program that runs, such as a program with its gradients.
  edge_comparison(const lamina::program_view& derived, const edge_options& options)
      : p_(derived), options_(options) {}

  /// Converts the values of data i, given row by row, to the bytes that a machine reads.
  const std::byte* feed(int i, const std::vector<double>& given) {
    std::vector<char>& to = bytes_.emplace_back();
    lamina::engine::cpu::with_type(p_.variables[p_.data[i]].type, [&]<class T>(T) {
      to.resize(given.size() * sizeof(T));
      for (std::size_t k = 0; k < given.size(); ++k) {
        const T x = static_cast<T>(given[k]);
        std::memcpy(to.data() + k * sizeof(T), &x, sizeof(T));
      }
    });
    return reinterpret_cast<const std::byte*>(to.data());
  }
  /// The offsets of the `parents` sequences of domain d.
  const std::vector<int>& sequences(int d, int parents) {
    const std::size_t number = static_cast<std::size_t>(d - lamina::batch::domain - 1);
    std::vector<int>& to = offsets_.emplace_back(1, 0);
    for (int i = 0; i < parents; ++i)
      to.push_back(to.back() + (number < options_.lengths.size()
                                    ? options_.lengths[number][static_cast<std::size_t>(i)]
                                    : 1));
    return to;
  }
  /// Whether variable v is the gradient of a data variable, which is compared in addition to the
  /// outputs.
  bool is_compared(int v) const {
    const lamina::variable_desc& d = p_.variables[v];
    return d.kind == lamina::variable_kind::gradient && d.number < 0 && d.block == 0 &&
           p_.variables[d.of].kind == lamina::variable_kind::data;
  }
  /// Compares n rows of a variable on the CPU, x, and on a device, y.
  void compare(int v, int n, const float* x, const lamina::variable_layout& a, const float* y,
               const lamina::variable_layout& b) {
    namespace cuda = lamina::engine::cuda;
    for (int r = 0; r < n; ++r)
      for (int j = 0; j < a.columns; ++j) {
        const std::ptrdiff_t row = r;
        compare_numbers(v, r, j, cuda::load_number(x, a.type, row * a.stride + j),
                        cuda::load_number(y, b.type, row * b.stride + j));
      }
  }
  /// Compares two gradients of a parameter, x and y, both in the layout of the CPU, which stores
  /// weights in panels.
  void compare(int v, const lamina::parameter_layout& layout, const float* x, const float* y) {
    for (int r = 0; r < layout.rows; ++r)
      for (int j = 0; j < layout.columns; ++j) {
        const std::ptrdiff_t at =
            layout.panel
                ? lamina::engine::cpu::panel_index<float>(layout.rows, layout.columns, r, j)
                : static_cast<std::ptrdiff_t>(r) * lamina::padded(layout.columns) + j;
        compare_numbers(v, r, j, static_cast<double>(x[at]), static_cast<double>(y[at]));
      }
  }
  /// An upper bound of the numbers that the gradient of a parameter occupies in memory.
  static std::size_t size_of(const lamina::parameter_layout& layout) {
    return static_cast<std::size_t>(
               lamina::engine::cpu::panels_floats(layout.rows, layout.columns)) +
           static_cast<std::size_t>(layout.rows * lamina::padded(layout.columns));
  }
  const std::string& apart() const { return apart_; }

  /// The message of an error, without the name of the layer and of the feed.
  static std::string said_by(const lamina::error& e) {
    std::string said = e.what();
    said.erase(std::min(said.find(" (for "), said.size()));
    // A kernel on a device does not always know the name of the feed.
    const std::size_t feed = said.find(", feed '");
    if (feed != said.npos) said.erase(feed, said.find(':', feed) - feed);
    return said;
  }
  /// Compares the error messages of the two machines, which are empty if a machine threw no error.
  /// Returns a description of the difference, or "" if neither threw an error. If both threw an
  /// error with the same message, throws an error with that message.
  static std::string errors_apart(const std::string& on_cpu, const std::string& on_device) {
    if (on_device != on_cpu)
      return "\"" + on_cpu + "\" on the CPU, \"" + on_device + "\" on a device\n";
    if (!on_cpu.empty()) throw lamina::error(on_cpu);
    return "";
  }

 private:
  void compare_numbers(int v, int r, int j, double u, double w) {
    const bool same =
        std::isnan(u) ? std::isnan(w)
        : std::isinf(u)
            ? u == w
            : std::abs(u - w) <= options_.margin + options_.tolerance * std::abs(u) +
                                     options_.tolerance * std::numeric_limits<float>::min();
    if (same) return;
    char line[200];
    std::snprintf(line, sizeof line, "%s in row %d, column %d: %g on the CPU, %g on a device\n",
                  lamina::variable_name(p_, v).c_str(), r, j, u, w);
    apart_ += line;
  }

  lamina::program_view p_;
  const edge_options& options_;
  std::list<std::vector<int>> offsets_;
  std::list<std::vector<char>> bytes_;
  std::string apart_;
};

/// Runs P on the CPU and by the backend, with `given[i]` as the values of data i, row by row, in a
/// batch of `rows` rows. Compares the outputs and, if the program has a cost, the gradients of data
/// and of parameters. Infinities and NaN must be equal; other numbers may differ by options.margin
/// plus options.tolerance times the number. Returns a description of the differences. If both throw
/// an error with the same message, throws an error with that message.
template <class Backend, class P>
std::string edges_apart(P program, const std::vector<std::vector<double>>& given, int rows,
                        const edge_options& options = {}) {
  namespace cuda = lamina::engine::cuda;
  using derived =
      std::conditional_t<(P::desc.cost >= 0), lamina::with_backward<P, true>, lamina::for_test<P>>;
  using on_cpu = lamina::engine::cpu::machine<derived>;
  using on_device = cuda::machine<derived, Backend>;
  // Small tables of the layouts that are needed at run time, because each recorded program itself
  // takes 8 MB.
  using device_plan = typename on_device::plan_type;
  constexpr int variables = lamina::counts_of<derived>.variables;
  static constexpr auto on_cpu_at = layouts_of<lamina::plan<derived>, variables>();
  static constexpr auto on_device_at = layouts_of<device_plan, variables>();
  const lamina::program_view p = derived::view();
  laws::note_compared("cuda", p, true);

  lamina::model model{program, 3};
  for (std::size_t i = 0; i < options.parameters.size(); ++i) {
    auto w = model.get(static_cast<int>(i));
    std::copy(options.parameters[i].begin(), options.parameters[i].end(), w.data());
    model.set(static_cast<int>(i), w);
  }
  on_cpu expected({model.memory(), nullptr, nullptr});
  Backend backend;
  lamina::device_arrays<Backend> parameters(backend, lamina::parameters_in<P>(), 1);
  parameters.upload(model.memory());
  on_device found(backend, {parameters.pointers()});

  edge_comparison comparison(p, options);
  lamina::batch_view<P> batch;
  batch.rows.count[lamina::batch::domain] = rows;
  for (int d = lamina::batch::domain + 1; d < p.count.domains; ++d) {
    if (!lamina::plan<derived>::fed.of[d]) continue;
    const std::vector<int>& offsets =
        comparison.sequences(d, batch.rows.count[p.domains[d].parent]);
    batch.rows.count[d] = offsets.back();
    batch.rows.offsets[d] = offsets.data();
  }
  for (int i = 0; i < p.count.data; ++i)
    batch.data[i] = comparison.feed(i, given[static_cast<std::size_t>(i)]);
  const auto error_of = [&](auto& machine) -> std::string {
    try {
      batch.feed_to(machine);
      machine.run(~0ull, 3, 5);
    } catch (const lamina::error& e) {
      return edge_comparison::said_by(e);
    }
    return "";
  };
  const std::string refused = error_of(expected);
  const std::string told = edge_comparison::errors_apart(refused, error_of(found));
  if (!told.empty()) return told;

  const auto compare = [&](int v) {
    const lamina::variable_layout &a = on_cpu_at.of[v], &b = on_device_at.of[v];
    const int n = a.rows < 0 ? expected.rows(-a.rows) : a.rows;
    comparison.compare(v, n, expected.address(a), a, found.address(b), b);
  };
  for (int o = 0; o < p.count.outputs; ++o) compare(p.outputs[o]);
  for (int v = 0; v < p.count.variables; ++v)
    if (comparison.is_compared(v)) compare(v);
  const lamina::program_view recorded = P::view();
  for (int i = 0; recorded.cost >= 0 && i < recorded.count.parameters; ++i) {
    const lamina::parameter_layout& layout = lamina::parameter_table<P>::table.of[i];
    const float *const x = expected.gradient(i), *const from = found.gradient(i);
    if (x == nullptr || from == nullptr) continue;
    std::vector<float> y(edge_comparison::size_of(layout));
    parameters.download_one(i, from, y.data());
    comparison.compare(recorded.parameters[i].variable, layout, x, y.data());
  }
  return comparison.apart();
}

}  // namespace test
