// SPDX-License-Identifier: Apache-2.0
// Magnitudes are those of the numbers of an array, whatever surrounds them in memory.
#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/cli/parameter_magnitudes.hpp>

namespace {

/// The magnitudes of an array of rows x columns in the layout of a parameter, and what they are.
template <class Real>
void check(int rows, int columns, bool panel) {
  const lamina::parameter_info info{"w", {}, rows, columns, panel, lamina::dtype_of<Real>};
  std::vector<Real> numbers(info.size());
  double sum = 0, largest = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<Real>(std::sin(static_cast<double>(i) * 1.7));
    sum += std::fabs(static_cast<double>(numbers[i]));
    largest = std::max(largest, std::fabs(static_cast<double>(numbers[i])));
  }
  // Padding is not a part of the array: let it be huge where a kernel does not keep it at 0.
  lamina::engine::aligned_buffer memory(static_cast<std::size_t>(rows) *
                                        static_cast<std::size_t>(lamina::padded(columns)) *
                                        sizeof(Real) / sizeof(float));
  Real* const to = lamina::engine::numbers_at<Real>(memory.data());
  for (std::size_t i = 0; i < memory.size() * sizeof(float) / sizeof(Real); ++i) to[i] = 1e30f;
  lamina::pack_like(info, numbers.data(), memory.data());
  const lamina::magnitudes found = lamina::magnitudes_of(info, memory.data());
  CHECK(found.mean == Approx(sum / static_cast<double>(info.size())).epsilon(1e-12));
  CHECK(found.largest == largest);
}

}  // namespace

TEST_CASE("magnitudes of parameters in every layout and type leave padding out") {
  for (const bool panel : {false, true})
    for (const int columns : {1, 15, 16, 17, 64, 130}) {
      INFO(columns << (panel ? " columns in panels" : " columns"));
      check<float>(5, columns, panel);
      check<double>(5, columns, panel);
      check<float>(1, columns, panel);
    }
}

TEST_CASE("NaN in an array is seen in both magnitudes, infinity in both") {
  const lamina::parameter_info info{"w", {}, 1, 4, false, lamina::dtype::float32};
  lamina::engine::aligned_buffer memory(16);
  const auto of = [&](float a, float b, float c, float d) {
    float* const to = memory.data();
    to[0] = a, to[1] = b, to[2] = c, to[3] = d;
    return lamina::magnitudes_of(info, to);
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const auto& m : {of(nan, 1, 2, 3), of(1, 2, 3, nan), of(1, nan, infinity, 2)}) {
    CHECK(std::isnan(m.mean));
    CHECK(std::isnan(m.largest));
  }
  CHECK(of(-infinity, 1, 2, 3).largest == infinity);
  CHECK(of(-infinity, 1, 2, 3).mean == infinity);
  CHECK(of(-4, 1, -2, 1).largest == 4);
  CHECK(of(-4, 1, -2, 1).mean == 2);
}

TEST_CASE("rows that a sparse gradient does not store are zeros") {
  const lamina::parameter_info info{"table", {}, 100, 3, false, lamina::dtype::float32};
  lamina::engine::cpu::selected_rows rows;
  rows.begin(3);
  CHECK(lamina::magnitudes_of(info, rows).mean == 0);
  CHECK(lamina::magnitudes_of(info, rows).largest == 0);
  const float first[] = {1, -2, 3}, second[] = {-30, 0, 0};
  rows.add(7, first);
  rows.add(99, second);
  rows.add(7, first);
  CHECK(lamina::magnitudes_of(info, rows).largest == 30);
  CHECK(lamina::magnitudes_of(info, rows).mean == Approx((2 + 4 + 6 + 30) / 300.0));
}
