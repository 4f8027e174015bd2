// SPDX-License-Identifier: Apache-2.0
// test/laws/operator_laws.hpp - the laws of all operators for one row of a table: recorded shapes,
// the compiled engine against the executor, each row of a batch alone, edge values, and gradients
// against difference quotients. Cases of the same rows go to other libraries, through files
// (test/interop).
#pragma once

#include <string>
#include <vector>

#include <laws/engine_law.hpp>
#include <laws/gradient_check.hpp>
#include <laws/operator_row.hpp>

namespace laws {

class operator_laws {
 public:
  /// Checks the laws for a row. One whose number of rows is given has the laws of gradients alone.
  template <class F>
  void write(const std::string& name, F, const row_options& options = {}) const {
    INFO("row " << name);
    constexpr auto program = program_of<float, F>();
    if (options.any_rows)
      lamina::law::check_engine(program, {.low = options.low,
                                          .high = options.high,
                                          .limit = options.integers,
                                          .tolerance = 1e-4,
                                          .batches = {1, 3}});
    if (options.gradients)
      check_gradients(
          program, options.feed,
          {.rows = options.any_rows ? 1 : options.rows, .low = options.low, .high = options.high});
  }
};

}  // namespace laws
