// SPDX-License-Identifier: Apache-2.0
// lamina/train/shared_tasks.hpp - chunks of data that processes distribute among themselves, as an
// interface for training.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>

namespace lamina { inline namespace LAMINA_ABI {

/// Chunks of data, such as files, which the processes of a training distribute among themselves in
/// each pass. `distributed::task_queue` implements this. A chunk is finished when updates have used
/// all of its samples.
class shared_tasks {
 public:
  virtual ~shared_tasks() = default;
  /// Begins a pass. `finished` is empty, or the result of finished() in an earlier run: those
  /// chunks are skipped. Throws lamina::error unless it belongs to these chunks. All training
  /// processes must call it, with the same arguments.
  virtual void begin(int pass, const std::string& finished) = 0;
  /// Reports that updates have used `samples` more samples of this process. Throws lamina::error if
  /// these are more samples than the chunks of this process have had so far.
  virtual void use(std::int64_t samples) = 0;
  /// Returns the finished chunks of the pass, over all processes: a '1' for each finished chunk,
  /// and a '0' for each other one. All training processes must call it.
  virtual std::string finished() = 0;
  /// Returns a checksum of the list of chunks; it is not 0.
  virtual std::uint64_t checksum() const = 0;

 protected:
  shared_tasks() = default;
  shared_tasks(const shared_tasks&) = default;
  shared_tasks& operator=(const shared_tasks&) = default;
};

}}  // namespace lamina
