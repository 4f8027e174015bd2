// SPDX-License-Identifier: Apache-2.0
// lamina/operators/random/distribution/cpu.hpp - operators that generate uniform or normal random
// numbers.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/call_context.hpp>
#include <lamina/operators/random/distribution/definition.hpp>
#if LAMINA_DEFINES
#include <lamina/core/numbers/random.hpp>
#include <lamina/engine/cpu/memory/array_layout.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

#if LAMINA_DEFINES

namespace detail {

/// Out = number(seed, stream, i) for element i in row-major order. If a mini-batch is computed in
/// parts, i counts from the beginning of the whole mini-batch, so that the numbers do not depend on
/// the parts. Parameters are not filled here: the startup program fills them
/// (model/parameters/initialize.hpp).
template <class F>
void fill_random(const call_context& c, random_type type, F number) {
  constexpr int seed_attribute = 4;
  const operand out = c.output(0);
  const std::uint64_t own = static_cast<std::uint64_t>(c.number(seed_attribute));
  const std::uint64_t seed = own != 0 ? own : c.run().seed + c.run().step;
  const std::uint64_t stream =
      random_stream(type, static_cast<std::uint64_t>(c.ordinal()), c.run().iteration);
  std::uint64_t i = out.domain == 0 ? 0
                                    : static_cast<std::uint64_t>(c.run().first_row[out.domain]) *
                                          static_cast<std::uint64_t>(out.columns);
  for (int r = 0; r < out.rows; ++r)
    for (int j = 0; j < out.columns; ++j, ++i)
      store_as(out.data, out.type, r * out.stride + j, number(seed, stream, i));
}

inline void fill_uniform(const call_context& c, random_type type) {
  const float low = static_cast<float>(c.number(2)), high = static_cast<float>(c.number(3));
  fill_random(c, type, [=](std::uint64_t seed, std::uint64_t stream, std::uint64_t i) {
    return random_uniform_at(seed, stream, i, low, high);
  });
}
inline void fill_normal(const call_context& c, random_type type) {
  const float mean = static_cast<float>(c.number(2)), deviation = static_cast<float>(c.number(3));
  fill_random(c, type, [=](std::uint64_t seed, std::uint64_t stream, std::uint64_t i) {
    return mean + deviation * random_normal_at(seed, stream, i);
  });
}

}  // namespace detail

#endif  // LAMINA_DEFINES

template <>
struct call_kernel<operators::uniform_random> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};
template <>
struct call_kernel<operators::uniform_random_batch_size_like> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};
template <>
struct call_kernel<operators::gaussian_random> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};
template <>
struct call_kernel<operators::gaussian_random_batch_size_like> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

template <>
struct call_kernel<operators::truncated_gaussian_random> {
  template <class Real = float>
  LAMINA_KERNEL static void run(const call_context& c);
};

#if LAMINA_DEFINES

template <class Real>
void call_kernel<operators::uniform_random>::run(const call_context& c) {
  detail::fill_uniform(c, random_type::uniform);
}
LAMINA_INSTANCE(void call_kernel<operators::uniform_random>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::uniform_random>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::uniform_random_batch_size_like>::run(const call_context& c) {
  detail::fill_uniform(c, random_type::uniform_like);
}
LAMINA_INSTANCE(
    void call_kernel<operators::uniform_random_batch_size_like>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<operators::uniform_random_batch_size_like>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::gaussian_random>::run(const call_context& c) {
  detail::fill_normal(c, random_type::normal);
}
LAMINA_INSTANCE(void call_kernel<operators::gaussian_random>::run<float>(const call_context&))
LAMINA_INSTANCE(void call_kernel<operators::gaussian_random>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::gaussian_random_batch_size_like>::run(const call_context& c) {
  detail::fill_normal(c, random_type::normal_like);
}
LAMINA_INSTANCE(
    void call_kernel<operators::gaussian_random_batch_size_like>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<operators::gaussian_random_batch_size_like>::run<double>(const call_context&))

template <class Real>
void call_kernel<operators::truncated_gaussian_random>::run(const call_context& c) {
  const float mean = static_cast<float>(c.number(2)), deviation = static_cast<float>(c.number(3));
  detail::fill_random(c, random_type::truncated_normal,
                      [=](std::uint64_t seed, std::uint64_t stream, std::uint64_t i) {
                        return mean + deviation * random_truncated_normal_at(seed, stream, i);
                      });
}
LAMINA_INSTANCE(
    void call_kernel<operators::truncated_gaussian_random>::run<float>(const call_context&))
LAMINA_INSTANCE(
    void call_kernel<operators::truncated_gaussian_random>::run<double>(const call_context&))

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine::cpu
