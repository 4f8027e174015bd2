// SPDX-License-Identifier: Apache-2.0
// lamina/operators/random/distribution/cuda.cuh - operators that generate uniform or normal random
// numbers.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/random.hpp>
#include <lamina/engine/cuda/body/element_loops.cuh>
#include <lamina/operators/random/distribution/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

namespace detail {

/// Writes number i of a random stream. It is uniform between the two parameters, or normal with the
/// parameters as mean and standard deviation.
template <random_type Type>
struct random_body {
  struct arguments {
    void* to;
    std::ptrdiff_t stride;
    divider columns;
    dtype type;
    float first, second;
    random_source random;
    std::uint64_t position;
    int count;
  };
  static LAMINA_INLINE LAMINA_FN void run(const arguments& a, int i) {
    const std::uint64_t seed = a.random.seed(), stream = a.random.stream;
    const std::uint64_t at = a.position + static_cast<std::uint64_t>(i);
    float x;
    if constexpr (Type == random_type::uniform)
      x = random_uniform_at(seed, stream, at, a.first, a.second);
    else if constexpr (Type == random_type::normal)
      x = a.first + a.second * random_normal_at(seed, stream, at);
    else
      x = a.first + a.second * random_truncated_normal_at(seed, stream, at);
    int column = i;
    const int row = a.columns.divide(column);
    store_number(a.to, a.type, row * a.stride + column, static_cast<double>(x));
  }
};

/// Fills Out with random numbers. `Type` selects the distribution, `Stream` the random stream.
template <random_type Type, random_type Stream>
struct random_kernel {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    const operand out = c.output(0);
    const std::uint64_t own = static_cast<std::uint64_t>(c.number(4));
    const std::uint64_t first_row =
        out.domain == 0 ? 0 : static_cast<std::uint64_t>(c.run.first_row[out.domain]);
    b.template elements<random_body<Type>>(
        {out.data, out.stride, divider(out.columns), out.type, static_cast<float>(c.number(2)),
         static_cast<float>(c.number(3)),
         c.random(random_stream(Stream, static_cast<std::uint64_t>(c.ordinal())), own, own != 0),
         first_row * static_cast<std::uint64_t>(out.columns), out.rows * out.columns});
  }
};

}  // namespace detail

template <>
struct call_kernel<operators::uniform_random>
    : detail::random_kernel<random_type::uniform, random_type::uniform> {};
template <>
struct call_kernel<operators::uniform_random_batch_size_like>
    : detail::random_kernel<random_type::uniform, random_type::uniform_like> {};
template <>
struct call_kernel<operators::gaussian_random>
    : detail::random_kernel<random_type::normal, random_type::normal> {};
template <>
struct call_kernel<operators::gaussian_random_batch_size_like>
    : detail::random_kernel<random_type::normal, random_type::normal_like> {};
template <>
struct call_kernel<operators::truncated_gaussian_random>
    : detail::random_kernel<random_type::truncated_normal, random_type::truncated_normal> {};

}}}  // namespace lamina::engine::cuda
