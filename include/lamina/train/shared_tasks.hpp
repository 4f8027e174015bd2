// SPDX-License-Identifier: Apache-2.0
// lamina/train/shared_tasks.hpp - chunks of data that processes hand out among themselves, as
// training sees them.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>

namespace lamina::inline LAMINA_ABI {

/// Chunks of data, such as files, which the processes of a training hand out among themselves in
/// each pass. `distributed::task_queue` implements this. A chunk is finished when an update has
/// used all of its samples.
class shared_tasks {
 public:
  virtual ~shared_tasks() = default;
  /// Begins a pass. `finished` is empty, or what finished() returned in an earlier run: those
  /// chunks are not handed out. Throws lamina::error unless it belongs to these chunks. All
  /// processes that train must call it, with the same arguments.
  virtual void begin(int pass, const std::string& finished) = 0;
  /// Says that updates have used `samples` more samples of this process. Throws lamina::error if
  /// these are more samples than the chunks of this process had so far.
  virtual void use(std::int64_t samples) = 0;
  /// The finished chunks of the pass, over all processes: for each chunk a '1', or a '0' if it is
  /// not finished. All processes that train must call it.
  virtual std::string finished() = 0;
  /// A checksum of the list of chunks; not 0.
  virtual std::uint64_t checksum() const = 0;

 protected:
  shared_tasks() = default;
  shared_tasks(const shared_tasks&) = default;
  shared_tasks& operator=(const shared_tasks&) = default;
};

}  // namespace lamina::inline LAMINA_ABI
