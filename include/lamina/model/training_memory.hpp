// SPDX-License-Identifier: Apache-2.0
// lamina/model/training_memory.hpp - the training state in a model, from which the next call of
// `train` continues.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <memory>
#include <utility>

#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/model/sharded/sharded_embedding.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The state of an optimizer between two calls of its `train`: accumulators and the numbers of
/// steps and passes. It cannot be copied, because it belongs to one model.
class training_memory {
 public:
  /// The address of optimizer_identity for the type of the optimizer; null if there is no state.
  const void* optimizer = nullptr;
  /// All accumulators, ordered by parameter and state, in the layout of the parameters.
  engine::aligned_buffer accumulators{};
  /// The accumulators of tables that are divided over processes.
  std::shared_ptr<embedding_states> embedding{};
  /// The number of updates, and the number of passes, of all calls of `train` together.
  std::int64_t steps = 0;
  int passes = 0;
  /// Whether this process has only the accumulators of its own shard; only rank 0 then has all
  /// accumulators.
  bool is_part = false;

  training_memory() = default;
  LAMINA_API LAMINA_COLD ~training_memory();
  training_memory(training_memory&& other) noexcept
      : optimizer(std::exchange(other.optimizer, nullptr)),
        accumulators(std::move(other.accumulators)),
        embedding(std::move(other.embedding)),
        steps(other.steps),
        passes(other.passes),
        is_part(other.is_part) {}
  training_memory& operator=(training_memory&& other) noexcept {
    optimizer = std::exchange(other.optimizer, nullptr);
    accumulators = std::move(other.accumulators);
    embedding = std::move(other.embedding);
    steps = other.steps;
    passes = other.passes;
    is_part = other.is_part;
    return *this;
  }

  /// Discards the state, so that the next call of `train` starts with new accumulators.
  LAMINA_API LAMINA_COLD void forget();
};

namespace detail {
/// A variable whose address identifies an optimizer type.
template <class Opt>
inline constexpr char optimizer_identity = 0;
/// Whether `kept` is a state from which an optimizer of type Opt can continue.
template <class Opt>
bool goes_on(const training_memory* kept) {
  return kept != nullptr && kept->optimizer == &optimizer_identity<Opt>;
}
}  // namespace detail

#if LAMINA_DEFINES

training_memory::~training_memory() {}

void training_memory::forget() { *this = training_memory(); }

#endif  // LAMINA_DEFINES

}}  // namespace lamina
