// SPDX-License-Identifier: Apache-2.0
// lamina/train/update_constants.hpp - the positions at which a machine of a training program reads
// the scalar arguments of each update.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/messages/error.hpp>
#include <lamina/optimizer/clip.hpp>
#include <lamina/plan/plan.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// By parameter: the position of its update's scalar arguments among a machine's constants.
template <class P>
struct update_constants {
  int first[bound(counts_of<P>.parameters)];  // -1: the parameter is not updated
};
template <class P>
constexpr update_constants<P> find_update_constants() {
  update_constants<P> u;
  for (int& f : u.first) f = -1;
  using plan_type = plan<P>;
  for (int k = 0; k < plan_type::lowered.count.instructions; ++k) {
    if (plan_type::lowered.instructions[k].schema->kind != operator_kind::update) continue;
    const instruction i = plan_type::lowered.instructions[k];
    const int param = plan_type::lowered.operands[i.inputs].id;
    const int constant = plan_type::lowered.operands[i.inputs + i.schema->input_count].id;
    u.first[P::desc.variables[param].index] = constant_index(constant);
  }
  return u;
}
template <class P>
inline constexpr update_constants<P> update_constants_of = find_update_constants<P>();

/// Throws lamina::error if the optimizer clips by norm now (`clip`), but did not when the trainer
/// was constructed (`known` is false).
inline void require_known_norms(const gradient_clip& clip, bool known) {
  if (!known && optimizer::needs_norm(clip))
    LAMINA_THROW error(
        "lamina: train: expected a clip by norm to be there when training begins, found one that "
        "was set later");
}

}}}  // namespace lamina::detail
