// SPDX-License-Identifier: Apache-2.0
// The laws of the compiled engine, which hold for every program: it computes the same values as the
// reference executor, at edge values too; a row of a batch does not depend on the other rows; and
// shapes are as recorded.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include <laws/compared_operators.hpp>
#include <laws/edge_law.hpp>
#include <laws/engine_run.hpp>

namespace lamina::law {

inline void require_close(const std::vector<double>& found, const tensor& expected,
                          double tolerance) {
  const xt::xarray<double> e = expected.cast<double>();
  REQUIRE(found.size() == e.size());
  double size = 1;
  for (std::size_t i = 0; i < e.size(); ++i) size = std::max(size, std::abs(e.flat(i)));
  for (std::size_t i = 0; i < e.size(); ++i) {
    if (std::abs(found[i] - e.flat(i)) <= tolerance * size) continue;
    INFO("element " << i << " of " << to_string(expected.shape()));
    CHECK(found[i] == Approx(e.flat(i)).epsilon(0).margin(tolerance * size));
    return;
  }
}

/// Checks the laws for a batch with this many rows.
inline void check_engine(engine_subject& run, int rows, const engine_law_options& o) {
  const program_view& view = run.view;
  const std::vector<int> wanted = engine_subject::looked_at_in(view);
  INFO(rows << " rows");
  run.draw(rows);
  const std::vector<lod_tensor> exact = run.run_executor<double>(wanted);
  std::vector<lod_tensor> plain;
  if (!run.in_double) plain = run.run_executor<float>(wanted);
  run.run_engine(0, rows);
  std::vector<std::vector<double>> whole;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    INFO("variable " << variable_name(view, wanted[i]));
    const double tolerance = tolerance_of(view, run.in_double, wanted[i], o.tolerance);
    const int rows_made =
        run.makes_rows(wanted[i]) ? static_cast<int>(exact[i].shape()[0]) : run.rows_of(wanted[i]);
    CHECK(exact[i].shape() == run.shape_of(wanted[i], rows_made));
    whole.push_back(run.on_engine(wanted[i]));
    require_close(whole[i], exact[i], tolerance);
    if (!plain.empty()) require_close(whole[i], plain[i], 2 * tolerance);
  }
  if (!o.rows_are_alone || rows == 1) return;
  // A row gives the same results in a batch of its own as in a larger batch.
  for (int row : {0, rows - 1}) {
    run.run_engine(row, 1);
    for (int i = 0; i < view.count.outputs; ++i) {
      const int v = wanted[static_cast<std::size_t>(i)];
      if (view.variables[v].rows == 0) continue;
      INFO("row " << row << " alone, variable " << variable_name(view, v));
      const std::vector<double> alone = run.on_engine(v);
      const std::vector<double>& all = whole[static_cast<std::size_t>(i)];
      const int in_all = run.rows_of(v);
      if (in_all == 0) continue;
      const std::size_t width = all.size() / static_cast<std::size_t>(in_all);
      const std::size_t first = width * static_cast<std::size_t>(run.first_row(v));
      REQUIRE(first + alone.size() <= all.size());
      if (view.variables[v].rows == batch::domain) REQUIRE(alone.size() == width);
      const double exactness = run.in_double ? 1e-12 : 1e-6;
      for (std::size_t j = 0; j < alone.size(); ++j)
        if (alone[j] != Approx(all[first + j]).epsilon(10 * exactness).margin(exactness)) {
          CHECK(alone[j] == all[first + j]);
          break;
        }
    }
  }
}
/// Checks the laws for a program with several batch sizes.
template <class P>
void check_engine(P, const engine_law_options& o = {}) {
  using run_type = engine_run<std::remove_const_t<P>>;
  for (int rows : o.batches) {
    run_type run(o);
    check_engine(run, rows, o);
  }
  if (o.edges) {
    run_type run(o);
    check_edge_values(run, o);
  }
  laws::note_compared("compiled", run_type::desc, true);
}

}  // namespace lamina::law
