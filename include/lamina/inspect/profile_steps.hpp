// SPDX-License-Identifier: Apache-2.0
// lamina/inspect/profile_steps.hpp - measures the time of each group in training steps (forward,
// backward and update), for each thread.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/inspect/profile.hpp>
#include <lamina/train/timed_trainer.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Options of profile_steps.
struct profile_steps_options {
  int runs = 10;           // number of timed steps, after one step that is not timed
  int threads = 1;         // as in train_options
  std::uint64_t seed = 0;  // as in train_options
};

/// Returns the times of the steps that a timed_trainer has made since forget_times(). With one
/// thread and no clip by norm, an update is fused with the product that computes its gradient, and
/// the phase of this group is "backward + update". Otherwise the sums of gradients and the updates
/// are separate groups after the groups of the program, and the threads share them; a group of the
/// program that names an update then computes only the gradient. Flops and bytes are for the number
/// of rows that each thread had in the last step.
template <program_type P, optimizer::optimizer_type Opt>
program_profile profile(timed_trainer<P, Opt>& of) {
  using trainer_type = timed_trainer<P, Opt>;
  program_profile all;
  all.threads = of.threads();
  all.runs = of.runs();
  for (int t = 0; t < all.threads; ++t) {
    auto groups = detail::groups_of<typename trainer_type::program>(of.machine(t));
    if (!of.fuses_updates())
      for (profiled_group& g : groups)
        if (const std::size_t at = g.phase.find(" + update"); at != g.phase.npos)
          g.phase.resize(at);
    for (const char* what :
         {"gradients of the threads summed", "norms of the gradients", "updates of the parameters",
          "gradients of the threads summed, parameters updated"})
      groups.push_back({.what = what, .phase = "update"});
    const std::vector<engine::cpu::group_time> times = of.times(t);
    detail::add_times(groups, times);
    all.times.insert(all.times.end(), times.begin(), times.end());
    if (all.groups.empty()) {
      all.groups = std::move(groups);
      continue;
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      profiled_group& to = all.groups[g];
      const profiled_group& from = groups[g];
      const double calls = static_cast<double>(to.calls), more = static_cast<double>(from.calls);
      if (more == 0) continue;
      to.flops = (calls * to.flops + more * from.flops) / (calls + more);
      to.bytes = (calls * to.bytes + more * from.bytes) / (calls + more);
      to.calls += from.calls;
      to.seconds += from.seconds;
    }
  }
  std::stable_sort(all.times.begin(), all.times.end(),
                   [](const auto& a, const auto& b) { return a.begin < b.begin; });
  return all;
}

/// Makes a trainer and trains the model on one mini-batch for `runs` + 1 steps. Measures the time
/// of each group in all steps except the first. The parameters change as in training, bit for bit;
/// to keep them, profile a clone:
///   auto copy = model.clone();
///   const auto p = lamina::profile_steps(copy, adam, batch, {.threads = 2});
///   std::puts(p.text().c_str());
///   lamina::write_file("trace.json", p.trace());
/// For several mini-batches, or a loop of your own, use timed_trainer and profile(trainer).
template <program_type P, optimizer::optimizer_type Opt, std::ranges::range Batch>
program_profile profile_steps(model<P>& m, const Opt& opt, const Batch& samples,
                              const profile_steps_options& options = {}) {
  if (options.runs < 1)
    throw error(text() << "lamina: profile_steps: expected at least one run, found "
                       << options.runs);
  timed_trainer<P, Opt> made(m, opt, {.threads = options.threads, .seed = options.seed});
  made.step(samples);
  made.forget_times();
  for (int i = 0; i < options.runs; ++i) made.step(samples);
  return profile(made);
}

}}  // namespace lamina
