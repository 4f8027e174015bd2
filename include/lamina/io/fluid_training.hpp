// SPDX-License-Identifier: Apache-2.0
// lamina/io/fluid_training.hpp - converts training programs to Fluid's form. PaddlePaddle can train
// these programs, and so can the executor, after reading them from a file.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/io/fluid/to_program_message.hpp>
#include <lamina/operators/update/fluid.hpp>
#include <lamina/operators/update/fluid_schedule.hpp>
#include <lamina/optimizer/prepare.hpp>
#include <lamina/optimizer/training_program.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// A program and its startup program, which initialises its persistable variables.
struct training_messages {
  program_message main, startup;
};

namespace detail {

/// adadelta in Fluid has a learning rate but ignores it; later versions multiply by it. So lamina
/// writes a rate of 1.
template <class Opt>
constexpr bool ignores_rate = std::string_view(Opt::type) == "adadelta";

/// Returns the learning rate of an optimizer as a number or schedule.
template <class Opt>
optimizer::learning_rate fluid_rate_of(const Opt& opt) {
  if constexpr (ignores_rate<Opt>)
    return 1.f;
  else if constexpr (requires { static_cast<optimizer::learning_rate>(opt.learning_rate); })
    return opt.learning_rate;
  else
    return optimizer::traits<Opt>::scalars(opt, 0)[0];
}

/// Returns the numbers that the update of one parameter has in the first step.
template <class Opt>
update_numbers numbers_of(const Opt& opt, const parameter_desc& d) {
  using traits = optimizer::traits<Opt>;
  update_numbers n;
  const auto scalars = traits::scalars(opt, 0);
  const optimizer::learning_rate rate = fluid_rate_of(opt);
  // adadelta ignores a parameter's factor on the learning rate too.
  n.learning_rate = ignores_rate<Opt> ? 1 : d.learning_rate;
  if (!fluid_schedule_writer::changes(rate)) n.learning_rate *= rate.at(0);
  n.clip = optimizer::clip_in_force({d.clip, d.clip_low, d.clip_high}, traits::clip(opt));
  n.decay = optimizer::decay_in_force({d.regularizer, d.regularizer_coefficient},
                                      traits::regularization(opt));
  n.scalars.assign(scalars.begin() + 1, scalars.end());
  for (int s = 0; s < traits::state_count; ++s) n.initial.push_back(traits::initial_state(opt, s));
  return n;
}

}  // namespace detail

/// Converts a network, its gradients and the updates of an optimizer to Fluid's operators. For each
/// parameter there are operators for the gradient clip, then for the weight decay, then one update
/// operator, which reads the learning rate from the variable learning_rate_0. A schedule becomes
/// operators that compute the rate from a step counter. The startup program sets the parameters,
/// the accumulators, the powers of beta and the learning rate. Throws lamina::error for an
/// optimizer that Fluid does not have, and for a schedule of v2. Fluid: the main and startup
/// programs that Optimizer.minimize makes.
template <program_type P, optimizer::optimizer_type Opt>
training_messages training_messages_of(P, const Opt& opt) {
  using trained = training_program<P, Opt>;
  if (detail::fluid_update_writer::schema_of_update(Opt::type) == nullptr)
    throw error(text() << "lamina: Fluid has no update operator of type " << Opt::type);
  training_messages r{to_program_message(trained{}), to_startup_message(trained{})};
  block_message& block = r.main.blocks.front();
  std::vector<std::pair<operator_message, detail::update_numbers>> updates;
  std::vector<operator_message> others;
  for (operator_message& op : block.operators) {
    if (op.attribute("gradient_scale") == nullptr) {
      others.push_back(std::move(op));
      continue;
    }
    const program_view& p = trained::view();
    detail::update_numbers numbers;
    for (int i = 0; i < p.count.parameters; ++i)
      if (variable_name(p, p.parameters[i].variable) == op.input("Param").front())
        numbers = detail::numbers_of(opt, p.parameters[i]);
    const std::size_t preparation = static_cast<std::size_t>(update_operator<Opt>::preparation) + 1;
    for (std::size_t i = 0; i < numbers.scalars.size(); ++i)
      op.attributes.at(preparation + i).real = numbers.scalars[i];
    updates.emplace_back(std::move(op), std::move(numbers));
  }
  block.operators = std::move(others);
  detail::message_appender to(block, r.startup.blocks.front());
  detail::fluid_update_writer writer(to);
  const optimizer::learning_rate rate = detail::fluid_rate_of(opt);
  if (detail::fluid_schedule_writer::changes(rate))
    writer.use_rate(detail::fluid_schedule_writer(to).write(rate));
  writer.write(std::move(updates));
  return r;
}

}}  // namespace lamina
