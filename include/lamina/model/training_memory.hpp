// SPDX-License-Identifier: Apache-2.0
// lamina/model/training_memory.hpp - the training state that a model keeps, so that the next call
// of `train` can continue.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <memory>
#include <utility>

#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/model/sharded/sharded_embedding.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The state of an optimizer between two calls of its `train`: accumulators, steps and passes. It
/// cannot be copied, because it belongs to one model.
class training_memory {
 public:
  /// The type of the optimizer, identified by an address; null if there is no state.
  const void* optimizer = nullptr;
  /// All accumulators, ordered by parameter and state, in the layout of the parameters.
  engine::aligned_buffer accumulators{};
  /// The accumulators of embedding tables whose rows are sharded over processes.
  std::shared_ptr<embedding_states> embedding{};
  /// The number of updates and of passes so far.
  std::int64_t steps = 0;
  int passes = 0;
  /// Whether this process holds only the accumulators of its own shard; rank 0 then holds all of
  /// them.
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

  /// Drops the state, so that the next call of `train` begins anew.
  LAMINA_API LAMINA_COLD void forget();
};

namespace detail {
/// A variable whose address identifies an optimizer type.
template <class Opt>
inline constexpr char optimizer_identity = 0;
/// Whether there is a state from which an optimizer of this type can continue.
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
