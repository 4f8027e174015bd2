// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/train_both.hpp - a program trained at a place and on the CPU side by side. For
// tests on the host and for a run on a device.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/optimizer/momentum.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/train/device_trainer.hpp>

namespace test {

namespace layer = lamina::layer;
using lamina::activation;

/// Samples for every data of a program: numbers from -1 to 1, whole numbers below `classes`.
template <class P>
class random_samples {
 public:
  random_samples(int n, int classes) {
    std::mt19937 random(5);
    std::uniform_real_distribution<float> number(-1, 1);
    for (int i = 0; i < P::desc.count.data; ++i) {
      const auto& d = P::desc.variables[P::desc.data[i]];
      const int columns = lamina::matrix_of(d, P::desc.dims).columns;
      width_.push_back(columns * size_of(d.type));
      data_.emplace_back(static_cast<std::size_t>(n) * static_cast<std::size_t>(width_.back()));
      char* to = data_.back().data();
      for (int k = 0; k < n * columns; ++k, to += size_of(d.type)) {
        const float x = number(random);
        const std::int64_t label = static_cast<std::int64_t>(random() % unsigned(classes));
        if (d.type == lamina::dtype::float32)
          std::memcpy(to, &x, sizeof(x));
        else
          std::memcpy(to, &label, sizeof(label));
      }
    }
  }
  lamina::batch_view<P> batch(int first, int n) const {
    const void* at[lamina::at_least_one(P::desc.count.data)] = {};
    for (std::size_t i = 0; i < data_.size(); ++i) at[i] = data_[i].data() + first * width_[i];
    return lamina::batch_view<P>::dense(n, at);
  }

 private:
  std::vector<std::vector<char>> data_;
  std::vector<int> width_;
};

/// Differences relative to the largest number, after some steps.
struct difference {
  double cost = 0, metric = 0, parameters = 0;
  double worst() const { return std::max({cost, metric, parameters}); }
};

/// Equal models, equal mini-batches, one trained on the CPU and one by the backend.
template <class P, class Opt, class Backend>
difference train_both(P program, const Opt& opt, Backend& backend, const std::vector<int>& sizes,
                      int classes = 5) {
  lamina::model on_cpu{program, 3}, at_place{program, 3};
  lamina::trainer<P, Opt> expected(opt, on_cpu, 1, 11);
  lamina::device_trainer<P, Opt, Backend> found(backend, opt, at_place, 11);
  int first = 0;
  for (const int n : sizes) first += n;
  const random_samples<P> s(first, classes);
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
  found.bring_back();
  for (int i = 0; i < P::desc.count.parameters; ++i) {
    const auto a = on_cpu.get(i), b = at_place.get(i);
    double apart = 0, largest = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
      const double u = a.data()[k], v = b.data()[k];
      apart = std::isfinite(v) ? std::max(apart, std::abs(u - v)) : 1;
      largest = std::max(largest, std::abs(u));
    }
    d.parameters = std::max(d.parameters, largest > 0 ? apart / largest : 1);
  }
  return d;
}

}  // namespace test
