// SPDX-License-Identifier: Apache-2.0
// Functions of ONNX files that lamina composes of others keep their digits.
#include <cmath>
#include <limits>
#include <vector>

#include "io/onnx/model_runs.hpp"
#include <catch2/catch.hpp>

using namespace model_runs;

TEST_CASE("inverse hyperbolic functions of ONNX files are exact near 0 and for large numbers") {
  const auto compare = [](const char* type, float (*exact)(float), std::vector<float> x) {
    const std::int64_t count = static_cast<std::int64_t>(x.size());
    model m({value("x", {count})}, {any("y")});
    m.node(type, {"x"}, {"y"});
    const std::vector<float> found = numbers(m.run({{"x", floats({x.size()}, x)}})[0]);
    for (std::size_t i = 0; i < x.size(); ++i) {
      INFO(type << " of " << x[i]);
      if (std::isnan(exact(x[i])))
        CHECK(std::isnan(found[i]));
      else if (std::isinf(exact(x[i])))
        CHECK(found[i] == exact(x[i]));
      else
        CHECK(found[i] == Approx(exact(x[i])).epsilon(1e-6).margin(0));
    }
  };
  const float infinity = std::numeric_limits<float>::infinity();
  compare("Asinh", [](float x) { return std::asinh(x); },
          {0, 1e-9F, -1e-4F, 0.3F, -7, 1e8F, -3e20F, 3e38F, infinity, -infinity});
  compare("Acosh", [](float x) { return std::acosh(x); },
          {1, 1.0001F, 1.5F, 9, 1e8F, 3e30F, infinity, 0.5F});
  compare("Atanh", [](float x) { return std::atanh(x); },
          {0, 1e-9F, -1e-4F, 0.3F, -0.99F, 1, -1, 2});
}
