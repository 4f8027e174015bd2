// SPDX-License-Identifier: Apache-2.0
// lamina/model/feeding/feeder.hpp - copies a mini-batch of samples to one array per data layer.
// Fluid: DataFeeder.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <lamina/core/files/checksum.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/model/feeding/batch_view.hpp>
#include <lamina/model/feeding/sample_fields.hpp>
#include <lamina/model/names/cpp_type_of.hpp>
#include <lamina/model/names/program_names.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Stores a mini-batch as one array per data layer. The memory grows to the size of the largest
/// mini-batch and is reused.
template <program_type P>
class feeder {
 public:
  static constexpr int layers = counts_of<P>.data;
  static constexpr int domains = counts_of<P>.domains;

  /// Copies a mini-batch, which is a range of samples with one field per data layer. A field is a
  /// number or a contiguous container of numbers. For a data layer of sequences, a field is a
  /// container with one number, or one container of numbers, per element; for nested sequences, a
  /// field is a container of such containers. Throws lamina::error with the name of the data layer
  /// if the size of a field differs from the layer's, and if the sequences of two layers with one
  /// row domain differ in length.
  template <class Batch>
  LAMINA_NOINLINE void fill(const Batch& samples) {
    clear();
    for (const auto& sample : samples) {
      detail::with_fields<layers>(sample, [&](const auto&... field) {
        append_all(std::make_integer_sequence<int, sizeof...(field)>(), field...);
      });
      ++rows_;
    }
  }
  /// Copies the fields of one data layer, one per sample. clear() must have been called before the
  /// first layer of a mini-batch.
  template <int Index, class Fields>
  LAMINA_NOINLINE void fill_layer(const Fields& fields) {
    const int before = rows_;
    rows_ = 0;
    for (const auto& field : fields) {
      append<Index>(field);
      ++rows_;
    }
    if (before > 0 && before != rows_) fail(Index, before, "samples as in the other feeds", rows_);
  }
  /// Begins a new mini-batch, without samples.
  void clear() {
    rows_ = 0;
    for (auto& a : arrays_) a.clear();
    for (auto& o : offsets_) o.assign(1, 0);
  }

  int rows() const { return rows_; }
  /// Adds all copied data, the number of samples and the offsets of sequences to a checksum.
  LAMINA_COLD void add_to(checksum& sum) const {
    sum.add_numbers(&rows_, sizeof rows_, sizeof rows_);
    for (std::size_t i = 0; i < arrays_.size(); ++i)
      sum.add_numbers(arrays_[i].data(), arrays_[i].size(),
                      static_cast<std::size_t>(size_of(table.of[i].type)));
    for (const auto& o : offsets_) sum.add_numbers(o.data(), o.size() * sizeof(int), sizeof(int));
  }
  /// Returns a view of the mini-batch, which is valid until the next change of this feeder.
  batch_view<P> view() const {
    batch_view<P> v;
    v.rows.count[batch::domain] = rows_;
    for (int d = batch::domain + 1; d < domains; ++d) {
      if (!is_fed(d)) continue;
      v.rows.offsets[d] = offsets_[static_cast<std::size_t>(d)].data();
      v.rows.count[d] = offsets_[static_cast<std::size_t>(d)].back();
    }
    for (int i = 0; i < layers; ++i) v.data[i] = arrays_[static_cast<std::size_t>(i)].data();
    return v;
  }

 private:
  static constexpr const auto& table = detail::data_layers_of<P>;
  static constexpr int columns(int i) { return table.of[i].columns; }
  /// Whether data layers determine the number of rows of a domain. If not, operators do.
  static constexpr bool is_fed(int d) {
    for (int i = 0; i < layers; ++i)
      if (table.of[i].domain == d || table.of[i].parent == d || table.of[i].grandparent == d)
        return true;
    return false;
  }
  static constexpr std::size_t row_bytes(int i) {
    return static_cast<std::size_t>(table.of[i].columns) *
           static_cast<std::size_t>(size_of(table.of[i].type));
  }

