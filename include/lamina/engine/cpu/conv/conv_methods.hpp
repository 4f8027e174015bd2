// SPDX-License-Identifier: Apache-2.0
// lamina/engine/cpu/conv/conv_methods.hpp - the special convolution algorithms that a program
// needs.
//
// The shapes of a program's convolutions are known at compile time, so only algorithms that one of
// these shapes needs are compiled. Kernels call the algorithms through the table of functions of
// the program.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <type_traits>

#include <lamina/core/compile_time/same_address.hpp>
#include <lamina/engine/cpu/conv/depthwise.hpp>
#include <lamina/engine/cpu/conv/image_rows.hpp>
#include <lamina/engine/cpu/conv/plane_conv.hpp>
#include <lamina/engine/cpu/conv/pointwise_conv.hpp>
#include <lamina/engine/cpu/conv/winograd.hpp>
#include <lamina/operators/conv/common.hpp>
#include <lamina/operators/conv/definition.hpp>
#include <lamina/operators/gradient_rule.hpp>
#include <lamina/program/program_desc.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cpu {

/// An algorithm that computes the result of a convolution or the gradient of its input image.
/// `scratch` returns the size of the scratch memory that `run` needs, in floats. `kept` is memory
/// in which `run` keeps transformed filters for the next run, or null.
struct image_method {
  std::ptrdiff_t (*scratch)(const conv_shape&, int samples);
  void (*run)(const conv_shape&, int samples, const image_rows& from, const float* filter,
              std::ptrdiff_t filter_stride, const float* bias, const image_rows& to, float* scratch,
              const image_epilogue& done, filter_memory* kept);
};
/// An algorithm that computes the gradient of the filters.
struct filter_method {
  std::ptrdiff_t (*scratch)(const conv_shape&, int samples);
  void (*run)(const conv_shape&, int samples, const image_rows& large, const image_rows& grad,
              float* filter, std::ptrdiff_t filter_stride, float* scratch);
};

/// The convolution algorithms: the special algorithms, then the general one.
enum class conv_kind { winograd_3, winograd_5, depthwise, pointwise, general };
inline constexpr int special_conv_kinds = 4;
constexpr conv_kind kind_of(const conv_shape& s) {
  if (winograd::suits(s))
    return s.side[1].filter == 3 ? conv_kind::winograd_3 : conv_kind::winograd_5;
  return depthwise::suits(s)        ? conv_kind::depthwise
         : pointwise_conv::suits(s) ? conv_kind::pointwise
                                    : conv_kind::general;
}

namespace detail {

template <int Filter, class Lazy>
struct winograd_calls {
  static std::ptrdiff_t forward_scratch(const conv_shape& s, int samples) {
    return winograd(s, samples).forward_scratch();
  }
  static void forward(const conv_shape& s, int samples, const image_rows& large,
                      const float* filter, std::ptrdiff_t filter_stride, const float* bias,
                      const image_rows& smaller, float* scratch, const image_epilogue& done,
                      filter_memory* kept) {
    winograd(s, samples)
        .forward(forward_transforms_of<Filter>, large, filter, filter_stride, bias, smaller,
                 scratch, done, kept);
  }
  static std::ptrdiff_t backward_scratch(const conv_shape& s, int samples) {
    return winograd(s, samples).backward_scratch();
  }
  static void backward(const conv_shape& s, int samples, const image_rows& smaller,
                       const float* filter, std::ptrdiff_t filter_stride, const float* bias,
                       const image_rows& large, float* scratch, const image_epilogue& done,
                       filter_memory*) {
    winograd(s, samples)
        .backward(backward_transforms_of<Filter>, smaller, filter, filter_stride, bias, large,
                  scratch, done);
  }
  static std::ptrdiff_t filter_gradient_scratch(const conv_shape& s, int samples) {
    return winograd(s, samples).filter_gradient_scratch();
  }
  static void filter_gradient(const conv_shape& s, int samples, const image_rows& large,
                              const image_rows& grad, float* filter, std::ptrdiff_t filter_stride,
                              float* scratch) {
    winograd(s, samples)
        .filter_gradient(filter_gradient_transforms_of<Filter>, large, grad, filter, filter_stride,
                         scratch);
  }
};

template <class Lazy>
struct depthwise_calls {
  static std::ptrdiff_t scratch(const conv_shape& s, int) { return depthwise(s).scratch(); }
  static std::ptrdiff_t forward_scratch(const conv_shape& s, int) {
    return plane_conv(s).scratch();
  }
  static void forward(const conv_shape& s, int samples, const image_rows& large,
                      const float* filter, std::ptrdiff_t filter_stride, const float* bias,
                      const image_rows& smaller, float* scratch, const image_epilogue& done,
                      filter_memory*) {
    plane_conv(s).forward(samples, large, filter, filter_stride, bias, smaller, scratch, done);
  }
  static void backward(const conv_shape& s, int samples, const image_rows& smaller,
                       const float* filter, std::ptrdiff_t filter_stride, const float* bias,
                       const image_rows& large, float* scratch, const image_epilogue& done,
                       filter_memory*) {
    depthwise(s).backward(samples, smaller, filter, filter_stride, bias, large, scratch, done);
  }
  static void filter_gradient(const conv_shape& s, int samples, const image_rows& large,
                              const image_rows& grad, float* filter, std::ptrdiff_t filter_stride,
                              float* scratch) {
    depthwise(s).filter_gradient(samples, large, grad, filter, filter_stride, scratch);
  }
};

template <class Lazy>
struct pointwise_calls {
  static std::ptrdiff_t scratch(const conv_shape& s, int) { return pointwise_conv(s).scratch(); }
  static void forward(const conv_shape& s, int samples, const image_rows& large,
                      const float* filter, std::ptrdiff_t filter_stride, const float* bias,
                      const image_rows& smaller, float* scratch, const image_epilogue& done,
                      filter_memory*) {
    pointwise_conv(s).forward(samples, large, filter, filter_stride, bias, smaller, scratch, done);
  }
};

}  // namespace detail

