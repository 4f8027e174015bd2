// SPDX-License-Identifier: Apache-2.0
// test/distributed/servers/small_trainer.hpp - the arrays of a trainer, and of a server, by hand.
#pragma once

#include <cstddef>
#include <cstdint>

#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/engine/cpu/memory/selected_rows.hpp>
#include <lamina/train/world.hpp>

namespace test {

inline constexpr std::size_t dense = 160;  // floats
inline constexpr int rows = 12, row_floats = 16, columns = 3;

/// A dense parameter, a table and a statistic that no server updates. An update adds the gradient,
/// and 1 to the accumulator.
struct small_trainer {
  lamina::engine::aligned_buffer memory{2 * dense + dense + 2 * rows * row_floats + 16};
  float* const gradient = memory.data();
  float* const value = gradient + dense;
  float* const moment = value + dense;
  float* const table = moment + dense;
  float* const table_moment = table + rows * row_floats;
  float* const statistic = table_moment + rows * row_floats;
  float* gradients[3] = {gradient, nullptr, nullptr};
  float* values[3] = {value, table, statistic};
  float* accumulators[3] = {moment, table_moment, statistic};
  std::size_t floats[3] = {dense, rows* row_floats, 16};
  bool has_rows[3] = {false, true, false};
  int wide[3] = {0, row_floats, 0};
  std::int64_t steps = 0;
  float last_factor = 0;

  lamina::trained_arrays arrays() {
    return {gradients, values, floats, has_rows, 3, false, false, nullptr, 1, wide};
  }
  lamina::server_functions functions() {
    return {this,
            [](void* self, int, std::size_t first, std::size_t count, float* g) {
              small_trainer& t = *static_cast<small_trainer*>(self);
              for (std::size_t k = 0; k < count; ++k) {
                t.value[first + k] += g[k];
                t.moment[first + k] += 1;
              }
            },
            [](void* self, int, int first, int, void* gradient_rows) {
              small_trainer& t = *static_cast<small_trainer*>(self);
              const auto& given = *static_cast<lamina::engine::cpu::selected_rows*>(gradient_rows);
              for (int i = 0; i < given.size(); ++i)
                for (int c = 0; c < columns; ++c) {
                  t.table[(first + given.number(i)) * row_floats + c] += given.row(i)[c];
                  t.table_moment[(first + given.number(i)) * row_floats + c] += 1;
                }
              return true;
            },
            [](void* self, const lamina::update_facts& told) {
              small_trainer& t = *static_cast<small_trainer*>(self);
              t.last_factor = told.rate_factor;
              return t.steps++;
            }};
  }
};

}  // namespace test
