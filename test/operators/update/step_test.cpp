// SPDX-License-Identifier: Apache-2.0
// Updates of rows, and updates that need norms, on the engine.
#include <cmath>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/engine/cpu/schedule/machine.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/optimizers.hpp>
#include <lamina/optimizer/training_program.hpp>

namespace cpu = lamina::engine::cpu;
namespace layer = lamina::layer;

namespace {

template <int W>
constexpr auto network = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 5>(main);
  return layer::mean(layer::fc<W>(x));
});

/// One parameter with everything its update works on, row by row.
struct case_of_update {
  lamina::parameter_layout layout;
  std::vector<std::vector<double>> values;  // parameter, gradient, accumulators
  std::vector<lamina::engine::aligned_buffer> memory;

  std::ptrdiff_t at(int i) const {
    return layout.panel
               ? cpu::panel_index(layout.rows, layout.columns, i / layout.columns,
                                  i % layout.columns)
               : i / layout.columns * static_cast<std::ptrdiff_t>(lamina::padded(layout.columns)) +
                     i % layout.columns;
  }
};

/// Appends the updates of gradients that are given from outside, and nothing else.
template <class Backward, class Opt>
constexpr void make_update(lamina::program_builder& b) {
  b.operators.count = 0;
  b.outputs.count = 0;
  b.cost = -1;
  int* gradient = new int[static_cast<unsigned>(b.parameters.count) + 1];
  lamina::detail::find_gradients(Backward::desc, 0, Backward::desc.count.variables,
                                 b.parameters.count, 0, gradient);
  for (int i = 0; i < b.parameters.count; ++i) {
    if (gradient[i] < 0) continue;
    lamina::variable_desc d = b.variables[b.parameters[i].variable];
    d.base = -1;
    d.of = b.parameters[i].variable;
    d.suffix = "@GRAD";
    d.number = -1;
    d.index = -1;
    d.kind = lamina::variable_kind::gradient;
    d.persistable = false;
    gradient[i] = b.variables.push(d);
  }
  lamina::detail::add_updates<Opt>(b, gradient, [](int, bool) { return -1; });
  delete[] gradient;
}

template <class P, class Opt>
struct update_program : lamina::program_base<update_program<P, Opt>> {
  using result = void;
  static constexpr lamina::program_desc desc =
      lamina::changed<P::desc, &make_update<lamina::with_backward<P>, Opt>>();
};