/// The special algorithms, indexed by conv_kind; algorithms that a program does not use, or that do
/// not exist, are null.
/// The template parameter Lazy of the functions is always void. It makes the names of the
/// algorithms depend on a template parameter, so that the compiler instantiates the algorithms only
/// for programs with convolutions.
struct conv_methods {
  image_method forward[special_conv_kinds], backward[special_conv_kinds];
  filter_method filter_gradient[special_conv_kinds];

  /// Whether the larger image (a gradient, or the result of a transposed convolution) is computed
  /// as a convolution of the smaller image with the reversed filters. This requires strides of 1,
  /// and is fast only if both images are nearly equal in size.
  static constexpr bool gathers(const conv_shape& s) {
    for (const conv_side& a : s.side)
      if (a.stride != 1) return false;
    return 4ll * s.large_size() <= 5ll * s.small_size() &&
           (s.small_channels == 1 || !depthwise::suits(s));
  }
  /// The shape of the convolution of the smaller image with the reversed filters.
  static constexpr conv_shape turned(conv_shape s) {
    const int channels = s.large_channels;
    s.large_channels = s.small_channels;
    s.small_channels = channels;
    for (conv_side& a : s.side)
      a = {a.smaller, a.large, a.filter, 1, (a.filter - 1) * a.dilation - a.padding, a.dilation};
    return s;
  }

  template <class Lazy = void>
  constexpr void add_forward(conv_kind kind) {
    if (kind == conv_kind::winograd_3)
      forward[0] = {&detail::winograd_calls<3, Lazy>::forward_scratch,
                    &detail::winograd_calls<3, Lazy>::forward};
    if (kind == conv_kind::winograd_5)
      forward[1] = {&detail::winograd_calls<5, Lazy>::forward_scratch,
                    &detail::winograd_calls<5, Lazy>::forward};
    if (kind == conv_kind::depthwise)
      forward[2] = {&detail::depthwise_calls<Lazy>::forward_scratch,
                    &detail::depthwise_calls<Lazy>::forward};
    if (kind == conv_kind::pointwise)
      forward[3] = {&detail::pointwise_calls<Lazy>::scratch,
                    &detail::pointwise_calls<Lazy>::forward};
  }
  template <class Lazy = void>
  constexpr void add_backward(conv_kind kind) {
    if (kind == conv_kind::winograd_3)
      backward[0] = {&detail::winograd_calls<3, Lazy>::backward_scratch,
                     &detail::winograd_calls<3, Lazy>::backward};
    if (kind == conv_kind::winograd_5)
      backward[1] = {&detail::winograd_calls<5, Lazy>::backward_scratch,
                     &detail::winograd_calls<5, Lazy>::backward};
    if (kind == conv_kind::depthwise)
      backward[2] = {&detail::depthwise_calls<Lazy>::scratch,
                     &detail::depthwise_calls<Lazy>::backward};
  }
  template <class Lazy = void>
  constexpr void add_filter_gradient(conv_kind kind) {
    if (kind == conv_kind::winograd_3)
      filter_gradient[0] = {&detail::winograd_calls<3, Lazy>::filter_gradient_scratch,
                            &detail::winograd_calls<3, Lazy>::filter_gradient};
    if (kind == conv_kind::winograd_5)
      filter_gradient[1] = {&detail::winograd_calls<5, Lazy>::filter_gradient_scratch,
                            &detail::winograd_calls<5, Lazy>::filter_gradient};
    if (kind == conv_kind::depthwise)
      filter_gradient[2] = {&detail::depthwise_calls<Lazy>::scratch,
                            &detail::depthwise_calls<Lazy>::filter_gradient};
  }
  /// Adds the algorithms that both gradients of a convolution need.
  template <class Lazy = void>
  constexpr void add_gradients(const conv_shape& s) {
    add_filter_gradient<Lazy>(kind_of(s));
    if (gathers(s))
      add_forward<Lazy>(kind_of(turned(s)));
    else
      add_backward<Lazy>(kind_of(s));
  }
};

