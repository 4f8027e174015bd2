// SPDX-License-Identifier: Apache-2.0
// lamina/operators/random/distribution/executor.hpp - operators that generate uniform or normal
// random numbers.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/numbers/random.hpp>
#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/operators/fill/executor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// Fills Out with random numbers. They are computed in float, so that all engines generate the same
/// numbers. A parameter gets the same numbers in each run; any other variable gets new numbers
/// (core/numbers/random.hpp).
template <class Real, class F>
void give_random(call_context<Real>& ctx, random_type type, F number) {
  if (!ctx.wants("Out")) return;
  const variable_desc& to = ctx.output_desc("Out");
  const std::uint64_t own = static_cast<std::uint64_t>(ctx.attribute("seed"));
  const bool starts = to.kind == variable_kind::parameter;
  const std::uint64_t seed =
      own != 0 ? own : ctx.options().seed + (starts ? 0 : ctx.options().step);
  const std::uint64_t stream = starts ? static_cast<std::uint64_t>(to.index)
                                      : random_stream(type, ctx.ordinal(), ctx.next_iteration());
  auto out = zeros<float>(filled_shape(ctx));
  const std::size_t width = out.size() == 0 ? 0 : out.size() / out.shape()[0];
  const std::uint64_t first = to.rows == once::domain ? 0 : ctx.options().first_row * width;
  for (std::size_t i = 0; i < out.size(); ++i) out.flat(i) = number(seed, stream, first + i);
  ctx.give("Out", std::move(out));
}

/// Out = uniform random numbers from `min` to `max`.
template <class Real, random_type Type>
void uniform_random_forward(call_context<Real>& ctx) {
  const float low = static_cast<float>(ctx.attribute("min", -1));
  const float high = static_cast<float>(ctx.attribute("max", 1));
  give_random(ctx, Type, [=](std::uint64_t seed, std::uint64_t stream, std::uint64_t i) {
    return random_uniform_at(seed, stream, i, low, high);
  });
}

/// Out = normal random numbers; for the type truncated_normal, only numbers at most two standard
/// deviations from the mean.
template <class Real, random_type Type>
void gaussian_random_forward(call_context<Real>& ctx) {
  const float mean = static_cast<float>(ctx.attribute("mean"));
  const float deviation = static_cast<float>(ctx.attribute("std", 1));
  give_random(ctx, Type, [=](std::uint64_t seed, std::uint64_t stream, std::uint64_t i) {
    return mean + deviation * (Type == random_type::truncated_normal
                                   ? random_truncated_normal_at(seed, stream, i)
                                   : random_normal_at(seed, stream, i));
  });
}

template <class Real>
void add_random_kernels(kernel_table<Real>& table) {
  table["uniform_random"] = uniform_random_forward<Real, random_type::uniform>;
  table["gaussian_random"] = gaussian_random_forward<Real, random_type::normal>;
  table["truncated_gaussian_random"] = gaussian_random_forward<Real, random_type::truncated_normal>;
  table["uniform_random_batch_size_like"] = uniform_random_forward<Real, random_type::uniform_like>;
  table["gaussian_random_batch_size_like"] =
      gaussian_random_forward<Real, random_type::normal_like>;
}

}}}  // namespace lamina::kernel
