// SPDX-License-Identifier: Apache-2.0
// lamina/reader/buffered.hpp - reads ahead in a separate thread.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <lamina/core/threads/threading.hpp>
#include <lamina/reader/adaptor.hpp>
#include <lamina/reader/element_count.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

namespace detail {

// A bounded queue between one producer and one consumer.
template <class T>
class channel {
 public:
  explicit channel(std::size_t size) : size_(size) {}

  // Waits until the queue is not full, and appends the element. Returns false, and drops the
  // element, if the consumer has abandoned the queue.
  bool push(T element) {
    threading::guard lock(mutex_);
    room_.wait(lock, [this] { return abandoned_ || waiting() < size_; });
    if (abandoned_) return false;
    written_.emplace_back(std::move(element));
    ready_.notify_one();
    return true;
  }

  // The producer calls it when it has pushed its last element. `failure` is the exception that
  // stopped it, or null.
  void finish(std::exception_ptr failure) {
    const threading::guard lock(mutex_);
    finished_ = true;
    failure_ = std::move(failure);
    ready_.notify_one();
  }

  // Waits for an element and returns it; returns nothing at the end of the pass. After an
  // exception, first returns the elements that were read before, then rethrows the exception.
  std::optional<T> pop() {
    threading::guard lock(mutex_);
    ready_.wait(lock, [this] { return finished_ || waiting() > 0; });
    if (waiting() == 0) {
      if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
      return std::nullopt;
    }
    if (next_ == read_.size()) {
      read_.clear();
      read_.swap(written_);
      next_ = 0;
    }
    std::optional<T> element = std::move(read_[next_++]);
    room_.notify_one();
    return element;
  }

  void abandon() {
    const threading::guard lock(mutex_);
    abandoned_ = true;
    room_.notify_one();
  }

 private:
  std::size_t waiting() const { return read_.size() - next_ + written_.size(); }

  const std::size_t size_;
  threading::mutex mutex_;
  threading::condition room_, ready_;
  // The consumer empties one vector while the producer fills the other.
  std::vector<std::optional<T>> written_, read_;
  std::size_t next_ = 0;
  std::exception_ptr failure_;
  bool finished_ = false, abandoned_ = false;
};

}  // namespace detail

/// The type of reader that buffered() makes.
template <class R>
class buffered_reader {
 public:
  using value_type = reader_element_t<R>;

  buffered_reader(std::shared_ptr<R> reader, std::size_t size)
      : reader_(std::move(reader)), size_(size) {}

  generator<value_type> operator()(std::uint64_t pass = 0) const {
    return run(reader_, size_, pass);
  }

 private:
  // Owns the producer thread. The destructor, which runs when the pass ends or is destroyed
  // earlier, stops the thread and waits for its end.
  class producer {
   public:
    producer(detail::channel<value_type>& channel, std::shared_ptr<R> reader, std::uint64_t number)
        : channel_(channel), thread_([&channel, reader = std::move(reader), number] {
            std::exception_ptr failure;
            LAMINA_TRY {
              pass<R> elements(reader, number);
              for (auto&& element : elements)
                if (!channel.push(std::forward<decltype(element)>(element))) break;
            }
            LAMINA_CATCH_ALL { failure = std::current_exception(); }
            // This call is outside of the handler, so that the thread no longer holds the exception
            // when the consumer gets it.
            channel.finish(std::move(failure));
          }) {}
    producer(const producer&) = delete;
    ~producer() {
      channel_.abandon();
      thread_.join();
    }

   private:
    detail::channel<value_type>& channel_;
    threading::thread thread_;
  };

  static generator<value_type> run(std::shared_ptr<R> reader, std::size_t size,
                                   std::uint64_t number) {
    detail::channel<value_type> channel(size);
    producer thread(channel, reader, number);
    while (auto element = channel.pop()) co_yield hand_over(std::move(*element));
  }

  std::shared_ptr<R> reader_;
  std::size_t size_;
};

/// Reads up to `size` elements ahead in a background thread, in the same order. The thread starts
/// when the first element is requested. When the pass ends or is destroyed, the thread completes
/// the element that it is computing and is joined. An exception of the reader is rethrown after the
/// elements that were read before it. Throws lamina::error for a size below 1. Fluid: buffered.
inline auto buffered(element_count elements) {
  const std::size_t size = elements.at_least(1, "buffered");
  auto make = [size]<class R>(std::shared_ptr<R> reader) {
    return buffered_reader<R>(std::move(reader), size);
  };
  return adaptor<decltype(make)>(std::move(make));
}

}}}  // namespace lamina::reader