/// The algorithm of a table that suits a shape; null means the general algorithm.
template <class Method>
const Method* find_conv_method(const Method (&methods)[special_conv_kinds], const conv_shape& s) {
  const conv_kind kind = kind_of(s);
  if (kind == conv_kind::general) return nullptr;
  const Method& found = methods[static_cast<int>(kind)];
  return found.run == nullptr ? nullptr : &found;
}

namespace detail {

template <class Lazy>
constexpr conv_methods make_all_conv_methods() {
  conv_methods all{};
  for (int k = 0; k < special_conv_kinds; ++k) {
    all.template add_forward<Lazy>(static_cast<conv_kind>(k));
    all.template add_backward<Lazy>(static_cast<conv_kind>(k));
    all.template add_filter_gradient<Lazy>(static_cast<conv_kind>(k));
  }
  return all;
}

/// The shape of a conv2d or of its gradient. The first two inputs of both operators are the image
/// and the filter.
constexpr conv_shape shape_of_conv2d(const program_desc& p, const operator_desc& op) {
  const variable_desc& x = p.variables[p.arguments[op.inputs]];
  const variable_desc& w = p.variables[p.arguments[op.inputs + 1]];
  conv_shape s;
  s.groups = static_cast<int>(p.attributes[op.attributes + conv_attributes[3]].number);
  s.large_channels = p.dims[w.dims + 1];
  s.small_channels = p.dims[w.dims] / s.groups;
  for (int d = 0; d < 2; ++d) {
    conv_side& a = s.side[d + 1];
    a.large = p.dims[x.dims + 2 + d];
    a.filter = p.dims[w.dims + 2 + d];
    a.stride = p.integers[p.attributes[op.attributes + conv_attributes[0]].offset + d];
    a.padding = p.integers[p.attributes[op.attributes + conv_attributes[1]].offset + d];
    a.dilation = p.integers[p.attributes[op.attributes + conv_attributes[2]].offset + d];
    a.smaller = (a.large + 2 * a.padding - (a.filter - 1) * a.dilation - 1) / a.stride + 1;
  }
  return s;
}

template <class P>
constexpr conv_methods make_conv_methods() {
  constexpr const program_desc& p = P::desc;
  conv_methods needed{};
  for (int k = 0; k < p.count.operators; ++k) {
    const operator_schema* const of = p.operators[k].schema;
    if (same_address(of, &schema_of<operators::conv2d>()) ||
        same_address(of, &schema_of<operators::depthwise_conv2d>()))
      needed.add_forward(kind_of(shape_of_conv2d(p, p.operators[k])));
    else if (same_address(of, &schema_of<gradient_of<operators::conv2d>>()) ||
             same_address(of, &schema_of<gradient_of<operators::depthwise_conv2d>>()))
      needed.add_gradients(shape_of_conv2d(p, p.operators[k]));
    else if (same_address(of, &schema_of<operators::conv3d>()) ||
             same_address(of, &schema_of<gradient_of<operators::conv3d>>()) ||
             same_address(of, &schema_of<operators::conv2d_transpose>()) ||
             same_address(of, &schema_of<gradient_of<operators::conv2d_transpose>>()))
      return make_all_conv_methods<std::void_t<P>>();
  }
  return needed;
}

}  // namespace detail

template <class Lazy = void>
inline constexpr conv_methods all_conv_methods = detail::make_all_conv_methods<Lazy>();

/// The algorithms that the convolutions of a program need.
template <class P>
inline constexpr conv_methods conv_methods_of = detail::make_conv_methods<P>();

}}}  // namespace lamina::engine::cpu
