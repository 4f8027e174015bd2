// SPDX-License-Identifier: Apache-2.0
// lamina/reader/cache.hpp - keeps the elements of a reader in memory after the first pass.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <lamina/core/threads/threading.hpp>
#include <lamina/reader/adaptor.hpp>
#include <lamina/reader/cursor.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

/// The type of reader that cache() makes. Its copies share the stored elements.
template <class R>
class cached_reader {
 public:
  using value_type = reader_element_t<R>;

  explicit cached_reader(std::shared_ptr<R> reader)
      : memory_(std::make_shared<memory>(std::move(reader))) {}

  generator<value_type> operator()(std::uint64_t = 0) const { return run(memory_); }

 private:
  // A std::vector<bool> returns no references to elements, so each element is wrapped.
  struct kept {
    value_type element;
  };
  // Stores the elements that were read so far, and the only pass over the source. A reader's pass
  // that reaches the end of the stored elements reads the next element of the source.
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
      LAMINA_TRY {
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
      }
      LAMINA_CATCH_ALL {
        walk_.reset();  // the next attempt starts a new pass over the source and skips stored
                        // elements
        LAMINA_RETHROW;
      }
      complete_ = true;
      walk_.reset();
      return false;
    }

    threading::mutex mutex_;
    std::shared_ptr<R> reader_;
    std::optional<cursor<R>> walk_;
    // A chunk never grows beyond its reserved size, so pointers to its elements stay valid.
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

/// Reads each element of the source once, when a pass first reaches it, and stores it for all
/// passes. Every pass has the elements of the source's pass 0, so shuffle after the cache: with a
/// shuffle before it, all passes would have one order. Elements are stored one by one, so the
/// source may be endless (memory then grows with the elements read), passes may be abandoned early,
/// and several threads may read passes at once. An exception of the source reaches the pass that
/// requested the element, and is not stored. Fluid: cache.
inline auto cache() {
  auto make = []<class R>(std::shared_ptr<R> reader) {
    return cached_reader<R>(std::move(reader));
  };
  return adaptor<decltype(make)>(std::move(make));
}

}}}  // namespace lamina::reader
