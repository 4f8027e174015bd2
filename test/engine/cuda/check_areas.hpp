// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/check_areas.hpp - statistics over all mini-batches, on a device and on the CPU.
#pragma once

#include <type_traits>

#include "engine/cuda/operator_programs.hpp"
#include <catch2/catch.hpp>

#include <lamina/model/device/device_machine.hpp>
#include <lamina/model/evaluator.hpp>

namespace test {

/// Areas under curves by the backend are those of the CPU, mini-batch by mini-batch.
template <class Backend>
void check_areas() {
  using P = std::remove_const_t<decltype(areas)>;
  const lamina::model model{areas, 3};
  lamina::evaluator on_cpu{model};
  lamina::evaluator<P, lamina::device_machine<P, Backend>> found(model, lamina::place{});
  const random_samples<P> s(30, 2);
  const auto area_of = [](auto& e, const lamina::batch_view<P>& batch) {
    batch.feed_to(e.machine());
    e.machine().run(~0ull, 0, 0);
    constexpr int area = P::desc.outputs[1];
    return *reinterpret_cast<const double*>(e.machine().template address<area>());
  };
  // Counted on when the rows grow, and from the beginning when it is reset.
  double last = 0;
  for (const int n : {4, 12, 9, 30}) {
    const double wanted = area_of(on_cpu, s.batch(0, n));
    CHECK(area_of(found, s.batch(0, n)) == wanted);
    CHECK(wanted != last);
    last = wanted;
  }
  on_cpu.reset();
  found.reset();
  const double wanted = area_of(on_cpu, s.batch(3, 11));
  CHECK(area_of(found, s.batch(3, 11)) == wanted);
  CHECK(wanted != last);
}

}  // namespace test
