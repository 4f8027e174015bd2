// SPDX-License-Identifier: Apache-2.0
// The law of edge values, such as zeros, infinities and numbers around 1e20: the compiled engine
// computes infinities and NaN at the same elements as the executor, and equal finite numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <laws/compared_operators.hpp>
#include <laws/edge_exemptions.hpp>
#include <laws/engine_run.hpp>

namespace lamina::law {

/// Describes the first element at which the two values differ: only one of them is NaN, the
/// infinities differ, or the numbers differ by more than `margin` plus `tolerance` times the
/// number. Returns "" if there is no such element.
inline std::string edge_difference(const std::vector<double>& found, const tensor& expected,
                                   double tolerance, double margin) {
  const xt::xarray<double> e = expected.cast<double>();
  if (found.size() != e.size()) return "other sizes";
  for (std::size_t i = 0; i < e.size(); ++i) {
    const double a = found[i], b = e.flat(i);
    const bool same = std::isnan(b)   ? std::isnan(a)
                      : std::isinf(b) ? a == b
                                      : std::abs(a - b) <= margin + tolerance * std::abs(b);
    if (!same)
      return "element " + std::to_string(i) + " of " + to_string(expected.shape()) +
             ": the engine has " + Catch::Detail::stringify(a) + ", the executor " +
             Catch::Detail::stringify(b);
  }
  return "";
}

/// Checks that every element of the values that check_edges returned is finite.
inline void check_finite(const std::vector<std::vector<double>>& all) {
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < all[i].size(); ++j) {
      INFO("variable " << i << ", element " << j);
      CHECK(std::isfinite(all[i][j]));
    }
}

/// The largest finite number.
inline double largest_finite(const tensor& t) {
  const xt::xarray<double> e = t.cast<double>();
  double largest = 0;
  for (std::size_t i = 0; i < e.size(); ++i)
    if (std::isfinite(e.flat(i))) largest = std::max(largest, std::abs(e.flat(i)));
  return largest;
}

/// Replaces some of the ordinary numbers of an array of rows, stored one after the other, with edge
/// values.
template <class T>
void put_edges(T* to, std::size_t count, std::size_t rows, edge_run run, unsigned first) {
  using limits = std::numeric_limits<T>;
  const T small[] = {T(0), -T(0), limits::denorm_min() * 1000, T(1e-30), -T(1e-30)};
  const T large[] = {T(1e20), -T(1e20)};
  const std::size_t width = rows == 0 ? 1 : count / rows;
  for (std::size_t i = 0; i < count; ++i) {
    // The elements with edge values follow no simple pattern, but are the same in every run.
    const unsigned at = (static_cast<unsigned>(i) + first) * 2654435761u >> 16;
    if (run == small_values) {
      if (at % 3 == 0) to[i] = small[at / 3 % 5];
      if (at % 3 == 1 && i > 0) to[i] = to[i - 1];
    } else if (run == large_values) {
      if (at % 4 == 0) to[i] = large[at / 4 % 2];
    } else if (run == offset_values) {
      to[i] = i < width ? T(1e7 + at % 8) : to[i - width];
    } else if (at % 7 == 0 || i == first % count) {
      to[i] = run == nan_values ? limits::quiet_NaN()
              : at / 7 % 2 == 0 ? limits::infinity()
                                : -limits::infinity();
    }
  }
}

/// Whether every operator is pointwise or a source, except the mean that computes the cost.
inline bool is_pointwise(const program_view& p) {
  for (int i = 0; i < p.count.operators; ++i) {
    const operator_schema& s = *p.operators[i].schema;
    const std::string_view type = s.type;
    if (s.kind != operator_kind::pointwise && s.kind != operator_kind::source && type != "mean" &&
        type != "mean_grad" && type != "fill_constant")
      return false;
  }
  return true;
}

/// The tolerance of a program in double. It is larger for operators that interpolate in images,
/// because they compute the weights of neighbouring pixels in float.
inline double double_tolerance(const program_view& p) {
  for (const char* type : {"bilinear_interp", "roi_align", "psroi_pool"})
    if (has_operator(p, type)) return 1e-7;
  return 1e-12;
}

/// The tolerance of a variable: double_tolerance() if the program computes in double and the
/// variable is not float, else `plain`.
inline double tolerance_of(const program_view& p, bool in_double, int variable, double plain) {
  return in_double && p.variables[variable].type != dtype::float32 ? double_tolerance(p) : plain;
}

/// The types of a program's operators, without gradient operators.
inline std::string operators_of(const program_view& p) {
  std::set<std::string> types;
  for (int i = 0; i < p.count.operators; ++i) types.insert(p.operators[i].schema->type);
  std::string all;
  for (const std::string& type : types)
    if (!laws::detail::ends_with(type, "_grad")) all += (all.empty() ? "" : ", ") + type;
  return all;
}

