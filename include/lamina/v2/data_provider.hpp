// SPDX-License-Identifier: Apache-2.0
// lamina/v2/data_provider.hpp - makes a reader from a function that yields pairs (mini-batch,
// whether the pass ends).
#pragma once

#include <lamina/core/config.hpp>

#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <lamina/core/messages/check.hpp>
#include <lamina/reader/pulled_range.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2 {

/// The type of the reader that data_provider() makes. All passes read one range: a pass continues
/// where the previous pass has ended, or where its reader has stopped.
template <class Range>
class provided_reader {
  template <class Element>
  static auto first_of(Element&& element) {
    auto&& [minibatch, end_pass] = element;
    return std::remove_cvref_t<decltype(minibatch)>(std::forward<decltype(minibatch)>(minibatch));
  }
  using iterator = decltype(std::begin(std::declval<Range&>()));

 public:
  using value_type = decltype(first_of(*std::declval<iterator&>()));

  explicit provided_reader(std::function<Range()> start) : from_(new state{std::move(start)}) {}

  auto operator()() const { return lamina::reader::pulled_range(source(from_)); }

 private:
  struct state {
    std::function<Range()> start;
    std::optional<Range> range{};
    std::optional<iterator> at{};  // the position of the last element that was read
  };
  class source {
   public:
    using value_type = provided_reader::value_type;

    explicit source(std::shared_ptr<state> from) : from_(std::move(from)) {}

    bool next() {
      if (ended_) return false;
      state& s = *from_;
      if (!s.range) {
        s.range.emplace(s.start());
        s.at.emplace(std::begin(*s.range));
      } else {
        ++*s.at;
      }
      if (*s.at == std::end(*s.range)) {  // the function has returned: call it again next time
        s.at.reset();
        s.range.reset();
        return false;
      }
      auto&& element = **s.at;
      auto&& [minibatch, end_pass] = element;
      current_.emplace(std::move(minibatch));
      ended_ = static_cast<bool>(end_pass);
      return true;
    }
    value_type& current() { return *current_; }

   private:
    std::shared_ptr<state> from_;
    std::optional<value_type> current_{};
    bool ended_ = false;
  };

  std::shared_ptr<state> from_;
};

/// Makes a reader of mini-batches from a function, which is called with `args` and returns a range
/// of pairs. A pair is a mini-batch, and whether this mini-batch is the last of its pass:
///
///   lamina::generator<std::pair<std::vector<sample>, bool>> read(const args& given) {
///     for (;;) co_yield {next_samples(given.file), is_at_end(given.file)};
///   }
///   v2::train(model, v2::data_provider(read, given));
///
/// For online learning, the function never yields true. If the function returns, the pass ends, and
/// the next pass calls the function again. A training with this reader cannot resume from a
/// checkpoint in the middle of a pass, because the reader cannot read the pass again from its
/// start. The design document of PaddlePaddle: the argument data_provider.
template <class Read, class... Args>
auto data_provider(Read read, Args... args) {
  using range = std::remove_cvref_t<std::invoke_result_t<Read&, Args&...>>;
  return provided_reader<range>(
      [read = std::move(read), args = std::tuple(std::move(args)...)]() mutable {
        return std::apply(read, args);
      });
}

}}}  // namespace lamina::v2
