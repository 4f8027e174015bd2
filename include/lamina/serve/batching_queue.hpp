// SPDX-License-Identifier: Apache-2.0
// lamina/serve/batching_queue.hpp - a queue from which a worker takes several requests at a time.
#pragma once

#include <lamina/core/config.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace serve {

/// The limits of a batching_queue.
struct queue_limits {
  std::size_t waiting = 1024;  // number of requests that may wait; more are rejected
  int rows = 64;               // maximum number of rows that are taken at once
  // How long a worker waits for more requests before it takes them.
  std::chrono::microseconds linger{};
};

/// The result of put(): the queue has accepted the request, is full, or is closed.
enum class put_result { taken, full, closed };

/// A queue of requests in the order of their arrival. Any number of threads append single requests.
/// Any number of workers each take as many waiting requests as fit into one mini-batch. So
/// mini-batches grow under load, but a single request need not wait for others. `rows_of(request)`
/// must return the number of rows of a request.
template <class Request, class RowsOf>
class batching_queue {
 public:
  /// Throws lamina::error for limits below 1, and for a negative time.
  batching_queue(const queue_limits& limits, RowsOf rows_of)
      : limits_(limits), rows_of_(std::move(rows_of)) {
    if (limits.waiting < 1 || limits.rows < 1 || limits.linger.count() < 0)
      throw error(
          text() << "lamina: batching_queue: expected at least 1 waiting request, 1 row and "
                    "a time of at least 0, found "
                 << limits.waiting << ", " << limits.rows << " and " << limits.linger.count());
  }

  /// Appends a request. If the queue is full or closed, the request stays with the caller.
  put_result put(Request&& request) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return put_result::closed;
      if (waiting_.size() >= limits_.waiting) return put_result::full;
      rows_ += static_cast<std::size_t>(rows_of_(request));
      waiting_.push_back(std::move(request));
    }
    changed_.notify_one();
    return put_result::taken;
  }

  /// Waits for requests, and takes the oldest requests whose rows together fit into a mini-batch. A
  /// request with more rows than a mini-batch is taken alone. The result is empty only if the queue
  /// is closed and no request waits.
  std::vector<Request> take() {
    std::vector<Request> taken;
    std::unique_lock lock(mutex_);
    do {
      changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
      if (limits_.linger.count() > 0 && !closed_)
        changed_.wait_for(lock, limits_.linger, [this] {
          return closed_ || rows_ >= static_cast<std::size_t>(limits_.rows);
        });
      // Another worker has taken all requests while this worker waited for more.
    } while (waiting_.empty() && !closed_);
    std::size_t count = 0, rows = 0;
    for (; count < waiting_.size(); ++count) {
      const auto more = static_cast<std::size_t>(rows_of_(waiting_[count]));
      if (count > 0 && rows + more > static_cast<std::size_t>(limits_.rows)) break;
      rows += more;
    }
    taken.reserve(count);  // so that no exception is thrown after a request has left the queue
    for (std::size_t i = 0; i < count; ++i) {
      taken.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    rows_ -= rows;
    const bool are_left = !waiting_.empty();
    lock.unlock();
    // This worker may have received the notifications for the remaining requests.
    if (are_left) changed_.notify_one();
    return taken;
  }

  /// Makes put() reject all requests. take() still returns the waiting requests.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

  /// Returns the number of waiting requests.
  std::size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }

 private:
  const queue_limits limits_;
  RowsOf rows_of_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Request> waiting_;
  std::size_t rows_ = 0;  // the total rows of all waiting requests
  bool closed_ = false;
};

}}}  // namespace lamina::serve
