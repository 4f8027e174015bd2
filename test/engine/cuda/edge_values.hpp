// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/edge_values.hpp - edge values, such as NaN, ties, infinities and numbers around
// 1e20, fed to a program with its gradients at a place and on the CPU. For tests on the host and
// for a run on a device.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "engine/cuda/train_both.hpp"

#include <lamina/executor/variable_name.hpp>
#include <lamina/transform/append_backward.hpp>

namespace test {

/// Data i of P is `given[i]`, row by row; each sequence is one row of the batch. Returns what is
/// different: infinities and NaN have to be equal, other numbers to their own digits but for
/// `margin`. Outputs are compared and, of a program that returns a cost, gradients of data.
template <class Backend, class P>
std::string edges_apart(P program, const std::vector<std::vector<double>>& given, int rows,
                        double tolerance = 1e-5, double margin = 0) {
  namespace cuda = lamina::engine::cuda;
  using derived =
      std::conditional_t<(P::desc.cost >= 0), lamina::with_backward<P, true>, lamina::for_test<P>>;
  using on_cpu = lamina::engine::cpu::machine<derived>;
  using at_place = cuda::machine<derived, Backend>;
  static constexpr auto desc = lamina::freeze<derived::desc.count>(derived::desc);
  laws::note_compared("cuda", derived::view(), true);

  lamina::model model{program, 3};
  on_cpu expected({model.memory(), nullptr, nullptr});
  Backend backend;
  lamina::device_arrays<Backend> parameters(backend, lamina::parameters_in<P>(), 1);
  parameters.upload(model.memory());
  at_place found(backend, {parameters.pointers()});

  lamina::batch_view<P> batch;
  batch.rows.count[lamina::batch::domain] = rows;
  std::vector<int> offsets;
  for (int r = 0; r <= rows; ++r) offsets.push_back(r);
  for (int d = lamina::batch::domain + 1; d < desc.count.domains; ++d) {
    batch.rows.count[d] = rows;
    batch.rows.offsets[d] = offsets.data();
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
  const auto run = [&](auto& machine) {
    batch.feed_to(machine);
    machine.run(~0ull, 3, 5);
  };
  run(expected), run(found);

  std::string apart;
  const auto compare = [&](int v) {
    const auto a =
        lamina::place_of<lamina::plan<derived>>(lamina::plan<derived>::lowered.variables[v].root);
    using place_plan = typename at_place::plan_type;
    const auto b = lamina::place_of<place_plan>(place_plan::lowered.variables[v].root);
    const int n = a.rows < 0 ? expected.rows(-a.rows) : a.rows;
    const float *const x = expected.address(a), *const y = found.address(b);
    for (int r = 0; r < n; ++r)
      for (int j = 0; j < a.columns; ++j) {
        const double u =
            cuda::load_number(x, a.type, r * static_cast<std::ptrdiff_t>(a.stride) + j);
        const double w =
            cuda::load_number(y, b.type, r * static_cast<std::ptrdiff_t>(b.stride) + j);
        const bool same = std::isnan(u)   ? std::isnan(w)
                          : std::isinf(u) ? u == w
                                          : std::abs(u - w) <= margin + tolerance * std::abs(u);
        if (!same)
          apart += lamina::name_of(derived::view(), v) + " in row " + std::to_string(r) +
                   ", column " + std::to_string(j) + ": " + std::to_string(u) + " on the CPU, " +
                   std::to_string(w) + " at a place\n";
      }
  };
  for (int o = 0; o < desc.count.outputs; ++o) compare(desc.outputs[o]);
  for (int v = 0; v < desc.count.variables; ++v) {
    const auto& d = desc.variables[v];
    if (d.kind == lamina::variable_kind::gradient && d.number < 0 && d.block == 0 &&
        desc.variables[d.of].kind == lamina::variable_kind::data)
      compare(v);
  }
  return apart;
}

}  // namespace test
