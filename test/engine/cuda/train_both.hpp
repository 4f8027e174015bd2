// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/train_both.hpp - trains a program on a device and on the CPU, and compares the
// two. Used by the tests on the host and by the run on a device.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include <laws/compared_operators.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/model/device/device_machine.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/optimizer/momentum.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/train/cpu_trainer.hpp>
#include <lamina/train/device/device_trainer.hpp>

namespace test {

namespace layer = lamina::layer;
using lamina::activation;

/// The lengths of random sequences. any: up to 5 elements each; halves: those of inner domains are
/// half as long as the sequence at the same position of the domain before.
enum class sequence_lengths { any, halves };

/// Random samples for all data variables of a program: floating numbers from -1 to 1, and integers
/// from `least` to classes - 1.
template <class P>
class random_samples {
 public:
  random_samples(int n, int classes, sequence_lengths lengths = sequence_lengths::any,
                 int least = 0) {
    const lamina::program_view p = P::view();
    std::mt19937 random(5);
    std::uniform_real_distribution<float> number(-1, 1);
    all_.rows.count[lamina::batch::domain] = n;
    for (int d = lamina::batch::domain + 1; d < lamina::counts_of<P>.domains; ++d) {
      const int parents = all_.rows.count[p.domains[d].parent];
      std::vector<int>& offsets = offsets_[d];
      offsets.push_back(0);
      for (int i = 0; i < parents; ++i) {
        int length = static_cast<int>(random() % 6);
        if (lengths == sequence_lengths::halves && d > lamina::batch::domain + 1) {
          const std::size_t at = static_cast<std::size_t>(i);
          length = (offsets_[d - 1][at + 1] - offsets_[d - 1][at]) / 2;
        }
        offsets.push_back(offsets.back() + length);
      }
      all_.rows.count[d] = offsets.back();
      all_.rows.offsets[d] = offsets.data();
    }
    for (int i = 0; i < lamina::counts_of<P>.data; ++i) {
      const auto& d = p.variables[p.data[i]];
      const int numbers =
          lamina::matrix_of(d, p.dims).columns * all_.rows.count[d.rows > 0 ? d.rows : 0];
      data_[i].resize(static_cast<std::size_t>(numbers * size_of(d.type)));
      char* to = data_[i].data();
      for (int k = 0; k < numbers; ++k, to += size_of(d.type)) {
        const float x = number(random);
        const std::int64_t label =
            least + static_cast<std::int64_t>(random() % static_cast<unsigned>(classes - least));
        if (d.type == lamina::dtype::float32)
          std::memcpy(to, &x, sizeof(x));
        else
          std::memcpy(to, &label, sizeof(label));
      }
      all_.data[i] = reinterpret_cast<const std::byte*>(data_[i].data());
    }
  }
  random_samples(const random_samples&) = delete;
  /// Samples [first, first + n) as a mini-batch whose rows begin at 0, as readers return it. So
  /// mini-batches of equal size can repeat a recorded run.
  lamina::batch_view<P> batch(int first, int n) const {
    lamina::batch_view<P> b = all_.part(first, first + n);
    std::fill_n(b.rows.first, lamina::counts_of<P>.domains, 0);
    return b;
  }

 private:
  lamina::batch_view<P> all_;
  std::vector<int> offsets_[lamina::counts_of<P>.domains];
  std::vector<char> data_[lamina::at_least_one(lamina::counts_of<P>.data)];
};

/// Records the operators of a program that was trained both on a device and on the CPU: those
/// through which gradients flow, those on which the cost and the metrics depend, and the updates.
template <class Trained, class P>
void note_trained() {
  laws::note_compared("cuda", Trained::view(), false);
  laws::note_compared_result("cuda", P::view(), P::view().cost);
  for (int m = 0; m < lamina::program_metrics<P>::count; ++m)
    laws::note_compared_result("cuda", P::view(), lamina::program_metrics<P>::all.variable[m]);
}

/// The largest relative differences between two trainers: of costs and metrics over all steps, and
/// of the parameters after the last step.
struct difference {
  double cost = 0, metric = 0, parameters = 0;
  double worst() const { return std::max({cost, metric, parameters}); }
};

/// The largest difference between the parameters of two models, relative to the largest number of
/// the parameter.
template <class P>
double parameters_apart(const lamina::model<P>& expected, const lamina::model<P>& found) {
  double worst = 0;
  for (int i = 0; i < lamina::counts_of<P>.parameters; ++i) {
    const auto a = expected.get(i), b = found.get(i);
    double apart = 0, largest = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
      const double u = a.data()[k], v = b.data()[k];
      apart = std::isfinite(v) ? std::max(apart, std::abs(u - v)) : 1;
      largest = std::max(largest, std::abs(u));
    }
    worst = std::max(worst, largest > 0 ? apart / largest : 1);
  }
  return worst;
}

