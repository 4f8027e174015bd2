// SPDX-License-Identifier: Apache-2.0
// lamina/model/feeder.hpp - turns mini-batches of samples into arrays. Fluid: DataFeeder.
#pragma once

#include <array>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <lamina/core/config.hpp>
#include <lamina/core/error.hpp>
#include <lamina/core/text.hpp>
#include <lamina/model/element_of.hpp>
#include <lamina/model/program_names.hpp>
#include <lamina/plan/run_time_tables.hpp>

namespace lamina {

namespace detail {

template <class T>
inline constexpr bool is_tuple_like = requires {
  std::tuple_size<T>::value;
};
template <class T, std::size_t N>
inline constexpr bool is_tuple_like<std::array<T, N>> = false;

/// Calls `visit(field...)` with the N fields of a sample: a tuple, an aggregate, or one value.
template <int N, class S, class Visit>
void with_fields(const S& sample, Visit&& visit) {
  if constexpr (is_tuple_like<S>) {
    static_assert(
        check<std::tuple_size_v<S> == N, expects<N>, gets<static_cast<int>(std::tuple_size_v<S>)>>,
        "lamina: reader: a sample has one field for each data layer of the program");
    std::apply(visit, sample);
  } else if constexpr (N == 1) {
    if constexpr (std::is_arithmetic_v<S> || requires { sample.size(); }) {
      visit(sample);
    } else {
      const auto& [a] = sample;
      visit(a);
    }
  } else if constexpr (N == 2) {
    const auto& [a, b] = sample;
    visit(a, b);
  } else if constexpr (N == 3) {
    const auto& [a, b, c] = sample;
    visit(a, b, c);
  } else if constexpr (N == 4) {
    const auto& [a, b, c, d] = sample;
    visit(a, b, c, d);
  } else if constexpr (N == 5) {
    const auto& [a, b, c, d, e] = sample;
    visit(a, b, c, d, e);
  } else {
    static_assert(N <= 5 && N > 0, "lamina: reader: samples of more than five fields are tuples");
  }
}

}  // namespace detail

/// Holds a mini-batch as one array a data layer, in the order of the data layers; its memory grows
/// to the largest mini-batch and stays.
template <program_type P>
class feeder {
 public:
  static constexpr int layers = P::desc.count.data;

  /// Copies a mini-batch: a range of samples with one field for each data layer. A field is a
  /// number or a contiguous container of numbers. Throws lamina::error naming the data layer when
  /// a field has another size than the layer.
  template <class Batch>
  LAMINA_NOINLINE void fill(const Batch& samples) {
    rows_ = 0;
    for (auto& a : arrays_) a.clear();
    for (const auto& sample : samples) {
      detail::with_fields<layers>(sample, [&](const auto&... field) {
        append_all(std::make_integer_sequence<int, sizeof...(field)>(), field...);
      });
      ++rows_;
    }
  }

  int rows() const { return rows_; }
  /// The array of data layer `i`, from row `first` on.
  const void* data(int i, int first = 0) const {
    return arrays_[static_cast<std::size_t>(i)].data() +
           static_cast<std::size_t>(first) * row_bytes(i);
  }

 private:
  struct layer_info {
    int columns;
    dtype type;
  };
  struct layer_table {
    layer_info of[at_least_one(layers)];
  };
  static constexpr layer_table table = [] {
    layer_table t{};
    for (int i = 0; i < layers; ++i) {
      const variable_desc& d = P::desc.variables[P::desc.data[i]];
      t.of[i] = {1, d.type};
      for (int k = 1; k < d.rank; ++k) t.of[i].columns *= P::desc.dims[d.dims + k];
    }
    return t;
  }();
  static constexpr int columns(int i) { return table.of[i].columns; }
  static constexpr std::size_t row_bytes(int i) {
    return static_cast<std::size_t>(table.of[i].columns) *
           static_cast<std::size_t>(size_of(table.of[i].type));
  }

  template <int... I, class... Field>
  void append_all(std::integer_sequence<int, I...>, const Field&... field) {
    // A list and no fold: clang folds at most 256 operands.
    const int each[] = {0, (append < I < layers ? I : 0 > (field), 0)...};
    (void)each;
  }
  template <int I, class Field>
  void append(const Field& field) {
    using T = typename detail::element_of<table.of[I].type>::type;
    if constexpr (std::is_arithmetic_v<Field>)
      convert<T>(&field, 1, room_for(I, 1));
    else
      convert<T>(field.data(), field.size(), room_for(I, field.size()));
  }
  /// Where the next row of a layer goes.
  LAMINA_NOINLINE std::byte* room_for(int layer, std::size_t count) {
    if (static_cast<int>(count) != columns(layer)) fail(layer, count);
    auto& to = arrays_[static_cast<std::size_t>(layer)];
    const std::size_t at = to.size();
    to.resize(at + row_bytes(layer));
    return to.data() + at;
  }
  [[noreturn]] LAMINA_COLD void fail(int layer, std::size_t count) const {
    throw error(
        text() << "lamina: data layer "
               << variable_name(run_time_program<P>::view, run_time_program<P>::desc.data[layer])
               << ", row " << rows_ << ": expected " << columns(layer) << " values, found "
               << count);
  }
  template <class To, class From>
  static void convert(const From* from, std::size_t count, std::byte* to) {
    for (std::size_t i = 0; i < count; ++i) {
      const To value = static_cast<To>(from[i]);
      std::memcpy(to + i * sizeof(To), &value, sizeof(To));
    }
  }

  std::array<std::vector<std::byte>, static_cast<std::size_t>(at_least_one(layers))> arrays_;
  int rows_ = 0;
};

}  // namespace lamina