  template <int... Index, class... Field>
  void append_all(std::integer_sequence<int, Index...>, const Field&... field) {
    // An array replaces a fold expression, because clang accepts at most 256 operands in a fold.
    const int each[] = {0, (append < Index < layers ? Index : 0 > (field), 0)...};
    (void)each;
  }
  template <int Index, class Field>
  void append(const Field& field) {
    constexpr detail::data_layer layer = table.of[Index];
    if constexpr (layer.parent < 0) {
      append_row<Index>(field);
    } else if constexpr (layer.grandparent < 0) {
      close_sequence(Index, layer.domain, rows_, append_sequence<Index>(field));
    } else {
      int inner = 0;
      const int before = offset_count(layer.parent, rows_);
      for (const auto& sequence : field)
        close_sequence(Index, layer.domain, before + inner++, append_sequence<Index>(sequence));
      close_sequence(Index, layer.parent, rows_, inner);
    }
  }
  /// Appends the elements of a sequence as rows and returns their number. A number is a sequence of
  /// length one.
  template <int Index, class Field>
  int append_sequence(const Field& field) {
    if constexpr (std::is_arithmetic_v<Field>) {
      append_row<Index>(field);
      return 1;
    } else if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(*std::begin(field))>>) {
      const std::size_t count = std::size(field), width = static_cast<std::size_t>(columns(Index));
      const std::size_t length = count / width;
      if (count % width != 0)
        fail(Index, columns(Index), "values (or a multiple)", static_cast<long long>(count));
      convert<Index>(std::data(field), count, capacity_for(Index, length));
      return static_cast<int>(length);
    } else {
      int length = 0;
      for (const auto& row : field) {
        append_row<Index>(row);
        ++length;
      }
      return length;
    }
  }
  template <int Index>
  using element = typename detail::cpp_type_of<table.of[Index].type>::type;
  template <int Index, class Field>
  void append_row(const Field& field) {
    std::size_t count = 1;
    if constexpr (!std::is_arithmetic_v<Field>) count = std::size(field);
    if constexpr (table.of[Index].domain == once::domain)
      if (rows_ > 0) fail_samples(Index);
    if (static_cast<int>(count) != columns(Index))
      fail(Index, columns(Index), "values", static_cast<long long>(count));
    if constexpr (std::is_arithmetic_v<Field>)
      convert<Index>(&field, 1, capacity_for(Index, 1));
    else
      convert<Index>(std::data(field), count, capacity_for(Index, 1));
  }
  /// Extends a layer's array by `rows` rows and returns the address of the first of them.
  LAMINA_NOINLINE std::byte* capacity_for(int layer, std::size_t rows) {
    auto& to = arrays_[static_cast<std::size_t>(layer)];
    const std::size_t at = to.size();
    to.resize(at + rows * row_bytes(layer));
    return to.data() + at;
  }
  /// Returns the offset at which the sequences of sample `row` begin.
  int offset_count(int domain, int row) const {
    return offsets_[static_cast<std::size_t>(domain)][static_cast<std::size_t>(row)];
  }
  /// Records the length of sequence `number` of a domain. Throws lamina::error if another data
  /// layer of the domain has another length for it.
  LAMINA_NOINLINE void close_sequence(int layer, int domain, int number, int length) {
    auto& to = offsets_[static_cast<std::size_t>(domain)];
    const auto n = static_cast<std::size_t>(number);
    if (to.size() == n + 1)
      to.push_back(to.back() + length);
    else if (to[n + 1] - to[n] != length)
      fail(layer, to[n + 1] - to[n], "elements as in another sequence of that name", length);
  }
  [[noreturn]] LAMINA_COLD void fail(int layer, long long expected, const char* what,
                                     long long found) const {
    LAMINA_THROW row_error(
        text() << "lamina: data layer "
               << variable_name(run_time_program<P>::view, run_time_program<P>::desc.data[layer])
               << ", row " << rows_ << ": expected " << expected << " " << what << ", found "
               << found,
        batch::domain, rows_);
  }
  [[noreturn]] LAMINA_COLD void fail_samples(int layer) const {
    LAMINA_THROW error(
        text() << "lamina: data layer "
               << variable_name(run_time_program<P>::view, run_time_program<P>::desc.data[layer])
               << ": expected one sample, because data_once has no batch dimension, "
                  "found a second one");
  }
  /// Whether integer type From has values that integer type To cannot hold.
  template <class To, class From>
  static constexpr bool loses =
      std::is_integral_v<To>&& std::is_integral_v<From> && !std::is_same_v<To, bool> &&
      ((std::is_signed_v<From> && !std::is_signed_v<To>) ||
       std::numeric_limits<From>::digits > std::numeric_limits<To>::digits);
  template <class Number>
  static bool is_negative(Number x) {
    if constexpr (std::is_signed_v<Number>)
      return x < 0;
    else
      return false;
  }
  template <int Index, class From>
  void convert(const From* from, std::size_t count, std::byte* to) const {
    using number = element<Index>;
    for (std::size_t i = 0; i < count; ++i) {
      const number value = static_cast<number>(from[i]);
      if constexpr (loses<number, From>)
        if (static_cast<From>(value) != from[i] || is_negative(value) != is_negative(from[i]))
          fail_number(Index, static_cast<long long>(from[i]));
      std::memcpy(to + i * sizeof(number), &value, sizeof(number));
    }
  }
  [[noreturn]] LAMINA_COLD void fail_number(int layer, long long found) const {
    LAMINA_THROW row_error(
        text() << "lamina: data layer "
               << variable_name(run_time_program<P>::view, run_time_program<P>::desc.data[layer])
               << ", row " << rows_ << ": expected numbers of " << name_of(table.of[layer].type)
               << ", found " << found,
        batch::domain, rows_);
  }

  std::array<std::vector<std::byte>, static_cast<std::size_t>(at_least_one(layers))> arrays_;
  std::array<std::vector<int>, static_cast<std::size_t>(domains)> offsets_;
  int rows_ = 0;
};

}}  // namespace lamina
