// SPDX-License-Identifier: Apache-2.0
// test/laws/operator_laws.hpp - checks the laws of all operators for one row of a table: shapes are
// as recorded, the compiled engine computes the same values as the executor, each row of a batch
// gives the same result alone, edge values are handled alike, and gradients equal difference
// quotients. The same rows are also checked against other libraries, through files (test/interop),
// and on the bodies of CUDA kernels (laws/cuda_laws.hpp).
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
    // To check gradients, one row is enough, unless there are sequences, because one row has only
    // one sequence.
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
