// SPDX-License-Identifier: Apache-2.0
// lamina/reader/xmap.hpp - applies a function to each element, in several threads.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <lamina/core/messages/check.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/threads/threading.hpp>
#include <lamina/reader/adaptor.hpp>
#include <lamina/reader/cursor.hpp>
#include <lamina/reader/element_count.hpp>
#include <lamina/reader/random.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

/// Options of xmap.
struct xmap_options {
  std::size_t threads = 2;
  std::size_t buffer = 16;  ///< largest number of results that wait for the consumer
  bool ordered = true;      ///< false: results come in the order in which they are ready, which
                            ///< differs between runs
  std::uint64_t seed = 0;   ///< seed of the random numbers that the function gets
};

namespace detail {

// The state that the threads of one pass share. Worker threads take elements from the source one
// after another, compute results without a lock, and store each result under a key. The key is the
// position of the element in the source or, with ordered = false, the number of results completed
// before. The consumer takes the results in the order of their keys. Workers may store results only
// in a window of `buffer` keys that begins at the consumer's next key. So memory is bounded, and
// the worker whose result the consumer waits for never waits itself.
template <class R, class T>
class crew {
 public:
  crew(std::shared_ptr<R> reader, std::uint64_t pass, const xmap_options& options)
      : source_(std::move(reader), pass),
        done_(new std::optional<outcome>[options.buffer]),
        options_(options),
        pass_(pass) {}

  template <class F>
  void work(const F& f) {
    while (true) {
      outcome result;
      std::uint64_t position = 0;
      if (auto taken = take(result.failure, position)) {
        LAMINA_TRY {
          result.value.emplace(call_at(options_.seed, pass_, position, f, std::move(*taken)));
        }
        LAMINA_CATCH_ALL { result.failure = std::current_exception(); }
      } else if (!result.failure) {
        return;
      }
      if (!deliver(position, std::move(result))) return;
    }
  }

  // Waits for the next result and returns it; returns nothing at the end of the pass.
  std::optional<T> pop() {
    threading::guard lock(mutex_);
    ready_.wait(lock, [this] { return slot(next_) || (total_ && *total_ == next_); });
    std::optional<outcome>& first = slot(next_);
    if (!first) return std::nullopt;
    outcome result = std::move(*first);
    first.reset();
    ++next_;
    room_.notify_all();
    if (result.failure) std::rethrow_exception(std::exchange(result.failure, nullptr));
    return std::move(result.value);
  }

  void abandon() {
    const threading::guard lock(mutex_);
    abandoned_ = true;
    room_.notify_all();
  }

 private:
  using element = reader_element_t<R>;
  struct outcome {
    std::optional<T> value;
    std::exception_ptr failure;
  };

  std::optional<element> take(std::exception_ptr& failure, std::uint64_t& position) {
    const threading::guard turn(source_mutex_);
    if (ended_ || abandoned()) return std::nullopt;
    LAMINA_TRY {
      if (source_.next()) {
        std::optional<element> taken(source_.take());
        position = taken_++;
        return taken;
      }
    }
    LAMINA_CATCH_ALL {
      failure = std::current_exception();
      position = taken_++;  // an exception of the source takes a position too
    }
    ended_ = true;
    const threading::guard lock(mutex_);
    total_ = taken_;
    ready_.notify_all();
    return std::nullopt;
  }

  bool deliver(std::uint64_t position, outcome result) {
    threading::guard lock(mutex_);
    const auto key = [&] { return options_.ordered ? position : arrived_; };
    room_.wait(lock, [&] { return abandoned_ || key() - next_ < options_.buffer; });
    if (abandoned_) return false;
    slot(key()).emplace(std::move(result));
    ++arrived_;
    ready_.notify_one();
    return true;
  }

  bool abandoned() {
    const threading::guard lock(mutex_);
    return abandoned_;
  }

  std::optional<outcome>& slot(std::uint64_t key) { return done_[key % options_.buffer]; }

  threading::mutex source_mutex_;  // guards source_, taken_ and ended_; must be locked before
                                   // mutex_ if both are needed
  cursor<R> source_;
  std::uint64_t taken_ = 0;
  bool ended_ = false;

