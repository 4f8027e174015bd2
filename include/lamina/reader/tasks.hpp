// SPDX-License-Identifier: Apache-2.0
// lamina/reader/tasks.hpp - reads the chunks that a task queue assigns to this process.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <lamina/reader/begin_pass.hpp>
#include <lamina/reader/cursor.hpp>
#include <lamina/reader/generator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

/// The type of reader that tasks() makes.
template <class Queue, class F>
class tasks_reader {
  using chunk = detail::kept<std::invoke_result_t<const F&, const std::string&>>;

 public:
  using value_type = reader_element_t<chunk>;

  tasks_reader(Queue& queue, F open)
      : queue_(&queue), open_(std::make_shared<const F>(std::move(open))) {}

  generator<value_type> operator()(std::uint64_t pass = 0) const {
    return run(queue_, open_, pass);
  }

 private:
  /// The pass over one chunk.
  class chunk_walk {
   public:
    chunk_walk(Queue& queue, std::size_t number) : queue_(queue), number_(number) {}

    /// Opens the chunk and moves to its first sample. Returns whether there is one.
    bool begin(const F& open, std::uint64_t pass) {
      try {
        samples_.reset(new cursor<chunk>(share(open(queue_.chunk(number_))), pass));
      } catch (const std::exception& e) {
        queue_.fail(number_, e.what());
      }
      return next();
    }
    bool next() {
      try {
        return samples_->next();
      } catch (const std::exception& e) {
        queue_.fail(number_, e.what());
      }
    }
    decltype(auto) take() { return samples_->take(); }

   private:
    Queue& queue_;
    std::size_t number_;
    std::unique_ptr<cursor<chunk>> samples_;
  };

  static generator<value_type> run(Queue* queue, std::shared_ptr<const F> open,
                                   std::uint64_t pass) {
    for (;;) {
      const std::size_t number = queue->take(pass);
      if (number == queue->size()) co_return;
      chunk_walk samples(*queue, number);
      bool more = samples.begin(*open, pass);
      if (!more) queue->hand_out(number, 0, true);
      while (more) {
        // The chunk's reader is one sample ahead, so that the queue knows which sample is the last.
        value_type sample = samples.take();
        more = samples.next();
        queue->hand_out(number, 1, !more);
        co_yield hand_over(std::move(sample));
      }
    }
  }

  Queue* queue_;
  std::shared_ptr<const F> open_;
};

/// Yields the samples of the chunks that a `distributed::task_queue` assigns to this process, chunk
/// by chunk. A chunk is named by a text; open(chunk) returns a reader of its samples, for example
/// of the file with that name. The queue must outlive the reader, and the options of training must
/// contain `.tasks = &queue`. A pass ends when no chunk is left. The queue compares the samples
/// that this reader has yielded with the samples that updates have used, to know which chunks are
/// finished. So no adaptor after this reader may change the number of samples or read in other
/// threads (buffered, xmap); use such adaptors in `open`. An exception of a chunk's reader ends the
/// pass with an error that names the chunk.
template <class Queue, class F>
requires requires(const F& open, const std::string& chunk) { open(chunk); }
auto tasks(Queue& queue, F open) { return tasks_reader<Queue, F>(queue, std::move(open)); }

}}}  // namespace lamina::reader
