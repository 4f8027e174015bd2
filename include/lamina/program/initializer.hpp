// SPDX-License-Identifier: Apache-2.0
// lamina/program/initializer.hpp - rules for the initial values of parameters.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>

namespace lamina { inline namespace LAMINA_ABI {

/// Fluid's initializers.
enum class initializer_kind : std::uint8_t {
  by_layer,
  constant,
  uniform,
  normal,
  truncated_normal,
  xavier,
  msra,
  bilinear,
  array
};

/// The rule that fills a parameter; made by the functions of namespace lamina::init.
struct initializer {
  initializer_kind kind = initializer_kind::by_layer;
  double a = 0, b = 0;            // constant: value; uniform: low, high; normal: mean, deviation
  bool uniform = true;            // xavier and msra: draw from U, not from N
  float fan_in = 0, fan_out = 0;  // xavier and msra: 0 means "from the shape"
  int seed = 0;                   // 0: the program's seed
  const float* values = nullptr;  // array: row-major values with static storage
  int count = 0;
};

namespace init {

/// Sets every element to `value`. Fluid: ConstantInitializer.
constexpr initializer constant(float value = 0) {
  return {.kind = initializer_kind::constant, .a = value};
}
/// Draws each element from the uniform distribution U(low, high). Fluid: UniformInitializer.
constexpr initializer uniform(float low = -1, float high = 1, int seed = 0) {
  return {.kind = initializer_kind::uniform, .a = low, .b = high, .seed = seed};
}
/// Draws each element from the normal distribution N(mean, deviation^2). Fluid: NormalInitializer.
constexpr initializer normal(float mean = 0, float deviation = 1, int seed = 0) {
  return {.kind = initializer_kind::normal, .a = mean, .b = deviation, .seed = seed};
}
/// Draws each element from N(mean, deviation^2); a value more than two deviations from the mean is
/// drawn again. Fluid: TruncatedNormalInitializer.
constexpr initializer truncated_normal(float mean = 0, float deviation = 1, int seed = 0) {
  return {.kind = initializer_kind::truncated_normal, .a = mean, .b = deviation, .seed = seed};
}
/// Draws each element from U(-r, r) with r = sqrt(6 / (fan_in + fan_out)) or, if not `uniform`,
/// from N(0, 2 / (fan_in + fan_out)). If a fan is 0, the number of inputs or outputs follows from
/// the parameter's shape. Source: Glorot and Bengio 2010. Fluid: XavierInitializer.
constexpr initializer xavier(bool uniform = true, float fan_in = 0, float fan_out = 0,
                             int seed = 0) {
  return {.kind = initializer_kind::xavier,
          .uniform = uniform,
          .fan_in = fan_in,
          .fan_out = fan_out,
          .seed = seed};
}
/// Draws each element from U(-r, r) with r = sqrt(6 / fan_in) or, if not `uniform`, from N(0, 2 /
/// fan_in). If fan_in is 0, the number of inputs follows from the parameter's shape. Source: He et
/// al. 2015. Fluid: MSRAInitializer.
constexpr initializer msra(bool uniform = true, float fan_in = 0, int seed = 0) {
  return {.kind = initializer_kind::msra, .uniform = uniform, .fan_in = fan_in, .seed = seed};
}
/// Sets the weights of upsampling by bilinear interpolation, for 4-D parameters with square
/// kernels. Fluid: BilinearInitializer.
constexpr initializer bilinear() { return {.kind = initializer_kind::bilinear}; }
/// Copies `values`, which are in row-major order, one per element of the parameter. The array must
/// have static storage, because the initializer stores its address. Fluid: NumpyArrayInitializer.
template <std::size_t N>
constexpr initializer array(const float (&values)[N]) {
  return {.kind = initializer_kind::array, .values = values, .count = static_cast<int>(N)};
}

}  // namespace init
}}  // namespace lamina
