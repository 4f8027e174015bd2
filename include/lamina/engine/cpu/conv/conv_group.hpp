// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv/conv_group.hpp - kernels for groups whose head is a convolution or the
// gradient of its input. The statements of the group run over each image as soon as the head has
// computed the image, while it is still in the cache.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>

#include <lamina/engine/common/call_error.hpp>
#include <lamina/engine/cpu/conv/conv_backward.hpp>
#include <lamina/engine/cpu/schedule/channel_walk.hpp>
#include <lamina/engine/cpu/schedule/group_kernel.hpp>
#include <lamina/operators/conv/definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

namespace detail {

inline image_rows images(const operand& o) { return {static_cast<float*>(o.data), o.stride}; }

/// The head of a group: the convolution of the first argument (images) with the second argument
/// (filters), or the gradient of the images of a convolution.
struct conv_head {
  operand from, filter, to;
  conv_shape shape;

  LAMINA_API conv_head(const call_context& c, const group_info& g, float* result, bool is_gradient);
};

#if LAMINA_DEFINES
LAMINA_LAZY LAMINA_NOINLINE LAMINA_API void run_conv(const call_context& c, const group_info& g,
                                                     float* result, const image_epilogue& done) {
  const conv_head h(c, g, result, false);
  conv_forward(h.shape, c.run().convolutions)
      .run(h.from.rows, images(h.from), h.filter.row<const float>(0), h.filter.stride, nullptr,
           images(h.to), c.scratch(), done, c.run().filters);
}
#else
LAMINA_NOINLINE void run_conv(const call_context& c, const group_info& g, float* result,
                              const image_epilogue& done);
#endif  // LAMINA_DEFINES
#if LAMINA_DEFINES
LAMINA_LAZY LAMINA_NOINLINE LAMINA_API void run_conv_dx(const call_context& c, const group_info& g,
                                                        float* result, const image_epilogue& done) {
  const conv_head h(c, g, result, true);
  conv_backward(h.shape, c.run().convolutions)
      .run(h.from.rows, images(h.from), h.filter.row<const float>(0), h.filter.stride, nullptr,
           images(h.to), c.scratch(), done);
}
#else
LAMINA_NOINLINE void run_conv_dx(const call_context& c, const group_info& g, float* result,
                                 const image_epilogue& done);
#endif  // LAMINA_DEFINES
LAMINA_LAZY LAMINA_API_COLD std::ptrdiff_t conv_scratch(const program_view& p, float* const* a,
                                                        const argument_info* info,
                                                        const group_info& g, const run_context& c);
LAMINA_LAZY LAMINA_API_COLD std::ptrdiff_t conv_dx_scratch(const program_view& p, float* const* a,
                                                           const argument_info* info,
                                                           const group_info& g,
                                                           const run_context& c);

/// The arguments that the statements of a group read.
struct statement_arguments {
  float* const* of;
  const argument_info* info;
  const group_info* group;
};

/// Runs the statements of a group over a finished part of an image. Unless the part is a tile of
/// sums, the head has stored the image in the array that the last store of the statements writes.
template <class S>
void finish_image(const void* context, int row, const image_part& part) {
  using runner_type = statement_runner<S>;
  const auto& a = *static_cast<const statement_arguments*>(context);
  const runner_type runner(a.of);
  const std::ptrdiff_t image = static_cast<std::ptrdiff_t>(row) * padded(a.group->columns);
  const image_tile& t = part.tile;
  if (t.sums == nullptr) {
    const int channels =
        runner_type::channels < 0 ? 1 : a.info[(std::max)(0, runner_type::channels)].columns;
    return run_channels(runner, channels, a.group->columns, row,
                        a.of[runner_type::last_store()] + image, part.begin, part.end);
  }
  const int first = static_cast<int>(part.begin), channel = first / t.channel_size;
  for (int i = 0; i < t.channels; ++i)
    for (int j = 0; j < t.width; j += lanes) {
      const int column = first + i * t.channel_size + j;
      runner(vector::load_aligned(t.sums + i * t.stride + j),
             {image + column, row, column, channel + i});
    }
}

/// Whether the group has a single statement, which stores the result of the head unchanged.
template <class S>
inline constexpr bool only_keeps = false;
template <int K, int Store>
inline constexpr bool only_keeps<
    expression::statements<expression::let<operators::keep, K, Store, expression::head_value>>> =
    true;

/// Runs a group; the function `head` computes the head of the group.
template <class S>
struct conv_group {
  static void run(const program_view& p, float* const* a, const argument_info* info,
                  const group_info& g, const run_context& c,
                  void (*head)(const call_context&, const group_info&, float*,
                               const image_epilogue&)) {
    const statement_arguments context{a, info, &g};
    head(call_context(p, a, info, g, c), g, a[statement_runner<S>::last_store()],
         {only_keeps<S> ? nullptr : &finish_image<S>, &context});
  }
};

#if LAMINA_DEFINES

LAMINA_LAZY_BODY std::ptrdiff_t conv_scratch(const program_view& p, float* const* a,
                                             const argument_info* info, const group_info& g,
                                             const run_context& c) {
  const conv_head h(call_context(p, a, info, g, c), g, nullptr, false);
  return conv_forward(h.shape, c.convolutions).scratch(h.from.rows);
}

LAMINA_LAZY_BODY std::ptrdiff_t conv_dx_scratch(const program_view& p, float* const* a,
                                                const argument_info* info, const group_info& g,
                                                const run_context& c) {
  const conv_head h(call_context(p, a, info, g, c), g, nullptr, true);
  return conv_backward(h.shape, c.convolutions).scratch(h.from.rows);
}

#endif  // LAMINA_DEFINES

#if LAMINA_DEFINES

conv_head::conv_head(const call_context& c, const group_info& g, float* result, bool is_gradient)
    : from(c.at_position(0)), filter(c.at_position(1)), to(from) {
  to.data = result;
  to.columns = g.columns;
  to.stride = padded(g.columns);
  // The result of the head need not be an argument of the group, so g.depth holds the position of
  // its dimensions in the program's list.
  to.dims = c.program().dims + g.depth;
  shape = is_gradient ? conv_shape(c, to, from, filter, conv_attributes)
                      : conv_shape(c, from, to, filter, conv_attributes);
}

#endif  // LAMINA_DEFINES

}  // namespace detail

template <class S>
struct group_kernel<expression::group_expression<fusion_anchor::conv, S>> {
  static void run(const program_view& p, float* const* a, const argument_info* info,
                  const group_info& g, const run_context& c) {
    detail::conv_group<S>::run(p, a, info, g, c, &detail::run_conv);
  }
  static constexpr bool convolves = true;
  static constexpr scratch_function scratch = &detail::conv_scratch;
};

template <class S>
struct group_kernel<expression::group_expression<fusion_anchor::conv_dx, S>> {
  static void run(const program_view& p, float* const* a, const argument_info* info,
                  const group_info& g, const run_context& c) {
    detail::conv_group<S>::run(p, a, info, g, c, &detail::run_conv_dx);
  }
  static constexpr bool convolves = true;
  static constexpr scratch_function scratch = &detail::conv_dx_scratch;
};

}}}  // namespace lamina::engine::cpu
