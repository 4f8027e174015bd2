// SPDX-License-Identifier: Apache-2.0
// lamina/operators/region/cpu.hpp - the corners of a region of an image.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/memory/array_layout.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// Left, top, right and bottom of region r. They are float in double programs as well: a border
/// that is rounded differently would select a different region (operators/region/definition.hpp).
struct region_corners {
  float of[4];

  region_corners(const operand& regions, int r) {
    for (int i = 0; i < 4; ++i)
      of[i] = load_as<float>(regions.data, regions.type, r * regions.stride + i);
  }
  float operator[](int i) const { return of[i]; }
};

}}}  // namespace lamina::engine::cpu
