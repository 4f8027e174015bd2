// SPDX-License-Identifier: Apache-2.0
// lamina/v2/feeding.hpp - maps the fields of a sample to data layers.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <lamina/core/compile_time/fixed_string.hpp>
#include <lamina/core/messages/check.hpp>
#include <lamina/model/feeding/sample_fields.hpp>
#include <lamina/model/names/program_names.hpp>
#include <lamina/reader/map.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace v2 {

/// The feeding for samples whose fields have the order of the data layers.
struct feeding_in_order {
  using names = gets_type<>;
  template <class P>
  static constexpr bool fits = true;
  template <class P, class Reader>
  static Reader& applied_to(Reader& reader) {
    return reader;
  }
};

/// Maps the fields of a sample to data layers: Names are the data layers of the fields, in the
/// order of the fields. A field with an empty name is ignored.
template <fixed_string... Names>
class feeding_of {
  /// Returns the data layer of each field; -1 for a field that is ignored.
  template <class P>
  static constexpr std::array<int, sizeof...(Names)> layers() {
    return {data_named<P>(Names.view())...};
  }
  template <class P>
  static constexpr bool all_named() {
    int count[bound(counts_of<P>.data)] = {};
    bool known = true;
    for (const int layer : layers<P>())
      if (layer >= 0) ++count[layer];
    ((known = known && (Names.view().empty() || data_named<P>(Names.view()) >= 0)), ...);
    for (int i = 0; i < counts_of<P>.data; ++i) known = known && count[i] == 1;
    return known;
  }

 public:
  using names = gets_type<lamina::detail::name_letters<Names>...>;
  /// Whether each data layer of P is named once. If not, the caller of this class gives the
  /// compile-time error, so that the error is at the user's line.
  template <class P>
  static constexpr bool fits = all_named<P>();

  /// Returns a reader of mini-batches whose samples have their fields in the order of P's data
  /// layers. If the samples already have this order, returns the given reader.
  template <class P, class Reader>
  static decltype(auto) applied_to(Reader& reader) {
    if constexpr (!fits<P> || in_order<P>()) {
      return (reader);
    } else {
      return lamina::reader::map(
          [](const auto& minibatch) {
            using sample = std::remove_cvref_t<decltype(*std::begin(minibatch))>;
            using made = decltype(reordered<P>(std::declval<const sample&>()));
            std::vector<made> all;
            all.reserve(std::size(minibatch));
            for (const auto& s : minibatch) all.push_back(reordered<P>(s));
            return all;
          },
          reader);
    }
  }

 private:
  static constexpr int fields = static_cast<int>(sizeof...(Names));

  template <class P>
  static constexpr bool in_order() {
    const auto of = layers<P>();
    bool same = fields == counts_of<P>.data;
    for (int i = 0; same && i < fields; ++i) same = of[static_cast<std::size_t>(i)] == i;
    return same;
  }
  /// Returns the field for data layer `layer`.
  template <class P>
  static constexpr std::size_t field_of(int layer) {
    const auto of = layers<P>();
    for (std::size_t i = 0; i < of.size(); ++i)
      if (of[i] == layer) return i;
    return 0;
  }
  template <class P, class Sample>
  static auto reordered(const Sample& s) {
    return lamina::detail::with_fields<fields>(s, [](const auto&... field) {
      const auto all = std::tie(field...);
      return [&]<std::size_t... Layer>(std::index_sequence<Layer...>) {
        return std::make_tuple(std::get<field_of<P>(static_cast<int>(Layer))>(all)...);
      }
      (std::make_index_sequence<static_cast<std::size_t>(counts_of<P>.data)>());
    });
  }
};

/// `trainer.train(reader, {}, feeding<"label", "image">)`: the first field of each sample goes to
/// the data layer "label". v2: the argument `feeding`, a list of names.
template <fixed_string... Names>
inline constexpr feeding_of<Names...> feeding{};

}}}  // namespace lamina::v2
