// SPDX-License-Identifier: Apache-2.0
// lamina/train/places_trainer.hpp - an optimizer at work on a model at several places: each has the
// model, and computes gradients of a part of every mini-batch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <lamina/core/config.hpp>
#include <lamina/core/worker_pool.hpp>
#include <lamina/engine/cuda/machine.hpp>
#include <lamina/engine/cuda/peer_sum.hpp>
#include <lamina/model/device_arrays.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/model.hpp>
#include <lamina/model/moving_statistics.hpp>
#include <lamina/model/run_result.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/train/cost_rows.hpp>
#include <lamina/train/place_trainer.hpp>
#include <lamina/train/table_gradients.hpp>
#include <lamina/train/whole_updates.hpp>

namespace lamina {

/// A gradient machine at each place, and a thread of the host for each: the mini-batch is cut by
/// samples as for threads of the CPU, gradients and moving statistics are added up over the places
/// by `Sum`, each weighed by its rows, and every place updates its own copy of the model. All
/// copies start from the same bits, and so keep them.
template <program_type P, optimizer::optimizer_type Opt, class Backend,
          class Sum = engine::cuda::peer_sum<Backend>>
class places_trainer : public place_trainer<P, Opt> {
  using base = place_trainer<P, Opt>;
  using base::model_, base::seed_, base::state_, base::steps_;

 public:
  using base::parameters, base::states;
  using training = training_program<P, Opt>;
  static constexpr bool scaled = engine::cuda::scales_cost<Backend>;

  LAMINA_COLD places_trainer(const std::vector<Backend*>& places, const Opt& opt, model<P>& m,
                             std::uint64_t seed = 0)
      : base(opt, m, seed),
        parts_(make_parts(places, state_)),
        sum_(places, last_summed() - first_summed()),
        tables_(places),
        pool_(static_cast<int>(places.size())) {
    for (const auto& p : parts_) arrays_.push_back(summed(*p));
    send();
  }

  /// One mini-batch. Returns the cost before the update.
  float step(const batch_view<P>& batch) {
    start(batch);
    return finish();
  }
  /// The first half of a step, which does not wait for the places.
  void start(const batch_view<P>& batch) {
    pool_.run([&](int t) {
      part& p = *parts_[static_cast<std::size_t>(t)];
      p.place.use();
      const batch_view<P> mine = part_of(batch, t);
      p.runs = mine.size() != 0;
      p.weight = static_cast<float>(weights::fed(mine));
      if (!p.runs) return;
      mine.feed_to(p.machine);
      weights::divide(p.machine, mine, batch);
      p.machine.start(~0ull, seed_, static_cast<std::uint64_t>(steps_));
    });
  }
  /// Copies the mini-batch of the step after this one to the places; between the halves of a step,
  /// once. What goes wrong with it is that step's to say.
  void prefetch(const batch_view<P>& next) noexcept {
    try {
      pool_.run([&](int t) {
        part& p = *parts_[static_cast<std::size_t>(t)];
        const batch_view<P> mine = part_of(next, t);
        if (mine.size() == 0) return;
        p.place.use();
        const void* data[at_least_one(batch_view<P>::layers)];
        for (int i = 0; i < batch_view<P>::layers; ++i) data[i] = mine.data[i];
        p.machine.prefetch(mine.rows, data);
      });
    } catch (...) {
      // The next step copies it itself.
    }
  }
  /// The other half. Returns the cost before the update.
  float finish() {
    pool_.run([&](int t) {
      part& p = *parts_[static_cast<std::size_t>(t)];
      p.place.use();
      if (!p.runs) return;
      p.machine.finish();
      p.cost = static_cast<float>(detail::number_in<P, P::desc.cost>(p.machine));
      if (weights::is_made) p.weight = static_cast<float>(p.machine.rows(weights::domain));
    });
    float weighed = 0, cost = 0;
    for (const auto& p : parts_) weighed += p->weight;
    for (const auto& p : parts_) {
      p->weight /= std::max(1.0f, weighed);
      if (p->weight > 0) cost += (weights::is_sum ? 1.0f : p->weight) * p->cost;
    }
    pool_.run([&](int t) { weigh(static_cast<std::size_t>(t), weighed > 0); });
    if (weighed > 0) sum_.add(pool_, arrays_.data());
    pool_.run([&](int t) {
      part& p = *parts_[static_cast<std::size_t>(t)];
      p.place.use();
      const std::size_t place = static_cast<std::size_t>(t);
      tables_.add(place);
      p.updated = p.updates.run(
          steps_, [&](int i) { return tables_.sum(place, i); }, p.pointers.data(),
          p.states.pointers());
    });
    // All of them have decided by the same sums.
    steps_ += parts_[0]->updated ? 1 : 0;
    return cost;
  }
  /// A metric of the last step: the mean over what it is computed from.
  double metric(int i) {
    parts_metric<P> metric(i);
    for (const auto& p : parts_)
      if (p->runs) metric.add(p->machine, base::metric_of(p->machine, i));
    return metric.value();
  }

  /// Of places with narrow operands: the factor of the gradients, and what it depends on.
  engine::cuda::loss_scale_state loss_scale() const requires scaled {
    return parts_[0]->updates.loss_scale().seen();
  }
  void set_loss_scale(const engine::cuda::loss_scale_state& s) requires scaled {
    for (const auto& p : parts_) p->updates.loss_scale().set(s);
  }

