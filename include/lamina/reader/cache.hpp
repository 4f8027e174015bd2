// SPDX-License-Identifier: Apache-2.0
// lamina/reader/cache.hpp - keeps elements in memory after they are read first.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <lamina/core/threading.hpp>
#include <lamina/reader/adaptor.hpp>
#include <lamina/reader/cursor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

/// The type of reader that cache() makes. Copies of it share one memory.
template <class R>
class cached_reader {
 public:
  using value_type = reader_element_t<R>;

  explicit cached_reader(std::shared_ptr<R> reader)
      : memory_(std::make_shared<memory>(std::move(reader))) {}

  generator<value_type> operator()(std::uint64_t = 0) const { return run(memory_); }

 private:
  // Wraps the element, because a vector of bool returns no references.
  struct kept {
    value_type element;
  };
  // Stores the elements read so far, and one walk over the source that serves all passes. A pass
  // that reaches the end of the stored elements advances the walk.
  class memory {
   public:
    explicit memory(std::shared_ptr<R> reader) : reader_(std::move(reader)) {}

    const value_type* at(std::size_t position) {
      const threading::guard lock(mutex_);
      if (position >= size_ && (complete_ || !read_on())) return nullptr;
      return &chunks_[position / chunk_size][position % chunk_size].element;
    }

   private:
    bool read_on() {
      try {
        if (!walk_) {
          walk_.emplace(reader_, 0);
          for (std::size_t known = 0; known < size_ && walk_->next(); ++known) {
          }
        }
        if (walk_->next()) {
          kept taken{walk_->take()};
          if (size_ == chunks_.size() * chunk_size) {
            std::vector<kept> chunk;
            chunk.reserve(chunk_size);
            chunks_.push_back(std::move(chunk));
          }
          chunks_.back().push_back(std::move(taken));
          ++size_;
          return true;
        }
      } catch (...) {
        walk_.reset();  // keeps the known elements; the next attempt walks to this position again
        throw;
      }
      complete_ = true;
      walk_.reset();
      return false;
    }

    threading::mutex mutex_;
    std::shared_ptr<R> reader_;
    std::optional<cursor<R>> walk_;
    // Chunks never grow beyond their reserved size, so references stay valid.
    static constexpr std::size_t chunk_size = 256;
    std::vector<std::vector<kept>> chunks_;
    std::size_t size_ = 0;
    bool complete_ = false;
  };

  static generator<value_type> run(std::shared_ptr<memory> memory) {
    for (std::size_t position = 0;; ++position) {
      const value_type* element = memory->at(position);
      if (!element) co_return;
      co_yield hand_over(*element);
    }
  }

  std::shared_ptr<memory> memory_;
};

/// Reads each element of the source once, when a pass first reaches it, and then repeats it from
/// memory. Every pass equals the source's pass 0, so shuffle after the cache, not before it. It
/// works element by element, so it also supports endless readers (the memory then grows with the
/// elements read), passes that are abandoned early, and several passes at once in several threads.
/// An error of the source reaches the pass that caused it and is not stored. Fluid: cache.
inline auto cache() {
  auto make = []<class R>(std::shared_ptr<R> reader) {
    return cached_reader<R>(std::move(reader));
  };
  return adaptor<decltype(make)>(std::move(make));
}

}}}  // namespace lamina::reader
