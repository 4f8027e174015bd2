// SPDX-License-Identifier: Apache-2.0
// lamina/model/feeding/any_feed.hpp - describes the variables of an any_model, and passes values to
// its data layers.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>  // for the range concepts; <ranges> would add all views
#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/dtype.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Describes a variable of a model: a data layer, a layer with a name, or a parameter. In `shape`,
/// -1 stands for the number of rows. `levels` is the number of levels of sequences that the rows
/// form.
struct any_variable {
  std::string name;
  dtype type;
  std::vector<std::int64_t> shape;
  int levels = 0;
};

/// Values for the data layer with this name, row by row. The object refers to the caller's memory.
/// For a data layer of sequences, of_samples has the length of each sample's sequence. For a data
/// layer of nested sequences, of_samples has the number of inner sequences of each sample, and
/// of_inner the length of each inner sequence.
struct any_feed {
  std::string_view name;
  dtype type;
  const void* values;
  std::size_t count;
  std::span<const int> lengths{};
  std::span<const int> inner{};

  /// Refers to the numbers of a contiguous container: `{"image", pixels}`.
  template <std::ranges::contiguous_range R>
  requires element<std::ranges::range_value_t<R>> any_feed(std::string_view layer, const R& from,
                                                           std::span<const int> of_samples = {},
                                                           std::span<const int> of_inner = {})
      : any_feed(layer, std::ranges::data(from), std::ranges::size(from), of_samples, of_inner) {}
  /// Refers to n numbers at an address: `{"image", pointer, count}`.
  template <element T>
  any_feed(std::string_view layer, const T* from, std::size_t n,
           std::span<const int> of_samples = {}, std::span<const int> of_inner = {})
      : name(layer),
        type(dtype_of<T>),
        values(from),
        count(n),
        lengths(of_samples),
        inner(of_inner) {}
};

}}  // namespace lamina