  /// Copies parameters and accumulators to the model; those of all places are equal.
  LAMINA_COLD void bring_back(std::size_t from = 0) {
    part& p = *parts_[from];
    p.parameters.download(model_.memory());
    for (int i = 0; i < statistics::count; ++i) {
      const int k = statistics::parameter(i);
      p.parameters.download_one(k, p.pointers[static_cast<std::size_t>(k)], model_.memory()[k]);
    }
    p.states.download(state_.pointers());
  }
  /// Copies them from the model to every place.
  LAMINA_COLD void send() {
    for (const auto& p : parts_) {
      p->parameters.upload(model_.memory());
      for (int i = 0; i < statistics::count; ++i) {
        const int k = statistics::parameter(i);
        p->parameters.upload_one(k, model_.memory()[k], p->pointers[static_cast<std::size_t>(k)]);
      }
      p->states.upload(state_.pointers());
    }
  }

 private:
  using weights = cost_rows<P, training>;
  using statistics = moving_statistics<P>;
  using updates_type = whole_updates<P, Opt, Backend>;
  using state_type = optimizer_state<P, Opt>;

  /// What each place has.
  struct part {
    part(Backend& b, const state_type& state)
        : place(b),
          parameters(b, parameters_in<P>(), 1),
          states(b, parameters_in<P>(), base::states),
          updates(b, state),
          pointers(beside_gradients(parameters.pointers(), updates.gradients())),
          machine(b, {pointers.data(), updates.gradients(), states.pointers(), true,
                      updates.cost_gradient()}) {
      detail::initialise_state<P>(machine);
    }
    Backend& place;
    device_arrays<Backend> parameters, states;
    updates_type updates;
    std::vector<float*> pointers;  // to the parameters
    engine::cuda::machine<training, Backend> machine;
    bool runs = false, updated = true;
    float cost = 0, weight = 0;  // of the last mini-batch
  };
  /// Moving statistics lie where their gradients would, if they had any: what is added up over the
  /// places then is one array.
  static std::vector<float*> beside_gradients(float* const* values, float* const* gradients) {
    std::vector<float*> all(values, values + parameters);
    for (int i = 0; i < statistics::count; ++i) {
      const int k = statistics::parameter(i);
      all[static_cast<std::size_t>(k)] = gradients[k];
    }
    return all;
  }
  static std::vector<std::unique_ptr<part>> make_parts(const std::vector<Backend*>& places,
                                                       const state_type& state) {
    std::vector<std::unique_ptr<part>> all;
    for (Backend* const b : places) {
      b->use();
      all.push_back(std::make_unique<part>(*b, state));
    }
    return all;
  }

  batch_view<P> part_of(const batch_view<P>& batch, int t) const {
    const int count = static_cast<int>(parts_.size());
    return batch.part(first_of_part(batch, t, count), first_of_part(batch, t + 1, count));
  }

  static std::size_t floats_of(int i) {
    if (updates_type::has_rows(i)) return 0;
    const parameter_place& p = parameter_table<P>::table.of[i];
    return static_cast<std::size_t>(p.rows) * static_cast<std::size_t>(padded(p.columns));
  }
  /// From the first to the last parameter that has a gradient or is a statistic, in floats.
  static std::size_t first_summed() {
    std::size_t at = 0;
    for (int i = 0; i < parameters && !is_summed(i); ++i) at += floats_of(i);
    return at;
  }
  static std::size_t last_summed() {
    std::size_t at = 0, last = first_summed();
    for (int i = 0; i < parameters; ++i) {
      at += floats_of(i);
      if (is_summed(i)) last = at;
    }
    return last;
  }
  static bool is_summed(int i) {
    for (int k = 0; k < statistics::count; ++k)
      if (statistics::parameter(k) == i) return true;
    return updates_type::is_updated(i) && !updates_type::has_rows(i);
  }
  static float* summed(part& p) {
    return parameters == 0 ? nullptr : p.updates.gradients()[0] + first_summed();
  }
  /// A part's gradients and statistics by its weight; where no part has rows, statistics stay.
  void weigh(std::size_t t, bool any_rows) {
    part& p = *parts_[t];
    p.place.use();
    const float of_gradients = weights::is_sum && p.weight > 0 ? 1.0f : p.weight;
    tables_.weigh(t, p.place, p.machine, of_gradients);
    if (weights::is_sum && p.weight > 0) {
      for (int i = 0; i < statistics::count; ++i) {
        const int k = statistics::parameter(i);
        engine::cuda::weigh(p.place, p.pointers[static_cast<std::size_t>(k)], floats_of(k),
                            p.weight);
      }
    } else if (any_rows) {
      engine::cuda::weigh(p.place, summed(p), last_summed() - first_summed(), p.weight);
    } else {
      for (int i = 0; i < parameters; ++i)
        if (is_summed(i) && updates_type::is_updated(i))
          engine::cuda::weigh(p.place, p.updates.gradients()[i], floats_of(i), 0.0f);
    }
    p.place.mark();
  }

  std::vector<std::unique_ptr<part>> parts_;
  Sum sum_;
  [[no_unique_address]] table_gradients<P, Opt, Backend> tables_;
  std::vector<float*> arrays_;  // by place
  worker_pool pool_;
};

}  // namespace lamina
