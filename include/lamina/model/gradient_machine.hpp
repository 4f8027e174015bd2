// SPDX-License-Identifier: Apache-2.0
// lamina/model/gradient_machine.hpp - computes the gradients of a model's cost.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <lamina/model/evaluator.hpp>
#include <lamina/model/names/cost_kind.hpp>
#include <lamina/model/parameters/moving_statistics.hpp>
#include <lamina/model/refused/refused_operator.hpp>
#include <lamina/plan/loop_gradient_check.hpp>
#include <lamina/transform/append_backward.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The program that a gradient machine runs: P with the gradients of its cost. If P has no cost,
/// because it contains its own training steps (minimize.hpp), it is P itself.
template <program_type P>
using gradient_program =
    std::conditional_t<cost_kind_of<P>() == cost_kind::number, with_backward<P>, P>;

/// Runs a program forward and backward with a model that it does not change. It owns the gradients,
/// and it owns copies of the parameters that the program itself changes, such as the moving
/// statistics of batch_norm. Each thread needs its own gradient machine. The design document of
/// PaddlePaddle: GradientMachine.
template <program_type P, class Machine = engine::cpu::machine<gradient_program<P>>>
class gradient_machine {
 public:
  static constexpr cost_kind cost = cost_kind_of<P>();
  static constexpr bool has_cost = cost != cost_kind::none;
  static_assert(check<has_cost>, "lamina: train: the program returns no cost");
  static_assert(check<cost != cost_kind::array, gets_type<typename P::result>>,
                "lamina: train: the cost is one number; take its mean over the batch first");
  using program = gradient_program<P>;
  /// The type of costs and gradients.
  using real = real_of<P>;
  static_assert(
      check<!second_gradient_check<program>::found, typename second_gradient_check<program>::name>,
      "lamina: gradients: the gradient of this operator has itself no gradient");
  static_assert(
      check<program::desc.fault.kind != fault_kind::stored_too_early,
            detail::faulty_name<program::desc>>,
      "lamina: store: a gradient needs the value from before the store; store after minimize, or "
      "read a copy, layer::assign(x)");
  static_assert(
      check<!loop_gradient_check<program>::found, typename loop_gradient_check<program>::name>,
      "lamina: train: gradients do not flow through a handle whose rows a loop changes");

  static_assert(
      check<detail::accepts_program<Machine>, typename detail::refused_operator<Machine>::type>,
      "lamina: a program in double: this computes in float alone");

  explicit gradient_machine(const model<P>& m, std::uint64_t seed = 0)
      : statistics_(m.memory()), machine_({statistics_.memory(), nullptr, nullptr}), seed_(seed) {
    detail::initialise_state<P>(machine_);
  }
  /// Makes a gradient machine on a device: `gradient_machine g{model, lamina::cuda::place{0}}`,
  /// after the include of <lamina/lamina.cuh>. Each backward() copies the model's parameters to the
  /// device.
  template <class Place>
  requires requires(const Place& at) { at.number; }
  gradient_machine(const model<P>& m, const Place& at, std::uint64_t seed = 0)
      : statistics_(m.memory()), machine_(m, at.number), seed_(seed) {
    detail::initialise_state<P>(machine_);
  }

  /// Reports a program in place of a model with a one-line error.
  template <class Q, class... More>
  requires(std::is_same_v<Q, P>) explicit gradient_machine(const Q& given, const More&...)
      : gradient_machine(static_cast<const model<P>&>(model<P>(given))) {
    static_assert(never<Q>,
                  "lamina: gradient_machine: expected a model, gradient_machine g{model}, found a "
                  "program; put lamina::model m{program} before it");
  }
  /// Reports a temporary model with a one-line error.
  template <class... More>
  explicit gradient_machine(model<P>&& m, const More&...)
      : gradient_machine(static_cast<const model<P>&>(m)) {
    static_assert(never<P, More...>,
                  "lamina: gradient_machine: expected a model that outlives it, found a temporary "
                  "one; give the model a name: lamina::model m{program}");
  }

