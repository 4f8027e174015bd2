// SPDX-License-Identifier: Apache-2.0
// test/train/optimizer_step.hpp - an optimizer at work on a small net against its own equation.
#pragma once

#include "train/net.hpp"
#include <laws/compared_operators.hpp>

namespace test {

/// Steps of the compiled program must equal the optimizer's equation in double, applied to the
/// gradients of a gradient machine at the same parameters; fused with one thread, apart with two.
template <class Program, class Opt>
void check_steps(Program program, const Opt& opt) {
  using traits = optimizer::traits<Opt>;
  const auto all = samples(24);
  for (const int threads : {1, 2}) {
    lamina::model m{program, 3};
    lamina::cpu_trainer<Program, Opt> t(opt, m, threads);
    lamina::gradient_machine g{m};
    lamina::feeder<Program> feed;
    feed.fill(all);

    const int parameters = m.parameter_arrays();
    std::vector<std::vector<std::vector<double>>> states;
    for (int i = 0; i < parameters; ++i) {
      states.emplace_back();
      for (int s = 0; s < traits::state_count; ++s)
        states.back().emplace_back(m.get(i).size(), traits::initial_state(opt, s));
    }
    for (int step = 0; step < 4; ++step) {
      g.backward(all);
      std::vector<std::vector<double>> expected;
      for (int i = 0; i < parameters; ++i) {
        const auto value = m.get(i);
        auto gradient = value;
        lamina::unpack_like(m.describe(i), g.gradient_memory(i), gradient.data());
        const auto host = traits::scalars(opt, step);
        const std::vector<double> scalar(host.begin(), host.end());
        double norms[2] = {0, 0};
        const auto state_at = [&](std::size_t k, double* to) {
          for (const auto& s : states[static_cast<std::size_t>(i)]) *to++ = s[k];
        };
        double state[8] = {};
        if constexpr (traits::has_norms) {
          for (std::size_t k = 0; k < value.size(); ++k) {
            state_at(k, state);
            const double p = static_cast<double>(value.data()[k]);
            const double u = traits::template normed<double>(
                p, static_cast<double>(gradient.data()[k]), state, scalar.data());
            norms[0] += p * p;
            norms[1] += u * u;
          }
          for (double& n : norms) n = std::sqrt(n);
        }
        expected.emplace_back();
        for (std::size_t k = 0; k < value.size(); ++k) {
          state_at(k, state);
          double p = static_cast<double>(value.data()[k]);
          traits::template update<double>(p, static_cast<double>(gradient.data()[k]), state,
                                          scalar.data(), norms);
          expected.back().push_back(p);
          for (int s = 0; s < traits::state_count; ++s)
            states[static_cast<std::size_t>(i)][static_cast<std::size_t>(s)][k] = state[s];
        }
      }
      t.step(feed.view());
      double worst = 0;
      for (int i = 0; i < parameters; ++i) {
        const auto value = m.get(i);
        for (std::size_t k = 0; k < value.size(); ++k)
          worst = std::max(worst, std::abs(static_cast<double>(value.data()[k]) -
                                           expected[static_cast<std::size_t>(i)][k]));
      }
      INFO(traits::type << ", " << threads << " threads, step " << step);
      using real = typename lamina::model<Program>::real;
      CHECK(worst < (std::is_same_v<real, double> ? 1e-12 : 2e-5));
    }
  }
  laws::note_compared_operator("compiled", traits::type);
}

/// Training must lower the cost to `factor` of what it was, or less.
template <class Program, class Opt>
void check_training(Program program, const Opt& opt, double factor) {
  lamina::model m{program, 3};
  const auto batches = samples(64) | reader::batch(8);
  const double before = lamina::evaluator{m}.test(batches).cost;
  const auto result = opt.train(m, batches, {.passes = 60});
  INFO(optimizer::traits<Opt>::type << ": cost " << before << " became " << result.cost);
  CHECK(result.cost < factor * before);
  CHECK(lamina::evaluator{m}.test(batches).cost < factor * before);
}

}  // namespace test
