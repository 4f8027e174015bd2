// SPDX-License-Identifier: Apache-2.0
// lamina/reader/chain.hpp - concatenates several readers.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <lamina/core/messages/check.hpp>
#include <lamina/reader/adaptor.hpp>
#include <lamina/reader/begin_pass.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

/// The type of reader that chain() makes. The types of the readers are erased, so that one chain
/// may have readers of different types; this costs one indirect call per element.
template <class T>
class chained_reader {
 public:
  using value_type = T;
  struct link {
    std::shared_ptr<void> reader;
    generator<T> (*begin)(const std::shared_ptr<void>&, std::uint64_t pass);
  };

  explicit chained_reader(std::vector<link> links)
      : links_(std::make_shared<const std::vector<link>>(std::move(links))) {}

  generator<T> operator()(std::uint64_t pass = 0) const { return run(links_, pass); }

  template <class R>
  static link link_to(std::shared_ptr<R> reader) {
    return {std::move(reader), [](const std::shared_ptr<void>& from, std::uint64_t pass) {
              return copy(std::static_pointer_cast<R>(from), pass);
            }};
  }

 private:
  static generator<T> run(std::shared_ptr<const std::vector<link>> links, std::uint64_t number) {
    for (const link& each : *links) {
      auto elements = each.begin(each.reader, number);
      for (T&& element : elements) co_yield hand_over(std::move(element));
    }
  }
  template <class R>
  static generator<T> copy(std::shared_ptr<R> reader, std::uint64_t number) {
    pass<R> elements(reader, number);
    for (auto&& element : elements) {
      T converted(std::forward<decltype(element)>(element));
      co_yield hand_over(std::move(converted));
    }
  }

  std::shared_ptr<const std::vector<link>> links_;
};

/// Yields all elements of the first reader, then all elements of the second reader, and so on.
/// Elements are converted to the common type of the readers' element types. Readers after an
/// endless reader are never reached. Fluid: chain.
template <readable... R>
requires(sizeof...(R) > 0) auto chain(R&&... readers) {
  using T = std::common_type_t<reader_element_t<R>...>;
  using chained = chained_reader<T>;
  return chained(
      std::vector<typename chained::link>{chained::link_to(share(std::forward<R>(readers)))...});
}

/// Reports arguments that are not readers.
template <class... R>
requires(detail::are_no_readers<void, R...>) auto chain(const R&...) {
  static_assert(check<never<R...>, gets_type<std::remove_cvref_t<R>...>>,
                "lamina: reader: map, compose and chain: expected readers, copyable ranges or "
                "callables that return one");
  return &detail::no_elements<int>;
}

}}}  // namespace lamina::reader
