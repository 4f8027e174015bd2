// SPDX-License-Identifier: Apache-2.0
// lamina/reader/shuffle.hpp - yields elements in a random order, which is the same on every
// machine.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <lamina/core/numbers/philox.hpp>
#include <lamina/reader/adaptor.hpp>
#include <lamina/reader/cursor.hpp>
#include <lamina/reader/element_count.hpp>
#include <lamina/reader/pulled_range.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

namespace detail {

// The random numbers for one pass. The seed is changed by a constant, so that the numbers differ
// from those of initial weights and dropout with the same seed.
class shuffle_engine {
 public:
  shuffle_engine(std::uint64_t seed, std::uint64_t pass)
      : seed_(seed ^ 0x73687566666c6521u), pass_(pass) {}

  // Returns a uniform number in [0, count), by rejection. (std::uniform_int_distribution would give
  // different numbers with different standard libraries.)
  std::uint64_t below(std::uint64_t count) {
    constexpr std::uint64_t max = (std::numeric_limits<std::uint64_t>::max)();
    const std::uint64_t excess = (max % count + 1) % count;
    std::uint64_t drawn;
    do {
      const random_words words = philox(seed_, pass_, draws_++);
      drawn = std::uint64_t{words.word[0]} << 32 | words.word[1];
    } while (drawn > max - excess);
    return drawn % count;
  }

 private:
  std::uint64_t seed_, pass_, draws_ = 0;
};

// Shuffles by the algorithm of Fisher and Yates.
template <class Sequence>
void permute(Sequence& elements, shuffle_engine& engine) {
  for (std::size_t left = elements.size(); left > 1; --left) {
    using std::swap;
    swap(elements[left - 1], elements[engine.below(left)]);
  }
}

}  // namespace detail

/// The type of reader that shuffle() makes.
template <class R>
class shuffled_reader {
 public:
  using value_type = reader_element_t<R>;

  shuffled_reader(std::shared_ptr<R> reader, std::size_t buffer_size, std::uint64_t seed)
      : reader_(std::move(reader)), buffer_size_(buffer_size), seed_(seed) {}

  auto operator()(std::uint64_t pass = 0) const {
    return pulled_range(
        source(cursor<R>(reader_, pass), buffer_size_, detail::shuffle_engine(seed_, pass)));
  }

 private:
  // A std::vector<bool> returns no references to elements, so a bool is wrapped. Other elements are
  // not wrapped, so that their vector has the same type as the vectors of batch().
  struct kept_bool {
    kept_bool(bool b) : element(b) {}
    operator bool&() { return element; }
    bool element;
  };
  using kept = std::conditional_t<std::is_same_v<value_type, bool>, kept_bool, value_type>;
  class source {
   public:
    using value_type = shuffled_reader::value_type;

    source(cursor<R> elements, std::size_t size, detail::shuffle_engine engine)
        : elements_(std::move(elements)), size_(size), engine_(engine) {}

    bool next() {
      if (++at_ < buffer_.size()) return true;
      buffer_.clear();
      while (buffer_.size() < size_ && elements_.next()) buffer_.emplace_back(elements_.take());
      detail::permute(buffer_, engine_);
      at_ = 0;
      return !buffer_.empty();
    }
    value_type& current() { return buffer_[at_]; }

   private:
    cursor<R> elements_;
    std::size_t size_, at_ = 0;
    std::vector<kept> buffer_;
    detail::shuffle_engine engine_;
  };

  std::shared_ptr<R> reader_;
  std::size_t buffer_size_;
  std::uint64_t seed_;
};

/// Repeatedly fills a buffer with `buffer` elements and yields them in random order; the last
/// buffer of a pass may be shorter. If the buffer is at least as long as the pass, every order of
/// the elements is equally likely. The order depends only on the seed and the pass number: passes
/// differ in their order, and a second run repeats the orders of the first run. Throws
/// lamina::error for a buffer size below 1. Fluid: shuffle.
inline auto shuffle(element_count buffer, std::uint64_t seed = 0) {
  const std::size_t buffer_size = buffer.at_least(1, "shuffle");
  auto make = [buffer_size, seed]<class R>(std::shared_ptr<R> reader) {
    return shuffled_reader<R>(std::move(reader), buffer_size, seed);
  };
  return adaptor<decltype(make)>(std::move(make));
}

}}}  // namespace lamina::reader
