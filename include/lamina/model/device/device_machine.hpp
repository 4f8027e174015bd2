// SPDX-License-Identifier: Apache-2.0
// lamina/model/device/device_machine.hpp - the machine of evaluators and gradient machines on a
// device. It consists of a backend, a copy of a model's parameters, and a machine of the CUDA
// engine.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <lamina/engine/cuda/schedule/machine.hpp>
#include <lamina/model/device/device_arrays.hpp>
#include <lamina/model/evaluator.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Runs `Program`, which is P in test mode or with gradients, on its own backend. A result is
/// copied to the host when the caller requests it.
template <program_type P, class Backend, class Program = for_test<P>>
class device_machine {
 public:
  using program = Program;
  using machine_type = engine::cuda::machine<program, Backend>;

  LAMINA_COLD device_machine(const model<P>& m, int number)
      : model_(m),
        backend_(std::make_unique<Backend>(number)),
        parameters_(*backend_, parameters_in<P>(), 1),
        machine_(*backend_, {parameters_.pointers()}) {
    refresh();
  }
  void refresh() { parameters_.upload(model_.memory()); }

  template <class Rows>
  void bind(const Rows& rows) {
    machine_.bind(rows);
  }
  void feed(int data, const void* values) { machine_.feed(data, values); }
  void run(unsigned long long given, std::uint64_t seed, std::uint64_t step) {
    machine_.run(given, seed, step);
  }
  int rows(int domain) const { return machine_.rows(domain); }
  engine::sequence_rows sequences(int domain) { return machine_.sequences(domain); }
  template <int V>
  float* address() {
    return machine_.template address<V>();
  }
  float* address(int variable) { return machine_.address(variable); }
  static constexpr const variable_layout* layout(int variable) {
    return machine_type::layout(variable);
  }
  void store(const variable_layout& layout) { machine_.store(layout); }

  /// Returns the gradient of parameter i, copied to the host and converted to the host's layout of
  /// the parameter; null if the cost does not depend on the parameter or the gradient is sparse.
  LAMINA_COLD float* gradient(int i) {
    if (machine_.gradient_rows(i) != nullptr) return nullptr;
    const float* const from = machine_.gradient(i);
    if (from == nullptr) return nullptr;
    gradients_.resize(static_cast<std::size_t>(counts_of<P>.parameters));
    std::vector<float>& to = gradients_[static_cast<std::size_t>(i)];
    to.resize(parameters_in<P>().floats(i));
    parameters_.download_one(i, from, to.data());
    return to.data();
  }
  /// Returns the gradient of parameter i if it is sparse (selected rows), copied to the host; null
  /// if it is dense.
  LAMINA_COLD engine::cpu::selected_rows* gradient_rows(int i) {
    const engine::cuda::selected_rows* const on_device = machine_.gradient_rows(i);
    if (on_device == nullptr) return nullptr;
    rows_.begin(on_device->columns);
    const std::size_t n = static_cast<std::size_t>(on_device->count);
    const std::size_t width = static_cast<std::size_t>(padded(on_device->columns));
    engine::cuda::staging_buffer<Backend> numbers(*backend_), values(*backend_);
    if (n == 0) return &rows_;
    numbers.reserve(n * sizeof(int));
    values.reserve(n * width * sizeof(float));
    backend_->download(numbers.data(), on_device->numbers, n * sizeof(int));
    backend_->download(values.data(), on_device->values, n * width * sizeof(float));
    backend_->wait();
    const engine::cuda::selected_rows_view here{
        reinterpret_cast<int*>(numbers.data()), reinterpret_cast<float*>(values.data()),
        static_cast<std::ptrdiff_t>(width), on_device->count, on_device->entries};
    for (int r = 0; r < here.count; ++r)
      if (here.counts(r)) rows_.add(here.numbers[r], here.values + r * here.stride);
    return &rows_;
  }

 private:
  const model<P>& model_;
  std::unique_ptr<Backend> backend_;
  device_arrays<Backend> parameters_;
  machine_type machine_;
  std::vector<std::vector<float>> gradients_;
  engine::cpu::selected_rows rows_;  // the gradient that was read last
};

}}  // namespace lamina