/// Runs two trainers of equal models, one of them on the CPU, on the same mini-batches of the given
/// sizes, and returns their differences.
template <class P, class Expected, class Found>
difference train_side_by_side(Expected& expected, Found& found, const std::vector<int>& sizes,
                              int classes = 5, sequence_lengths lengths = sequence_lengths::any) {
  int first = 0;
  for (const int n : sizes) first += n;
  const random_samples<P> s(first, classes, lengths);
  const auto relative = [](double a, double b) {
    return std::isfinite(b) ? std::abs(a - b) / std::max(1e-3, std::abs(a)) : 1.0;
  };
  difference d;
  first = 0;
  for (const int n : sizes) {
    const double wanted = expected.step(s.batch(first, n));
    d.cost = std::max(d.cost, relative(wanted, found.step(s.batch(first, n))));
    for (int i = 0; i < lamina::program_metrics<P>::count; ++i)
      d.metric = std::max(d.metric, relative(expected.metric(i), found.metric(i)));
    first += n;
  }
  found.copy_to_host();
  d.parameters = parameters_apart(expected.trained(), found.trained());
  return d;
}

/// Trains two equal models on the same mini-batches, one on the CPU and one by the backend, and
/// returns their differences.
template <class P, class Opt, class Backend>
difference train_both(P program, const Opt& opt, Backend& backend, const std::vector<int>& sizes,
                      int classes = 5, sequence_lengths lengths = sequence_lengths::any) {
  lamina::model on_cpu{program, 3}, on_device{program, 3};
  lamina::cpu_trainer<P, Opt> expected(opt, on_cpu, 1, 11);
  lamina::device_trainer<P, Opt, Backend> found(backend, opt, on_device, 11);
  note_trained<lamina::training_program<P, Opt>, P>();
  return train_side_by_side<P>(expected, found, sizes, classes, lengths);
}

/// The relative difference between the costs of a program in test mode on the CPU and by the
/// backend. In test mode a program has other operators than in training, and fewer of their results
/// are needed.
template <class Backend, class P>
double test_both(P program, int n, int classes = 5) {
  using tested = lamina::for_test<P>;
  const lamina::model model{program, 3};
  lamina::engine::cpu::machine<tested> on_cpu({model.memory(), nullptr, nullptr});
  lamina::device_machine<P, Backend> found(model, 0);
  const random_samples<P> s(n, classes);
  const auto cost_of = [&](auto& machine) {
    s.batch(0, n).feed_to(machine);
    machine.run(~0ull, 0, 0);
    return static_cast<double>(*machine.template address<P::desc.cost>());
  };
  laws::note_compared_result("cuda", tested::view(), tested::view().cost);
  const double a = cost_of(on_cpu), b = cost_of(found);
  return std::isfinite(b) ? std::abs(a - b) / std::max(1e-3, std::abs(a)) : 1.0;
}

/// The largest relative difference between the results of a program in test mode on the CPU and by
/// the backend, over several mini-batches. Returns 1 if the numbers of rows or the sequences
/// differ.
template <class Backend, class P>
double outputs_apart(P program, const std::vector<int>& sizes, int classes = 5, int least = 0) {
  using tested = lamina::for_test<P>;
  laws::note_compared("cuda", tested::view(), true);
  const lamina::model model{program, 3};
  lamina::engine::cpu::machine<tested> expected({model.memory(), nullptr, nullptr});
  lamina::device_machine<P, Backend> found(model, 0);
  int first = 0;
  for (const int n : sizes) first += n;
  const random_samples<P> s(first, classes, sequence_lengths::any, least);
  double worst = 0;
  first = 0;
  for (const int n : sizes) {
    const auto run = [&](auto& machine) {
      s.batch(first, n).feed_to(machine);
      machine.run(~0ull, 0, 0);
    };
    run(expected), run(found);
    first += n;
    for (int o = 0; o < lamina::counts_of<P>.outputs; ++o) {
      const lamina::program_view p = tested::view();
      const int v = P::view().outputs[o], rows = p.variables[v].rows;
      const auto& on_cpu = *expected.layout(v);
      const auto& on_device = *found.layout(v);
      if (expected.rows(rows) != found.rows(rows)) return 1;
      for (int d = rows; p.domains[d].kind == lamina::domain_kind::sequence;
           d = p.domains[d].parent) {
        const int* const a = expected.memory().rows().offsets[d];
        const auto b = found.sequences(d);
        if (b.count != expected.rows(p.domains[d].parent)) return 1;
        for (int i = 0; i < b.count; ++i)
          if (a[i + 1] - a[i] != b.length(i)) return 1;
      }
      const float *const a = expected.address(v), *const b = found.address(v);
      for (int r = 0; r < (rows > 0 ? expected.rows(rows) : 1); ++r)
        for (int j = 0; j < on_cpu.columns; ++j) {
          const double x = lamina::engine::cuda::load_number(a, on_cpu.type, r * on_cpu.stride + j);
          const double y =
              lamina::engine::cuda::load_number(b, on_device.type, r * on_device.stride + j);
          worst = std::max(worst, std::isfinite(y) || x == y
                                      ? std::abs(x == y ? 0 : x - y) / std::max(1.0, std::abs(x))
                                      : 1.0);
        }
    }
  }
  return worst;
}

}  // namespace test