  threading::mutex mutex_;
  threading::condition room_, ready_;
  std::unique_ptr<std::optional<outcome>[]> done_;  // the window, by key
  std::uint64_t next_ = 0, arrived_ = 0;
  std::optional<std::uint64_t> total_;
  bool abandoned_ = false;

  const xmap_options options_;
  const std::uint64_t pass_;
};

}  // namespace detail

/// The type of reader that xmap() makes.
template <class R, class F>
class xmapped_reader {
 public:
  using value_type = std::decay_t<detail::result_at<const F, reader_element_t<R>>>;

  xmapped_reader(std::shared_ptr<R> reader, F f, xmap_options options)
      : reader_(std::move(reader)), f_(std::move(f)), options_(options) {}

  generator<value_type> operator()(std::uint64_t pass = 0) const {
    return run(reader_, f_, options_, pass);
  }

 private:
  using crew = detail::crew<R, value_type>;

  class workers {
   public:
    workers(crew& shared, const F& f, std::size_t count) : shared_(shared) {
      threads_.reserve(count);
      LAMINA_TRY {
        while (threads_.size() < count) threads_.emplace_back([&shared, f] { shared.work(f); });
      }
      LAMINA_CATCH_ALL {
        dismiss();
        LAMINA_RETHROW;
      }
    }
    workers(const workers&) = delete;
    ~workers() { dismiss(); }

   private:
    void dismiss() {
      shared_.abandon();
      for (auto& thread : threads_) thread.join();
    }
    crew& shared_;
    std::vector<threading::thread> threads_;
  };

  static generator<value_type> run(std::shared_ptr<R> reader, F f, xmap_options options,
                                   std::uint64_t pass) {
    crew shared(reader, pass, options);
    workers threads(shared, f, options.threads);
    while (auto result = shared.pop()) co_yield hand_over(std::move(*result));
  }

  std::shared_ptr<R> reader_;
  F f_;
  xmap_options options_;
};

/// Does the same as map(), for costly functions, in several threads. Each thread has its own copy
/// of f; the threads take elements of the source one after another and compute in parallel. At most
/// `buffer` results wait for the consumer. With ordered = true, results and exceptions have the
/// order of the source; with ordered = false, results are yielded as soon as they are ready. An
/// exception of f or of the source is rethrown to the consumer. The threads are joined when the
/// pass ends or is destroyed. As with map(), f may also accept the position, the pass and random
/// numbers. It is a compile-time error if the call operator of f is not const, because each copy
/// would change its own state, and results would depend on which thread computes them. If f changes
/// an object through a pointer, the compiler cannot detect it; then results must not depend on the
/// order of calls. Throws lamina::error if `threads` or `buffer` is 0. Fluid: xmap_readers.
template <class F>
auto xmap(F f, xmap_options options = {}) {
  if (options.threads == 0 || options.buffer == 0)
    LAMINA_THROW error(
        "lamina: reader::xmap: expected at least 1 thread and a buffer of 1, found " +
        std::to_string(options.threads) + " and " + std::to_string(options.buffer));
  auto make = [f = std::move(f), options]<class R>(std::shared_ptr<R> reader) {
    using element = reader_element_t<R>;
    constexpr bool accepts =
        detail::accepts_elements<const F&, element> || detail::accepts_positions<const F&, element>;
    constexpr bool changes = !accepts && (detail::accepts_elements<F&, element> ||
                                          detail::accepts_positions<F&, element>);
    static_assert(check<!changes>,
                  "lamina: reader: xmap: expected a function that does not change itself, for each "
                  "thread has a copy of it; random numbers are arguments: f(element, position, "
                  "pass, random)");
    static_assert(check<(accepts || changes), gets_type<reader_element_t<R>>>,
                  "lamina: reader: map: the function takes an element of the reader");
    if constexpr (accepts)
      return xmapped_reader<R, F>(std::move(reader), f, options);
    else
      return &detail::no_elements<detail::returned_by<F>>;
  };
  return adaptor<decltype(make)>(std::move(make));
}

/// Does the same with Fluid's positional arguments: xmap(f, threads, buffer, ordered).
template <class F>
auto xmap(F f, element_count threads, element_count buffer, bool ordered = true) {
  return xmap(std::move(f), xmap_options{.threads = threads.at_least(1, "xmap"),
                                         .buffer = buffer.at_least(1, "xmap"),
                                         .ordered = ordered});
}

}}}  // namespace lamina::reader
