// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/edge_values.hpp - edge values, such as NaN, ties, infinities and numbers around
// 1e20, fed to a program with its gradients on a device and on the CPU. For tests on the host and
// for a run on a device.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "engine/cuda/train_both.hpp"

#include <lamina/program/variable_name.hpp>
#include <lamina/transform/append_backward.hpp>

namespace test {

/// What else edges_apart is told.
struct edge_options {
  double tolerance = 1e-5, margin = 0;
  std::vector<std::vector<int>>
      lengths{};  // of the sequences of each domain; 1 where none is given
  std::vector<std::vector<float>> parameters{};  // in the order of P; random where none is given
};

/// How the variables of a plan lie.
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

/// Data i of P is `given[i]`, row by row, in a batch of `rows`. Returns what is different:
/// infinities and NaN have to be equal, other numbers to their own digits but for the margin.
/// Outputs are compared and, of a program that returns a cost, gradients of data and of parameters.
/// Throws an error of both that says the same.
template <class Backend, class P>
std::string edges_apart(P program, const std::vector<std::vector<double>>& given, int rows,
                        const edge_options& options = {}) {
  namespace cuda = lamina::engine::cuda;
  using derived =
      std::conditional_t<(P::desc.cost >= 0), lamina::with_backward<P, true>, lamina::for_test<P>>;
  using on_cpu = lamina::engine::cpu::machine<derived>;
  using on_device = cuda::machine<derived, Backend>;
  // Tables of what is looked up at run time: the recorded programs themselves have 8 MB each.
  static constexpr auto desc = lamina::freeze<derived::desc.count>(derived::desc);
  static constexpr auto recorded = lamina::freeze<P::desc.count>(P::desc);
  using device_plan = typename on_device::plan_type;
  static constexpr auto on_cpu_at = layouts_of<lamina::plan<derived>, desc.count.variables>();
  static constexpr auto on_device_at = layouts_of<device_plan, desc.count.variables>();
  laws::note_compared("cuda", derived::view(), true);

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

  lamina::batch_view<P> batch;
  batch.rows.count[lamina::batch::domain] = rows;
  std::vector<std::vector<int>> offsets(static_cast<std::size_t>(desc.count.domains));
  for (int d = lamina::batch::domain + 1; d < desc.count.domains; ++d) {
    if (!lamina::plan<derived>::fed.of[d]) continue;
    const std::size_t number = static_cast<std::size_t>(d - lamina::batch::domain - 1);
    std::vector<int>& to = offsets[static_cast<std::size_t>(d)];
    to.push_back(0);
    for (int i = 0; i < batch.rows.count[desc.domains[d].parent]; ++i)
      to.push_back(to.back() + (number < options.lengths.size()
                                    ? options.lengths[number][static_cast<std::size_t>(i)]
                                    : 1));
    batch.rows.count[d] = to.back();
    batch.rows.offsets[d] = to.data();
  }
  std::vector<std::vector<char>> bytes;
  for (int i = 0; i < desc.count.data; ++i) {
    std::vector<char>& to = bytes.emplace_back();
    const std::vector<double>& from = given[static_cast<std::size_t>(i)];
    lamina::engine::cpu::with_type(desc.variables[desc.data[i]].type, [&]<class T>(T) {
      to.resize(from.size() * sizeof(T));
      for (std::size_t k = 0; k < from.size(); ++k) {
        const T x = static_cast<T>(from[k]);
        std::memcpy(to.data() + k * sizeof(T), &x, sizeof(T));
      }
    });
    batch.data[i] = reinterpret_cast<const std::byte*>(to.data());
  }
  const auto error_of = [&](auto& machine) -> std::string {
    try {
      batch.feed_to(machine);
      machine.run(~0ull, 3, 5);
    } catch (const lamina::error& e) {
      // A place names the layer, too.
      const std::string said = e.what();
      return said.substr(0, said.find(" (for "));
    }
    return "";
  };
  const std::string refused = error_of(expected), told = error_of(found);
  if (told != refused) return "\"" + refused + "\" on the CPU, \"" + told + "\" on a device\n";
  if (!refused.empty()) throw lamina::error(refused);

  std::string apart;
  const auto compare_numbers = [&](int v, int r, int j, double u, double w) {
    const bool same =
        std::isnan(u) ? std::isnan(w)
        : std::isinf(u)
            ? u == w
            : std::abs(u - w) <= options.margin + options.tolerance * std::abs(u) +
                                     options.tolerance * std::numeric_limits<float>::min();
    if (same) return;
    char line[200];
    std::snprintf(line, sizeof line, "%s in row %d, column %d: %g on the CPU, %g on a device\n",
                  lamina::variable_name(derived::view(), v).c_str(), r, j, u, w);
    apart += line;
  };
  const auto compare = [&](int v) {
    const lamina::variable_layout a = on_cpu_at.of[v], b = on_device_at.of[v];
    const int n = a.rows < 0 ? expected.rows(-a.rows) : a.rows;
    const float *const x = expected.address(a), *const y = found.address(b);
    for (int r = 0; r < n; ++r)
      for (int j = 0; j < a.columns; ++j) {
        compare_numbers(
            v, r, j, cuda::load_number(x, a.type, r * static_cast<std::ptrdiff_t>(a.stride) + j),
            cuda::load_number(y, b.type, r * static_cast<std::ptrdiff_t>(b.stride) + j));
      }
  };
  for (int o = 0; o < desc.count.outputs; ++o) compare(desc.outputs[o]);
  for (int v = 0; v < desc.count.variables; ++v) {
    const auto& d = desc.variables[v];
    if (d.kind == lamina::variable_kind::gradient && d.number < 0 && d.block == 0 &&
        desc.variables[d.of].kind == lamina::variable_kind::data)
      compare(v);
  }
  for (int i = 0; recorded.cost >= 0 && i < recorded.count.parameters; ++i) {
    const lamina::parameter_layout& p = lamina::parameter_table<P>::table.of[i];
    const float *const x = expected.gradient(i), *const from = found.gradient(i);
    if (x == nullptr || from == nullptr) continue;
    // Both as the CPU has them, weights in panels.
    std::vector<float> y(
        static_cast<std::size_t>(lamina::engine::cpu::panels_floats(p.rows, p.columns)) +
        static_cast<std::size_t>(p.rows * lamina::padded(p.columns)));
    parameters.download_one(i, from, y.data());
    for (int r = 0; r < p.rows; ++r)
      for (int j = 0; j < p.columns; ++j) {
        const std::ptrdiff_t at =
            p.panel ? lamina::engine::cpu::panel_index<float>(p.rows, p.columns, r, j)
                    : static_cast<std::ptrdiff_t>(r) * lamina::padded(p.columns) + j;
        compare_numbers(recorded.parameters[i].variable, r, j, static_cast<double>(x[at]),
                        static_cast<double>(y[static_cast<std::size_t>(at)]));
      }
  }
  return apart;
}

}  // namespace test
