// SPDX-License-Identifier: Apache-2.0
// lamina/reader/split.hpp - divides a reader into disjoint training and validation data.
#pragma once

#include <lamina/core/config.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <lamina/core/files/checksum.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/reader/adaptor.hpp>
#include <lamina/reader/cursor.hpp>
#include <lamina/reader/pulled_range.hpp>
#include <lamina/reader/shuffle.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

namespace detail {

/// Decides by the position of an element whether it belongs to the first part. Let `fraction` be
/// the size of the smaller part, of 1. One of every 1 / fraction consecutive elements is drawn at
/// random for the smaller part, so that the size of each part is exact to one element.
class position_split {
 public:
  position_split(double first, std::uint64_t seed)
      : fraction_(first <= 0.5 ? first : 1 - first), swapped_(first > 0.5), seed_(seed) {}

  template <class Element>
  bool is_first(std::uint64_t position, const Element&) const {
    std::uint64_t run = static_cast<std::uint64_t>(static_cast<double>(position) * fraction_);
    while (begin_of(run) > position) --run;
    while (begin_of(run + 1) <= position) ++run;
    const std::uint64_t begin = begin_of(run);
    const bool drawn =
        position == begin + shuffle_engine(seed_, run).below(begin_of(run + 1) - begin);
    return drawn != swapped_;
  }

 private:
  std::uint64_t begin_of(std::uint64_t run) const {
    return static_cast<std::uint64_t>(std::ceil(static_cast<double>(run) / fraction_));
  }
  double fraction_;
  bool swapped_;
  std::uint64_t seed_;
};

/// Decides for each position whether it is outside of a fold. Of k consecutive elements, in a
/// random order, element i belongs to fold i, so that the sizes of the folds differ by one element
/// at most.
class fold_split {
 public:
  fold_split(int folds, int fold, std::uint64_t seed)
      : folds_(static_cast<std::uint64_t>(folds)),
        fold_(static_cast<std::uint64_t>(fold)),
        seed_(seed) {}

  template <class Element>
  bool is_first(std::uint64_t position, const Element&) const {
    shuffle_engine engine(seed_ ^ 0x666f6c6473u, position / folds_);
    std::vector<std::uint64_t> order(folds_);
    for (std::uint64_t i = 0; i < folds_; ++i) order[i] = i;
    permute(order, engine);
    return order[fold_] != position % folds_;
  }

 private:
  std::uint64_t folds_, fold_, seed_;
};

/// Decides by the key of an element, so that all elements with the same key belong to the same
/// part.
template <class Key>
class key_split {
 public:
  key_split(double first, std::uint64_t seed, Key key)
      : first_(first), seed_(seed), key_(std::move(key)) {}

  template <class Element>
  bool is_first(std::uint64_t, const Element& element) const {
    const auto& key = key_(element);
    std::uint64_t number = 0;
    if constexpr (std::integral<std::remove_cvref_t<decltype(key)>>) {
      number = static_cast<std::uint64_t>(key);
    } else {
      const std::string_view letters = key;
      checksum sum;
      sum.add(letters.data(), letters.size());
      number = sum.value();
    }
    return uniform_at(seed_ ^ 0x73706c6974u, number >> 32, number & 0xffffffffu) < first_;
  }

 private:
  double first_;
  std::uint64_t seed_;
  Key key_;
};

}  // namespace detail

/// One of the two readers that split() makes.
template <class R, class Rule>
class split_reader {
 public:
  using value_type = reader_element_t<R>;

  split_reader(std::shared_ptr<R> reader, Rule rule, bool first)
      : reader_(std::move(reader)), rule_(std::move(rule)), first_(first) {}

  auto operator()(std::uint64_t = 0) const {
    return pulled_range(source(cursor<R>(reader_, 0), rule_, first_));
  }

 private:
  class source {
   public:
    using value_type = split_reader::value_type;

    source(cursor<R> elements, const Rule& rule, bool first)
        : elements_(std::move(elements)), rule_(rule), first_(first) {}

    bool next() {
      while (elements_.next()) {
        kept_.clear();
        kept_.push_back({elements_.take()});
        if (rule_.is_first(position_++, current()) == first_) return true;
      }
      return false;
    }
    value_type& current() { return kept_.front().element; }

   private:
    struct kept {
      value_type element;
    };
    cursor<R> elements_;
    Rule rule_;
    bool first_;
    std::uint64_t position_ = 0;
    std::vector<kept> kept_;  // the current element; wrapped, because a std::vector<bool> returns
                              // no references
  };

  std::shared_ptr<R> reader_;
  Rule rule_;
  bool first_;
};

/// Both readers: `auto [training, validation] = samples | reader::split(0.8);`.
template <class R, class Rule>
struct split_readers {
  split_reader<R, Rule> first, second;
};

namespace detail {
template <class Rule>
auto split_with(Rule rule) {
  auto make = [rule = std::move(rule)]<class R>(std::shared_ptr<R> reader) {
    return split_readers<R, Rule>{{reader, rule, true}, {reader, rule, false}};
  };
  return adaptor<decltype(make)>(std::move(make));
}
inline void require_fraction(double first) {
  if (!(first > 0 && first < 1))
    LAMINA_THROW error(
        (text() << "lamina: reader::split: expected a fraction above 0 and below 1, found ")
            .print("%g", first));
}
}  // namespace detail

/// Divides a reader into two readers, its parts. The first part gets fraction `first` of the
/// elements, drawn at random by the seed and the position of each element. Each element is in the
/// same part in every pass, because both parts always read the source's pass 0: a shuffle before
/// the split has the same order in each pass, and random augmentation the same numbers. So shuffle
/// and augment after the split. Throws lamina::error unless 0 < first < 1.
inline auto split(double first, std::uint64_t seed = 0) {
  detail::require_fraction(first);
  return detail::split_with(detail::position_split(first, seed));
}
/// Divides a reader for cross-validation: `auto [training, validation] = samples |
/// reader::k_fold(5, i);`. The second reader is fold i of k, the first one has the other folds.
/// Each element is in exactly one of the folds 0 to k - 1, drawn at random by the seed and the
/// position of each element; the sizes of the folds differ by one element at most. As in split(),
/// shuffle and augment after it. Throws lamina::error unless k > 1 and 0 <= fold < k. Scikit-learn:
/// KFold(shuffle=True).
inline auto k_fold(int k, int fold, std::uint64_t seed = 0) {
  if (k < 2)
    LAMINA_THROW error(text("lamina: reader::k_fold: expected at least 2 folds, found ") << k);
  if (fold < 0 || fold >= k)
    LAMINA_THROW error(text("lamina: reader::k_fold: expected a fold from 0 to ")
                       << k - 1 << ", found " << fold);
  return detail::split_with(detail::fold_split(k, fold, seed));
}

/// Divides a reader by `key(element)`, an integer or a text: all elements with the same key, such
/// as the images of one person, are in the same part. `first` is then a fraction of the keys.
template <class Key>
requires(!std::integral<Key>) auto split(double first, Key key, std::uint64_t seed = 0) {
  detail::require_fraction(first);
  return detail::split_with(detail::key_split<Key>(first, seed, std::move(key)));
}

}}}  // namespace lamina::reader
