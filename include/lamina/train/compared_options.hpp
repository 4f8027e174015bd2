// SPDX-License-Identifier: Apache-2.0
// lamina/train/compared_options.hpp - options of optimizer and parameters that must be equal in all
// processes of a training.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

#include <lamina/core/files/checksum.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/optimizer/option_text.hpp>
#include <lamina/optimizer/rule.hpp>
#include <lamina/plan/run_time_tables.hpp>
#include <lamina/program/variable_name.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {
/// Lists the options of each parameter, one line per parameter: its learning rate, decay, clip, and
/// whether it is trained.
LAMINA_API_COLD std::string parameter_lines(const program_view& of);
}  // namespace detail

/// Lists all options of an optimizer and of the parameters of program P, and the scalar arguments
/// of the update in a step, one per line. Processes that train together must have the same text.
template <program_type P, class Opt>
LAMINA_COLD std::string compared_options(const Opt& opt, std::int64_t step) {
  text t;
  t << optimizer::option_text(opt) << detail::parameter_lines(run_time_program<P>::view)
    << "rate of the update in step " << step;
  return t.print(" = %.9g\n", static_cast<double>(optimizer::traits<Opt>::scalars(opt, step)[0]));
}

/// Returns a checksum of the options of an optimizer that may change between steps. `scalars` are
/// the arguments of the update in this step.
template <class Opt, class Scalars>
std::uint64_t checksum_of_update(const Opt& opt, const Scalars& scalars) {
  using of = optimizer::traits<Opt>;
  constexpr std::size_t count = static_cast<std::size_t>(of::scalar_count);
  float numbers[count + 7] = {};
  for (std::size_t k = 0; k < count; ++k) numbers[k] = scalars[k];
  float* to = numbers + count;
  if constexpr (requires { opt.learning_rate.factor; }) *to = opt.learning_rate.factor;
  const regularizer decay = of::regularization(opt);
  *++to = static_cast<float>(decay.kind);
  *++to = decay.coefficient;
  const gradient_clip clip = of::clip(opt);
  *++to = static_cast<float>(clip.kind);
  *++to = clip.low;
  *++to = clip.high;
  *++to = of::lazy_mode(opt) ? 1.0f : 0.0f;
  checksum sum;
  sum.add(numbers, sizeof numbers);
  return sum.value();
}

#if LAMINA_DEFINES

std::string detail::parameter_lines(const program_view& of) {
  text t;
  for (int i = 0; i < of.count.parameters; ++i) {
    const parameter_desc& d = of.parameters[i];
    const variable_desc& v = of.variables[d.variable];
    t << "parameter " << variable_name(of, d.variable) << " = " << name_of(v.type) << " [";
    for (int k = 0; k < v.rank; ++k) t << (k > 0 ? ", " : "") << of.dims[v.dims + k];
    (t << "]").print(", learning_rate %.9g", static_cast<double>(d.learning_rate));
    t << ", regularizer "
      << optimizer::text_of(regularizer{d.regularizer, d.regularizer_coefficient})
      << ", gradient_clip " << optimizer::text_of(gradient_clip{d.clip, d.clip_low, d.clip_high})
      << (d.trainable ? "\n" : ", not trainable\n");
  }
  return t;
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina
