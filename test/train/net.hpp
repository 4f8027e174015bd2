// SPDX-License-Identifier: Apache-2.0
// test/train/net.hpp - what the tests of training share.
#pragma once

#include "model/samples.hpp"

#include <lamina/model/gradient_machine.hpp>
#include <lamina/optimizer/optimizers.hpp>
#include <lamina/reader/reader.hpp>
#include <lamina/train/train.hpp>

namespace test {

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
namespace reader = lamina::reader;

/// The largest difference between the parameters of two models.
template <class A, class B>
double distance(const lamina::model<A>& a, const lamina::model<B>& b) {
  double worst = 0;
  for (int i = 0; i < a.parameter_arrays(); ++i) {
    const auto x = a.get(i), y = b.get(i);
    for (std::size_t k = 0; k < x.size(); ++k)
      worst = std::max(worst, std::abs(static_cast<double>(x.data()[k] - y.data()[k])));
  }
  return worst;
}

}  // namespace test