/// An update of parameters and gradients of these sizes.
template <int W, class Opt>
void check_update(const Opt& optimizer, double of_parameter = 1, double of_gradient = 1) {
  using program = std::remove_const_t<decltype(network<W>)>;
  using updates = update_program<program, Opt>;
  using update = lamina::update_operator<Opt>;
  using traits = lamina::optimizer::traits<Opt>;
  constexpr int parameters = updates::desc.count.parameters;
  constexpr int arrays = 2 + update::states;
  constexpr int numbers = static_cast<int>(update::attributes.size());
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0.1, 1);

  std::vector<case_of_update> cases(parameters);
  std::vector<float*> params, gradients, accumulators;
  for (int i = 0; i < parameters; ++i) {
    case_of_update& c = cases[static_cast<std::size_t>(i)];
    c.layout = lamina::parameter_table<updates>::table.of[i];
    const int size = c.layout.rows * c.layout.columns;
    for (int a = 0; a < arrays; ++a) {
      c.memory.emplace_back(
          static_cast<std::size_t>(c.layout.rows * lamina::padded(c.layout.columns)));
      c.values.emplace_back();
      for (int j = 0; j < size; ++j) {
        const double size_of_array = a == 0 ? of_parameter : a == 1 ? of_gradient : 1;
        const float v = static_cast<float>(uniform(random) * size_of_array);
        c.values.back().push_back(static_cast<double>(v));
        c.memory.back().data()[c.at(j)] = v;
      }
    }
    params.push_back(c.memory[0].data());
    gradients.push_back(c.memory[1].data());
    for (int s = 0; s < update::states; ++s)
      accumulators.push_back(c.memory[static_cast<std::size_t>(2 + s)].data());
  }

  const auto scalars = traits::scalars(optimizer, 0);
  std::vector<double> number(numbers, 0.0);
  number[0] = static_cast<double>(scalars[0]);
  number[1] = 0.5;
  number[2] = -0.4 * of_gradient, number[3] = 0.4 * of_gradient;
  number[5] = 0.01;
  for (int i = 1; i < traits::scalar_count; ++i)
    number[static_cast<std::size_t>(update::preparation + i)] =
        static_cast<double>(scalars[static_cast<std::size_t>(i)]);

  cpu::machine<updates> machine({params.data(), gradients.data(), accumulators.data()});
  for (int i = 0; i < parameters; ++i)
    for (int n = 0; n < numbers; ++n)
      machine.constants()[1 + i * numbers + n] =
          static_cast<float>(number[static_cast<std::size_t>(n)]);
  machine.run(~0ull, 0, 0);

  for (case_of_update& c : cases) {
    const std::size_t size = c.values[0].size();
    double norm[2] = {0, 0};
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t j = 0; j < size; ++j) {
        double state[4] = {};
        for (int s = 0; s < update::states; ++s)
          state[s] = c.values[static_cast<std::size_t>(2 + s)][j];
        double& p = c.values[0][j];
        const double g = c.values[1][j];
        if (pass == 0) {
          const double u = update::template normed<double>(p, g, state, number.data());
          norm[0] += p * p;
          norm[1] += u * u;
          continue;
        }
        update::template apply<double>(p, g, state, number.data(), norm);
        INFO("element " << j << " of " << c.layout.rows << " x " << c.layout.columns);
        const std::ptrdiff_t at = c.at(static_cast<int>(j));
        CHECK(c.memory[0].data()[at] == Approx(p).epsilon(1e-5));
        for (int s = 0; s < update::states; ++s)
          CHECK(c.memory[static_cast<std::size_t>(2 + s)].data()[at] ==
                Approx(state[s]).epsilon(1e-5));
      }
      norm[0] = std::sqrt(norm[0]);
      norm[1] = std::sqrt(norm[1]);
    }
    // Padding holds zeros, before and after.
    double padding = 0, real = 0;
    for (std::size_t j = 0; j < c.memory[0].size(); ++j)
      padding += std::abs(static_cast<double>(c.memory[0].data()[j]));
    for (std::size_t j = 0; j < size; ++j)
      real += std::abs(static_cast<double>(c.memory[0].data()[c.at(static_cast<int>(j))]));
    CHECK(padding == Approx(real));
  }
}