/// Returns how often this function was called with these operators before, in this process.
inline unsigned programs_before(const std::string& operators) {
  static std::map<std::string, unsigned> programs;
  return programs[operators]++;
}

/// Changes the elements of a floating feed by a call of f(first element, number of elements).
template <class F>
void change_feed(fed_values& feed, dtype type, const F& f) {
  const lod sequences = feed.value.lod();
  engine::cpu::with_type(type, [&]<class T>(T) {
    T* const to = reinterpret_cast<T*>(feed.bytes.data());
    f(to, feed.bytes.size() / sizeof(T));
    feed.value = tensor(feed.value.shape(), to);
  });
  feed.value.set_lod(sequences);
}

/// Runs a program several times with different edge values in its floating feeds. Leaves out the
/// runs from which one of its operators is exempt.
inline void check_edge_values(engine_subject& run, const engine_law_options& o) {
  const program_view& view = run.view;
  const std::vector<int> wanted = engine_subject::looked_at_in(view);
  const int most = *std::max_element(o.batches.begin(), o.batches.end());
  const bool each = is_pointwise(view);
  // The first program with these operators does all runs. To keep the tests short, each further
  // program, which usually differs only in sizes, does one run, the next in order.
  const unsigned before = programs_before(operators_of(view));
  const auto is_turn = [&](edge_run edge) {
    return before == 0 || edge == 1u << (before - 1) % edge_runs;
  };
  for (const edge_run edge :
       {small_values, large_values, infinite_values, nan_values, offset_values, no_rows}) {
    if (edge_exempt(view, edge) != nullptr || !is_turn(edge)) continue;
    const int rows = edge == no_rows ? 0 : std::min(most, 3);
    run.draw(rows);
    for (int i = 0; i < view.count.data; ++i)
      change_feed(run.feed(i), view.variables[view.data[i]].type,
                  [&]<class T>(T* to, std::size_t count) {
                    if constexpr (std::is_floating_point_v<T>)
                      put_edges(to, count, static_cast<std::size_t>(run.rows_of(view.data[i])),
                                edge, static_cast<unsigned>(i));
                  });
    INFO("run " << edge << " of edge values, " << rows << " rows");
    std::vector<lod_tensor> expected;
    std::string refused;
    try {
      expected = run.run_executor(wanted);
    } catch (const error& e) {
      refused = e.what();
    }
    if (!refused.empty()) {
      INFO("the executor says: " << refused);
      CHECK_THROWS_AS(run.run_engine(0, rows), error);
      continue;
    }
    run.run_engine(0, rows);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::vector<double> found = run.on_engine(wanted[i]);
      const double tolerance =
          100 * tolerance_of(view, run.in_double, wanted[i], std::max(o.tolerance, 2e-5) / 100);
      const double size = each && found.size() > 1 ? std::numeric_limits<float>::min()
                                                   : std::max(1.0, largest_finite(expected[i]));
      const std::string difference =
          edge_difference(found, expected[i], tolerance, tolerance * size);
      if (difference.empty()) continue;
      INFO("program of " << operators_of(view));
      FAIL_CHECK("variable " << variable_name(view, wanted[i]) << ": " << difference);
    }
    laws::note_compared("edges " + std::to_string(edge), view, true);
  }
}

/// Feeds data variable i, in the order in which they were recorded, with `given[i]`, then compares
/// outputs and gradients with those of the executor in float, with a relative tolerance for each
/// number plus `margin`. Returns the values that the engine computed.
inline std::vector<std::vector<double>> compare_edges(engine_subject& run,
                                                      const std::vector<std::vector<double>>& given,
                                                      int rows, double tolerance, double margin) {
  const program_view& view = run.view;
  run.draw(rows);
  REQUIRE(static_cast<int>(given.size()) == view.count.data);
  for (std::size_t i = 0; i < given.size(); ++i)
    change_feed(run.feed(static_cast<int>(i)), view.variables[view.data[i]].type,
                [&]<class T>(T* to, std::size_t count) {
                  REQUIRE(count == given[i].size());
                  for (std::size_t j = 0; j < count; ++j) to[j] = static_cast<T>(given[i][j]);
                });
  const std::vector<int> wanted = engine_subject::looked_at_in(view);
  const std::vector<lod_tensor> expected = run.run_executor<float>(wanted);
  run.run_engine(0, rows);
  std::vector<std::vector<double>> all;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    INFO("variable " << variable_name(view, wanted[i]));
    all.push_back(run.on_engine(wanted[i]));
    CHECK(edge_difference(all[i], expected[i], tolerance,
                          margin + tolerance * std::numeric_limits<float>::min()) == "");
  }
  return all;
}
template <class P>
std::vector<std::vector<double>> check_edges(P, const std::vector<std::vector<double>>& given,
                                             int rows, double tolerance = 1e-5, double margin = 0) {
  engine_run<std::remove_const_t<P>> run(engine_law_options{});
  return compare_edges(run, given, rows, tolerance, margin);
}

}  // namespace lamina::law
