// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/option_text.hpp - writes all options of an optimizer as text, so that the
// processes of a training can compare their options.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include <lamina/core/messages/text.hpp>
#include <lamina/optimizer/learning_rate.hpp>
#include <lamina/optimizer/rule.hpp>
#include <lamina/program/param_attr.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// The options of an optimizer, independent of its type.
struct option_values {
  const char* type;
  const learning_rate* rate = nullptr;  // null: the optimizer has a schedule of its own type, so
                                        // `scalars` has several steps
  lamina::regularizer regularization{};
  gradient_clip clip{};
  int lazy_mode = -1;  // -1: the optimizer does not have this option
  // The scalar arguments of the update in the `step_count` steps of `steps`, `count` per step. The
  // first of them is the learning rate.
  const float* scalars = nullptr;
  const std::int64_t* steps = nullptr;
  std::size_t count = 0, step_count = 0;
  const char* const* names = nullptr;  // the names of all scalars except the rate
  std::size_t name_count = 0;
  const float* initial_states = nullptr;
  std::size_t state_count = 0;
};

/// Returns one option per line, "name = value". Equal options give equal texts in every process,
/// and different options different texts, because numbers are written with all digits.
LAMINA_API_COLD std::string text_of(const option_values& of);
/// Returns a decay or a clip as a program would write it, such as "l2_decay(0.1)"; "none" if there
/// is none.
LAMINA_API_COLD std::string text_of(const lamina::regularizer& decay);
LAMINA_API_COLD std::string text_of(const gradient_clip& clip);

/// Returns text_of() for all options of an optimizer. If the names of options differ from the names
/// of the operator's attributes, the optimizer must have a member `option_names`, or the text has
/// the attributes' names.
template <class Opt>
LAMINA_COLD std::string option_text(const Opt& opt) {
  using of = traits<Opt>;
  constexpr bool has_rate = detail::has_learning_rate<Opt>;
  // If the optimizer's schedule has a type of its own, the rates of these four steps are compared.
  // A learning_rate is compared by its arguments; of its rates only step 0 is written, because the
  // function of a custom schedule may not accept later steps.
  static constexpr std::array<std::int64_t, 4> steps{0, 1, 10, 1000};
  constexpr std::size_t count = static_cast<std::size_t>(of::scalar_count);
  constexpr std::size_t step_count = has_rate ? 1 : steps.size();
  float scalars[count * step_count];
  for (std::size_t s = 0; s < step_count; ++s) {
    const auto now = of::scalars(opt, steps[s]);
    for (std::size_t k = 0; k < count; ++k) scalars[s * count + k] = now[k];
  }
  option_values all{.type = Opt::type};
  learning_rate rate = 0.0f;
  if constexpr (has_rate) {
    rate = static_cast<learning_rate>(opt.learning_rate);
    all.rate = &rate;
  }
  all.regularization = of::regularization(opt);
  all.clip = of::clip(opt);
  if constexpr (of::has_lazy_mode) all.lazy_mode = of::lazy_mode(opt) ? 1 : 0;
  all.scalars = scalars;
  all.steps = steps.data();
  all.count = count;
  all.step_count = step_count;
  if constexpr (requires { Opt::option_names.size(); }) {
    all.names = Opt::option_names.data();
    all.name_count = Opt::option_names.size();
  } else {
    all.names = Opt::attributes.data();
    all.name_count = Opt::attributes.size();
  }
  constexpr std::size_t states = static_cast<std::size_t>(of::state_count);
  float initial[states > 0 ? states : 1] = {};
  for (std::size_t s = 0; s < states; ++s) initial[s] = of::initial_state(opt, static_cast<int>(s));
  all.initial_states = initial;
  all.state_count = states;
  return text_of(all);
}

/// Compares two results of option_text(). Returns at most four of the lines that are in `here` but
/// not in `there`, joined by ", "; "no other option" if there are none.
LAMINA_API_COLD std::string lines_of_one(const std::string& here, const std::string& there);

#if LAMINA_DEFINES

std::string text_of(const lamina::regularizer& decay) {
  if (decay.kind == regularizer_kind::none) return "none";
  return (text() << (decay.kind == regularizer_kind::l1 ? "l1_decay(" : "l2_decay("))
             .print("%.9g", static_cast<double>(decay.coefficient))
         << ")";
}

std::string text_of(const gradient_clip& clip) {
  text t;
  switch (clip.kind) {
    case clip_kind::none:
      return "none";
    case clip_kind::value:
      t << "clip_by_value(";
      t.print("%.9g, ", static_cast<double>(clip.low));
      break;
    case clip_kind::norm:
      t << "clip_by_norm(";
      break;
    case clip_kind::global_norm:
      t << "clip_by_global_norm(";
      break;
  }
  return t.print("%.9g)", static_cast<double>(clip.high));
}

