// SPDX-License-Identifier: Apache-2.0
// shared_kernel: the CPU engine runs every item, in float and double, with scratch memory per item.
#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/common/shared_kernel.hpp>
#include <lamina/engine/cpu/schedule/shared_kernel.hpp>
#include <lamina/operators/operator_definition.hpp>

namespace {

/// Out[k] = the sum of X[j] for j >= k along `dim`.
struct sum_of_rest : lamina::operator_definition {
  static constexpr const char* type = "sum_of_rest";
  static constexpr auto inputs = lamina::slots_x;
  static constexpr auto outputs = lamina::slots_out;
  static constexpr std::array<lamina::attribute_desc, 1> attributes{
      {{"dim", lamina::attribute_type::integer, 1}}};
};

}  // namespace

template <class Real>
struct lamina::engine::shared_kernel<sum_of_rest, Real> : bound_call<> {
  array_lines<const Real> x{*call, input(0), integer(0)};
  array_lines<Real> out{*call, output(0), integer(0)};
  int count = x.count;
  int scratch = x.layout.n;

  LAMINA_FN void run(int line, double* sums) const {
    const auto from = x[line];
    double sum = 0;
    for (int k = from.n; k-- > 0;) sums[k] = sum += static_cast<double>(from[k]);
    for (int k = 0; k < from.n; ++k) out[line][k] = static_cast<Real>(sums[k]);
  }
};

namespace {

namespace cpu = lamina::engine::cpu;
using kernel = cpu::call_kernel<sum_of_rest>;
constexpr int dims[] = {-1, 3, 4};
constexpr int rows = 2, columns = 12, stride = 16;

/// The call of the operator on x and out, whose rows are padded; `out` may be null.
template <class Real>
struct call {
  std::vector<Real> x, out;
  float* arguments[2];
  lamina::engine::argument_info info[2];
  lamina::program_view program{};
  double scratch[4];
  cpu::group_info group{};
  cpu::run_context run{};

  explicit call(lamina::dtype type = lamina::dtype_of<Real>)
      : x(rows * stride), out(rows * stride, Real(-1)) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<Real>(i * i % 7);
    arguments[0] = reinterpret_cast<float*>(x.data());
    arguments[1] = reinterpret_cast<float*>(out.data());
    for (auto& i : info) i = {rows, columns, stride, type, false, false, 0, 3};
    program.dims = dims;
    group.schema = &lamina::schema_of<sum_of_rest>();
    run.scratch = reinterpret_cast<float*>(scratch);
  }
  cpu::call_context context() { return {program, arguments, info, group, run}; }
};

template <class Real>
void check_all_lines() {
  call<Real> c;
  CHECK(kernel::scratch<Real>(c.context()) == 3 * 2);  // a double is as long as two floats
  kernel::run<Real>(c.context());
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < 3; ++k)
      for (int i = 0; i < 4; ++i) {
        Real sum = 0;
        for (int j = k; j < 3; ++j) sum += c.x[static_cast<std::size_t>(r * stride + j * 4 + i)];
        CHECK(c.out[static_cast<std::size_t>(r * stride + k * 4 + i)] == sum);
      }
  for (int r = 0; r < rows; ++r)
    for (int i = columns; i < stride; ++i)
      CHECK(c.out[static_cast<std::size_t>(r * stride + i)] == Real(-1));
}

}  // namespace

TEST_CASE("a shared kernel computes all lines of padded arrays") {
  check_all_lines<float>();
  check_all_lines<double>();
}

TEST_CASE("a shared kernel whose output is not used does not run") {
  call<float> c;
  c.arguments[1] = nullptr;
  kernel::run(c.context());
  CHECK(c.out[0] == -1);
}

TEST_CASE("a shared kernel refuses numbers of another type") {
  call<float> c{lamina::dtype::int32};
  CHECK_THROWS_WITH(kernel::run(c.context()),
                    Catch::Contains("expected elements of float32, found int32"));
}
