// SPDX-License-Identifier: Apache-2.0
// test/laws/operator_laws.hpp - the laws of all operators for one row of a table: recorded shapes,
// the compiled engine against the executor, each row of a batch alone, edge values, and gradients
// against difference quotients. Cases of the same rows go to other libraries, through files
// (test/interop), and to the bodies of CUDA kernels (laws/cuda_laws.hpp).
#pragma once

#include <string>
#include <vector>

#include <laws/engine_law.hpp>
#include <laws/gradient_check.hpp>
#include <laws/operator_row.hpp>

namespace laws {

class operator_laws {
 public:
  /// Checks the laws for a row.
  template <class F>
  void write(const std::string& name, F recorded, const row_options& options = {}) const {
    INFO("row " << name);
    constexpr auto program = program_of<float>(recorded);
    const int rows = static_cast<int>(options.rows);
    const bool given = !options.feed.empty() || !options.any_rows;
    lamina::law::check_engine(program,
                              {.low = options.low,
                               .high = options.high,
                               .limit = options.integers,
                               .tolerance = 1e-4,
                               .rows_are_alone = options.row_alone && options.any_rows,
                               .batches = given ? std::vector<int>{rows} : std::vector<int>{1, 3},
                               .feed = options.feed,
                               .given_rows = given ? rows : 0,
                               .edges = options.any_rows && options.edges != edge_kind::none});
    // One row is enough for gradients, unless there are sequences, of which a row has one.
    const bool one = options.any_rows && options.feed.empty() &&
                     lamina::counts_of<decltype(program)>.domains == lamina::batch::domain + 1;
    if (options.gradients)
      check_gradients(program, options.feed,
                      {.rows = one ? 1 : options.rows,
                       .low = options.low,
                       .high = options.high,
                       .constant = options.constant,
                       .integers = options.integers});
  }
};

}  // namespace laws