namespace detail {

/// The name of a schedule, and the names of its arguments in the members a, b, m, n and flag of
/// learning_rate; null if it does not have the argument.
struct schedule_words {
  schedule_kind kind;
  const char *name, *a, *b, *m, *n, *flag;
};
inline constexpr schedule_words words_of_schedules[] = {
    {schedule_kind::noam, "noam_decay", nullptr, nullptr, "d_model", "warmup_steps", nullptr},
    {schedule_kind::exponential, "exponential_decay", "decay_rate", nullptr, "decay_steps", nullptr,
     "staircase"},
    {schedule_kind::natural_exp, "natural_exp_decay", "decay_rate", nullptr, "decay_steps", nullptr,
     "staircase"},
    {schedule_kind::inverse_time, "inverse_time_decay", "decay_rate", nullptr, "decay_steps",
     nullptr, "staircase"},
    {schedule_kind::polynomial, "polynomial_decay", "end_learning_rate", "power", "decay_steps",
     nullptr, "cycle"},
    {schedule_kind::cosine, "cosine_decay", nullptr, nullptr, "step_each_epoch", "epochs", nullptr},
    {schedule_kind::one_cycle, "one_cycle", "pct_start", "div_factor", "total_steps",
     "anneal_strategy", "three_phase"},
    {schedule_kind::v2_poly, "v2::poly", "a", "b", "batch_size", nullptr, nullptr},
    {schedule_kind::v2_caffe_poly, "v2::caffe_poly", "a", "b", "batch_size", nullptr, nullptr},
    {schedule_kind::v2_exp, "v2::exp", "a", "b", "batch_size", nullptr, nullptr},
    {schedule_kind::v2_discexp, "v2::discexp", "a", "b", "batch_size", nullptr, nullptr},
    {schedule_kind::v2_linear, "v2::linear", "a", "b", "batch_size", nullptr, nullptr}};

LAMINA_API_COLD void add_rate(text& to, const learning_rate& rate);

void add_rate(text& to, const learning_rate& rate) {
  to << "learning_rate = ";
  const auto real = [&](const char* name, double number) {
    if (name == nullptr) return;
    to << ", " << name;
    to.print(" %.17g", number);
  };
  const auto integer = [&](const char* name, std::int64_t number) {
    if (name != nullptr) to << ", " << name << " " << number;
  };
  if (rate.kind == schedule_kind::piecewise) {
    to << "piecewise_decay of";
    for (int i = 0; i < rate.piecewise.pieces; ++i) {
      to.print(" %.9g", static_cast<double>(rate.piecewise.values[i]));
      if (i + 1 < rate.piecewise.pieces) to << " to step " << rate.piecewise.boundaries[i] << ",";
    }
  } else if (rate.kind == schedule_kind::custom) {
    // Values of the function are compared, because its address may differ between processes.
    to << "custom with";
    for (const std::int64_t step : {0, 1, 2, 10, 100, 1000}) {
      LAMINA_TRY {
        to.print(" %.17g", rate.function(step));
        to << " in step " << step << ",";
      }
      LAMINA_CATCH(const std::exception& e) {
        break;  // the function may accept only the steps of the training
      }
    }
  } else {
    const schedule_words* found = nullptr;
    for (const schedule_words& w : words_of_schedules)
      if (w.kind == rate.kind) found = &w;
    if (found != nullptr) to << found->name << " of ";
    to.print("%.9g", static_cast<double>(rate.base));
    if (found != nullptr) {
      real(found->a, rate.a);
      real(found->b, rate.b);
      integer(found->m, rate.m);
      integer(found->n, rate.n);
      integer(found->flag, rate.flag);
      if (rate.kind == schedule_kind::one_cycle)
        real("final_div_factor", static_cast<double>(rate.piecewise.values[0]));
    }
  }
  to << "\nlearning_rate.factor = ";
  to.print("%.9g\n", static_cast<double>(rate.factor));
  if (rate.warmup_steps == 0) return;
  to << "linear_lr_warmup = " << rate.warmup_steps << " steps";
  to.print(" from %.9g", static_cast<double>(rate.warmup_start));
  to.print(" to %.9g\n", static_cast<double>(rate.warmup_end));
}

}  // namespace detail

std::string text_of(const option_values& of) {
  text t;
  t << "optimizer = " << of.type << "\n";
  if (of.rate != nullptr) detail::add_rate(t, *of.rate);
  t << "regularization = " << text_of(of.regularization) << "\nclip = " << text_of(of.clip) << "\n";
  if (of.lazy_mode >= 0) t << "lazy_mode = " << of.lazy_mode << "\n";
  for (std::size_t k = of.rate != nullptr ? 1 : 0; k < of.count; ++k)
    for (std::size_t s = 0; s < of.step_count; ++s) {
      if (k > 0 && k <= of.name_count)
        t << of.names[k - 1];
      else
        t << "scalar " << k << " of the update";
      if (of.step_count > 1) t << " in step " << of.steps[s];
      t.print(" = %.9g\n", static_cast<double>(of.scalars[s * of.count + k]));
    }
  for (std::size_t s = 0; s < of.state_count; ++s)
    (t << "initial state " << s).print(" = %.9g\n", static_cast<double>(of.initial_states[s]));
  return t;
}

std::string lines_of_one(const std::string& here, const std::string& there) {
  const auto has = [](std::string_view all, std::string_view line) {
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t end = all.find('\n', at);
      if (all.substr(at, end - at) == line) return true;
      if (end == all.npos) break;
      at = end + 1;
    }
    return false;
  };
  text t;
  int found = 0;
  const std::string_view all(here);
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\n', at) == all.npos ? all.size() : all.find('\n', at);
    const std::string_view line = all.substr(at, end - at);
    at = end + 1;
    if (has(there, line)) continue;
    if (++found <= 4) t << (found > 1 ? ", " : "") << line;
  }
  if (found > 4) t << " and " << found - 4 << " more";
  if (found == 0) t << "no other option";
  return t;
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::optimizer