/// An update by some rows is that by a whole gradient with zeros in the others; if lazy, in these
/// rows, and the others stay. Rows of 7 columns end in padding, those of 32 do not.
template <class Opt>
void check_rows(const Opt& optimizer, bool lazy, bool decays = false) {
  using update = lamina::rows_update_operator<Opt>;
  using traits = lamina::optimizer::traits<Opt>;
  constexpr int rows = 9, arrays = 2 + update::states;
  const int numbers[] = {4, 0, 8, 5};
  for (const int columns : {7, 32}) {
    const std::size_t floats = static_cast<std::size_t>(rows * lamina::padded(columns));
    std::vector<lamina::engine::aligned_buffer> whole, some;
    float *of_whole[arrays], *of_some[arrays];
    std::mt19937 random(5);
    std::uniform_real_distribution<float> uniform(0.1f, 1);
    for (int a = 0; a < arrays; ++a) {
      whole.emplace_back(floats), some.emplace_back(floats);
      of_whole[a] = whole.back().data(), of_some[a] = some.back().data();
      for (int r = 0; r < rows; ++r)
        for (int j = 0; j < columns; ++j) {
          const auto at = cpu::panel_index(rows, columns, r, j);
          of_whole[a][at] = of_some[a][at] = a == 1 ? 0 : uniform(random);
        }
    }
    const std::vector<float> before(of_some[0], of_some[0] + floats);
    cpu::selected_rows gradient;
    gradient.begin(columns);
    for (const int r : numbers)
      for (int times = 0; times < 2; ++times) {
        std::vector<float> row;
        for (int j = 0; j < columns; ++j) {
          row.push_back(uniform(random));
          of_whole[1][cpu::panel_index(rows, columns, r, j)] += row.back();
        }
        gradient.add(r, row.data());
      }
    REQUIRE(gradient.size() == 4);
    CHECK(gradient.number(0) == 4);
    const auto scalars = traits::scalars(optimizer, 0);
    float number[update::attributes.size()] = {scalars[0], 0.5f, -0.4f,
                                               0.4f,       0,    decays ? 0.01f : 0.0f};
    for (std::size_t i = 1; i < scalars.size(); ++i) number[5 + i] = scalars[i];
    number[update::lazy_mode] = lazy ? 1 : 0;
    const cpu::operand param = {
        nullptr, rows, columns, lamina::padded(columns), lamina::dtype::float32, true, nullptr, 0};
    cpu::call_kernel<lamina::update_operator<Opt>>::run(param, of_whole, number);
    cpu::call_kernel<update>::run(param, of_some, gradient, number);
    for (int a = 0; a < arrays; ++a) {
      if (a == 1) continue;
      for (int r = 0; r < rows; ++r) {
        const bool there = r == 4 || r == 0 || r == 8 || r == 5;
        for (int j = 0; j < columns; ++j) {
          const auto at = cpu::panel_index(rows, columns, r, j);
          INFO(Opt::type << " array " << a << " row " << r << " column " << j);
          if (there || !lazy || decays)
            CHECK(of_some[a][at] == Approx(of_whole[a][at]).epsilon(1e-6));
          else if (a == 0)
            CHECK(of_some[a][at] == before[static_cast<std::size_t>(at)]);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("updates by selected rows are those by whole gradients") {
  namespace optimizer = lamina::optimizer;
  check_rows(optimizer::sgd{}, true);
  check_rows(optimizer::sgd{}, true, true);
  check_rows(optimizer::adagrad{}, true);
  check_rows(optimizer::adam{}, true);
  check_rows(optimizer::adam{}, true, true);
  check_rows(optimizer::adam{}, false);
  check_rows(optimizer::momentum{}, false);
  check_rows(optimizer::rmsprop{.momentum = 0.9f}, false);
  check_rows(optimizer::lamb{}, false);
}

TEST_CASE("lamb on the engine is its equation") {
  check_update<1>(lamina::optimizer::lamb{});
  check_update<7>(lamina::optimizer::lamb{});
  check_update<40>(lamina::optimizer::lamb{.learning_rate = 0.1f});
}

// pytorch/pytorch#193006
TEST_CASE("norms of updates: parameters and gradients with squares that no float holds") {
  using lamina::optimizer::lars_momentum;
  for (const double of_parameter : {1., 1e20, 1e-25})
    for (const double of_gradient : {1., 1e20, 1e-25}) {
      INFO("parameters of " << of_parameter << ", gradients of " << of_gradient);
      check_update<1>(lars_momentum{}, of_parameter, of_gradient);
      check_update<40>(lars_momentum{}, of_parameter, of_gradient);
    }
  check_update<40>(lamina::optimizer::lamb{}, 1e20);
  check_update<40>(lamina::optimizer::lamb{}, 1e-25);
}

TEST_CASE("lars_momentum on the engine is its equation") {
  check_update<1>(lamina::optimizer::lars_momentum{});
  check_update<7>(lamina::optimizer::lars_momentum{});
  check_update<40>(lamina::optimizer::lars_momentum{.learning_rate = 0.1f});
}