  /// Computes the gradients for a mini-batch of `rows` samples and returns the cost. data[i] is the
  /// array of data layer i. `step`, and `first_row`, the position of the first sample in a larger
  /// mini-batch, select the random numbers of dropout.
  LAMINA_NOINLINE real backward(int rows, const void* const* data, std::uint64_t step = 0,
                                std::int64_t first_row = 0) {
    return backward(batch_view<P>::dense(rows, data, first_row), step);
  }
  /// Does the same for a mini-batch that may have sequences.
  real backward(const batch_view<P>& batch, std::uint64_t step = 0) {
    statistics_.refresh();
    if constexpr (requires { machine_.refresh(); }) machine_.refresh();
    batch.feed_to(machine_);
    machine_.run(~0ull, seed_, step);
    return detail::number_in<P, P::desc.cost>(machine_);
  }
  /// Does the same for a range of samples.
  template <class Batch>
  real backward(const Batch& samples, std::uint64_t step = 0) {
    constexpr bool batched = std::ranges::range<const Batch&>;
    static_assert(check<batched, gets_type<Batch>>,
                  "lamina: gradient_machine: backward takes a mini-batch, a range of samples, "
                  "std::vector{sample} or std::span(&sample, 1)");
    constexpr int layers = counts_of<P>.data;
    constexpr int fields = detail::fields_a_sample<layers, const Batch>;
    constexpr bool fits = fields == layers || is_faulty<P>;
    static_assert(check<fits, expects<layers>, gets<fields>>,
                  "lamina: reader: a sample has one field for each data layer of the program");
    using fed = detail::field_check<P, const Batch, (fits && batched && !is_faulty<P>)>;
    static_assert(check<fed::ok, typename fed::name, typename fed::expected, typename fed::found>,
                  "lamina: reader: a field holds what its data layer takes: as many numbers, and "
                  "integers where it takes integers");
    if constexpr (batched && fits && fed::ok) feeder_.fill(samples);
    return backward(feeder_.view(), step);
  }

  /// Returns the gradient of a parameter, with the shape of the parameter:
  /// `g.gradient<"fc_0.w_0">()`. The gradient is zero if the cost does not depend on the parameter.
  template <fixed_string Name>
  array<real> gradient() {
    constexpr int found = parameter_named<P>(Name.view());
    using known = detail::known_parameters<P, (found < 0)>;
    static_assert(check<found >= 0, detail::name_letters<Name>, known>,
                  "lamina: parameter: the program has no parameter of this name");
    constexpr int i = found < 0 ? 0 : found;
    const parameter_info info = model<P>::describe(i);
    array<real> value(info.shape);
    if (const auto* const rows = machine_.gradient_rows(i)) {
      for (int r = 0; r < rows->size(); ++r)
        std::copy_n(rows->row(r), rows->columns(),
                    value.data() + static_cast<std::ptrdiff_t>(rows->number(r)) * rows->columns());
      return value;
    }
    const float* from = gradient_memory(i);
    if (from == nullptr) return value;
    unpack_like(info, from, value.data());
    return value;
  }

  /// Returns the address of the gradient of parameter i, which has the layout of the parameter;
  /// null if the cost does not depend on the parameter or the gradient is sparse (selected rows).
  float* gradient_memory(int i) { return machine_.gradient(i); }
  /// Returns the moving statistics as the last backward() has changed them.
  const moving_statistics<P>& statistics() const { return statistics_; }
  /// Returns the machine, for callers that read metrics from it.
  Machine& machine() { return machine_; }

 private:
  moving_statistics<P> statistics_;
  Machine machine_;
  feeder<P> feeder_;
  std::uint64_t seed_;
};

/// Makes `gradient_machine g{program}` select the constructor that reports the mistake.
template <program_type P, class... More>
gradient_machine(const P&, const More&...) -> gradient_machine<P>;

}}  // namespace lamina
