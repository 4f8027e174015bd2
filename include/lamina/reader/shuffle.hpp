// SPDX-License-Identifier: Apache-2.0
// lamina/reader/shuffle.hpp - a random order, the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <utility>

#include <lamina/core/error.hpp>
#include <lamina/reader/adaptor.hpp>

namespace lamina::reader {

namespace detail {

// The generator of one pass: two rounds of the splitmix64 finalizer spread (seed, pass), so that
// neighbouring seeds and passes share nothing.
inline std::mt19937_64 shuffle_engine(std::uint64_t seed, std::uint64_t pass) {
  const auto mix = [](std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  };
  return std::mt19937_64(mix(mix(seed) ^ pass));
}

// Fisher and Yates with rejection. std::shuffle and std::uniform_int_distribution would give
// another order in another standard library.
template <class Sequence>
void permute(Sequence& elements, std::mt19937_64& engine) {
  for (std::uint64_t left = elements.size(); left > 1; --left) {
    const std::uint64_t excess = (std::mt19937_64::max() % left + 1) % left;
    std::uint64_t drawn = engine();
    while (drawn > std::mt19937_64::max() - excess) drawn = engine();
    using std::swap;
    swap(elements[left - 1], elements[drawn % left]);
  }
}

}  // namespace detail

/// The reader that shuffle() makes.
template <class R>
class shuffled_reader {
 public:
  using value_type = reader_element_t<R>;

  shuffled_reader(std::shared_ptr<R> reader, std::size_t buffer_size, std::uint64_t seed)
      : reader_(std::move(reader)), buffer_size_(buffer_size), seed_(seed) {}

  generator<value_type> operator()(std::uint64_t pass = 0) const {
    return run(reader_, buffer_size_, seed_, pass);
  }

 private:
  static generator<value_type> run(std::shared_ptr<R> reader, std::size_t buffer_size,
                                   std::uint64_t seed, std::uint64_t number) {
    auto engine = detail::shuffle_engine(seed, number);
    std::deque<value_type> buffer;
    pass<R> elements(reader, number);
    for (auto&& element : elements) {
      buffer.push_back(std::forward<decltype(element)>(element));
      if (buffer.size() < buffer_size) continue;
      detail::permute(buffer, engine);
      for (auto& b : buffer) co_yield hand_over(std::move(b));
      buffer.clear();
    }
    detail::permute(buffer, engine);
    for (auto& b : buffer) co_yield hand_over(std::move(b));
  }

  std::shared_ptr<R> reader_;
  std::size_t buffer_size_;
  std::uint64_t seed_;
};

/// Fills a buffer, yields it in random order, and so on; what is left at the end of the pass is
/// shuffled too. With a buffer as long as the pass every order is equally likely. The order is
/// a function of seed, pass number and nothing else: each pass has another one, a second run the
/// same. Error: buffer_size of 0. Fluid: shuffle.
inline auto shuffle(std::size_t buffer_size, std::uint64_t seed = 0) {
  if (buffer_size == 0)
    throw error("lamina: reader::shuffle: expected a buffer of at least 1 element, found 0");
  auto make = [buffer_size, seed]<class R>(std::shared_ptr<R> reader) {
    return shuffled_reader<R>(std::move(reader), buffer_size, seed);
  };
  return adaptor<decltype(make)>(std::move(make));
}

}  // namespace lamina::reader
