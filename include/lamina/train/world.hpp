// SPDX-License-Identifier: Apache-2.0
// lamina/train/world.hpp - the processes of a training, as an interface for training.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/engine/common/process_calls.hpp>
#include <lamina/model/sharded/sharded_embedding.hpp>
#include <lamina/plan/gradient_order.hpp>
#include <lamina/train/device/device_sums.hpp>
#include <lamina/train/parameter_sync.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The arrays of a trainer, by parameter, that parameter_sync synchronises.
struct trained_arrays {
  // The gradients of thread t are at [t * count, (t + 1) * count); null: no gradient, or a sparse
  // one.
  float* const* gradients;
  float* const* values;
  const std::size_t* floats;  // sizes of the arrays; a double counts as two
  const bool* has_rows;       // the gradient is selected rows, and the parameter is updated
  int count;
  bool whole;                             // whether an update cannot be divided within a parameter
  bool is_double;                         // the elements are doubles
  const gradient_times* times = nullptr;  // when gradients are complete in a step; null: at its end
  int threads = 1;
  // For a sparse gradient: the stride between rows in floats, or -1 if a row is not contiguous; 0
  // for other gradients.
  const int* row_floats = nullptr;
  // Tables that are divided over the processes; by parameter, the number of its table or -1.
  sharded_embedding* tables = nullptr;
  const int* table_of = nullptr;
  // Whether each process needs only the accumulators of its own shard.
  bool divides_states = false;
};

/// The processes of a distributed training: each is a rank from 0 to size() - 1.
/// `distributed::session` implements this with MPI.
class world {
 public:
  virtual ~world() = default;
  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Returns the number of processes that train, which are the first ranks. All others are
  /// parameter servers.
  virtual int trainers() const { return size_; }

  /// Returns the sum of a number over all training processes. All of them must call it.
  virtual std::int64_t all_reduce_sum(std::int64_t mine) = 0;
  /// Makes the object with which the processes train together. All must call it.
  virtual std::unique_ptr<parameter_sync> make_sync(const trained_arrays& of) = 0;
  /// Connects device number `device` of this process, which works on `stream` (a cudaStream_t),
  /// with the devices of the others. All must call it.
  LAMINA_API LAMINA_COLD virtual std::unique_ptr<device_sums> share_device(int device,
                                                                           void* stream);
  /// Divides the rows of a model's tables over the processes. All must call it, with the same
  /// tables and seed.
  LAMINA_API LAMINA_COLD virtual std::shared_ptr<sharded_embedding> make_embedding(
      std::vector<embedding_table>, std::uint64_t seed);
  /// Gives every rank the data of all ranks: afterwards `all` holds the `bytes` bytes at `mine` of
  /// rank r at offset r * bytes. All ranks must call it, with equal `bytes`.
  LAMINA_API LAMINA_COLD virtual void gather(const void* mine, std::size_t bytes, void* all);
  /// Does the same for the training processes; all of them must call it, and the others must not.
  LAMINA_API LAMINA_COLD virtual void gather_trainers(const void* mine, std::size_t bytes,
                                                      void* all);
  /// Replaces an array by its reduction over the processes whose `takes_part` is true; by zeros if
  /// there is none. All must call it, with the same `call`. The memory must be aligned to 64 bytes
  /// and have capacity for 32 * size() more elements.
  LAMINA_API LAMINA_COLD virtual void reduce(const engine::reduction_call&, void* /*array*/,
                                             const bool* /*takes_part*/);
  /// Tells all other ranks that this one stops because of an error. Their next exchange throws it.
  /// Only the first call has an effect.
  virtual void fail(std::string_view why) noexcept = 0;

 protected:
  world(int rank, int size) : rank_(rank), size_(size) {}
  world(const world&) = default;
  world& operator=(const world&) = default;
  int rank_, size_;

 private:
  [[noreturn]] LAMINA_API LAMINA_COLD static void fail_to_run();
};

#if LAMINA_DEFINES

std::unique_ptr<device_sums> world::share_device(int device, void* stream) {
  (void)device, (void)stream;
  LAMINA_THROW error(
      "lamina: train: expected a world that connects devices, lamina::distributed::nccl_session, "
      "found one that does not");
}

std::shared_ptr<sharded_embedding> world::make_embedding(std::vector<embedding_table>,
                                                         std::uint64_t seed) {
  (void)seed;
  LAMINA_THROW error(
      "lamina: model: expected a world whose processes can divide tables, found another");
}

void world::gather(const void*, std::size_t, void*) { fail_to_run(); }

void world::gather_trainers(const void* mine, std::size_t bytes, void* all) {
  gather(mine, bytes, all);
}

void world::reduce(const engine::reduction_call&, void* /*array*/, const bool* /*takes_part*/) {
  fail_to_run();
}

void world::fail_to_run() {
  LAMINA_THROW error(
      "lamina: run: expected a world whose processes run programs together, found another");
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina
