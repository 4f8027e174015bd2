// SPDX-License-Identifier: Apache-2.0
// lamina/tensor/lod_tensor.hpp - the value of a variable whose rows may form sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <lamina/core/numbers/random.hpp>
#include <lamina/tensor/lod.hpp>
#include <lamina/tensor/tensor.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Returns a copy of the rows [first, end) of a tensor. Throws lamina::error if the range is
/// invalid.
inline tensor rows_between(const tensor& t, std::size_t first, std::size_t end) {
  return t.visit([&]<class T>(const xt::xarray<T>& from) {
    tensor_shape shape(from.shape().begin(), from.shape().end());
    if (shape.empty() || first > end || end > shape[0])
      throw error(text() << "lamina: tensor: expected a part of the rows of "
                         << lamina::to_string(shape) << ", found [" << first << ", " << end << ")");
    shape[0] = end - first;
    xt::xarray<T> to = xt::xarray<T>::from_shape(shape);
    const std::size_t width = end > first ? to.size() / (end - first) : 0;
    for (std::size_t i = 0; i < to.size(); ++i) to.flat(i) = from.flat(first * width + i);
    return tensor(std::move(to));
  });
}

/// A tensor and the sequences that its rows form. If its LoD has no levels, it is a plain tensor; a
/// plain tensor converts to a lod_tensor. Fluid: LoDTensor.
class lod_tensor : public tensor {
 public:
  lod_tensor() = default;
  lod_tensor(tensor values) : tensor(std::move(values)) {}  // NOLINT: a tensor converts
  template <element T>
  lod_tensor(xt::xarray<T> values) : tensor(std::move(values)) {}  // NOLINT: an array converts
  /// Makes a tensor whose rows form the sequences of `l`. Throws lamina::error if `values` has
  /// another number of rows than `l`.
  lod_tensor(tensor values, lamina::lod l) : tensor(std::move(values)) { set_lod(std::move(l)); }

  /// Returns the sequences; a lod without levels if there are none.
  const lamina::lod& lod() const { return lod_; }
  /// Replaces the sequences that the rows form. Throws lamina::error if `l` has another number of
  /// rows.
  void set_lod(lamina::lod l) {
    if (!l.empty() && (rank() == 0 || l.rows() != shape()[0]))
      throw error(text() << "lamina: lod_tensor: expected " << l.rows()
                         << " rows for sequences of lengths " << lamina::to_string(l)
                         << ", found an array " << lamina::to_string(shape()));
    lod_ = std::move(l);
  }
  std::vector<lamina::lod::level> recursive_sequence_lengths() const {
    return lod_.recursive_sequence_lengths();
  }

  /// Returns the number of sequences of the outermost level or, without levels, the number of rows.
  /// slice() and split() count these.
  std::size_t top_count() const { return lod_.empty() ? shape().at(0) : lod_.sequences(0); }
  /// Returns a copy of the sequences [first, end) of the outermost level or, without levels, of the
  /// rows [first, end).
  lod_tensor slice(std::size_t first, std::size_t end) const {
    if (lod_.empty()) return rows_between(*this, first, end);
    lamina::lod part = lod_.slice(first, end);
    const lamina::lod::level rows = lod_.absolute(0);
    return lod_tensor(rows_between(*this, rows[first], rows[end]), std::move(part));
  }
  /// Splits the value into at most `parts` parts, none of which divides a sequence of the
  /// outermost level. The numbers of sequences per part differ by at most one. Fluid:
  /// SplitLoDTensor.
  std::vector<lod_tensor> split(std::size_t parts) const {
    const std::size_t n = top_count();
    if (parts < 1) throw error("lamina: lod_tensor: expected at least one part, found 0");
    if (parts > n) parts = n < 1 ? 1 : n;
    std::vector<lod_tensor> all;
    for (std::size_t i = 0; i < parts; ++i)
      all.push_back(slice(n * i / parts, n * (i + 1) / parts));
    return all;
  }
  /// Concatenates the rows and sequences of all parts. Throws lamina::error unless all parts have
  /// the same element type, row shape and number of levels. Fluid: MergeLoDTensor.
  static lod_tensor merge(const std::vector<lod_tensor>& parts) {
    if (parts.empty()) throw error("lamina: lod_tensor: expected parts to merge, found none");
    lamina::lod all = parts[0].lod();
    std::size_t rows = parts[0].shape().at(0);
    for (std::size_t i = 1; i < parts.size(); ++i) {
      require_same_rows(parts[0], parts[i]);
      rows += parts[i].shape()[0];
      all = all.concat(parts[i].lod());
    }
    return parts[0].visit([&]<class T>(const xt::xarray<T>& first) {
      tensor_shape shape(first.shape().begin(), first.shape().end());
      shape[0] = rows;
      xt::xarray<T> to = xt::xarray<T>::from_shape(shape);
      std::size_t at = 0;
      for (const lod_tensor& part : parts)
        for (std::size_t i = 0; i < part.size(); ++i) to.flat(at++) = part.template as<T>().flat(i);
      return lod_tensor(tensor(std::move(to)), all);
    });
  }

 private:
  LAMINA_API LAMINA_COLD static void require_same_rows(const lod_tensor& a, const lod_tensor& b);

  lamina::lod lod_;
};

namespace detail {
/// How sequences() stores one element of a sequence, which is a number or an array of numbers, as a
/// row.
template <class T>
struct sequence_element {
  using value_type = T;
  static constexpr std::size_t width = 1;
  static void append(std::vector<T>& to, const T& from) { to.push_back(from); }
};
template <class T, std::size_t N>
struct sequence_element<std::array<T, N>> {
  using value_type = T;
  static constexpr std::size_t width = N;
  static void append(std::vector<T>& to, const std::array<T, N>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }
};
}  // namespace detail

/// Converts sequences of different lengths to one array of shape [rows, 1] and its LoD:
/// `sequences<std::int64_t>({{3, 1}, {}, {4}})`. Elements of type std::array<T, N> give the shape
/// [rows, N]. Fluid: create_lod_tensor of a list of lists.
template <class T>
lod_tensor sequences(const std::vector<std::vector<T>>& from) {
  using element = detail::sequence_element<T>;
  std::vector<typename element::value_type> values;
  lod::level lengths;
  for (const std::vector<T>& one : from) {
    lengths.push_back(one.size());
    for (const T& x : one) element::append(values, x);
  }
  const std::size_t rows = values.size() / element::width;
  return lod_tensor(tensor({rows, element::width}, values), lod::from_lengths({lengths}));
}

/// Converts sequences of sequences to one array of shape [rows, 1] and a LoD of two levels:
/// `nested_sequences<float>({{{1, 2}, {3}}, {{4}}})`.
template <class T>
lod_tensor nested_sequences(const std::vector<std::vector<std::vector<T>>>& from) {
  std::vector<std::vector<T>> inner;
  lod::level outer;
  for (const std::vector<std::vector<T>>& one : from) {
    outer.push_back(one.size());
    inner.insert(inner.end(), one.begin(), one.end());
  }
  const lod_tensor flat = sequences<T>(inner);
  return lod_tensor(flat, lod::from_lengths({outer, flat.recursive_sequence_lengths()[0]}));
}

/// Returns `data` with a LoD of these lengths. Throws lamina::error if the lengths do not add up to
/// the number of rows. Fluid: create_lod_tensor.
inline lod_tensor create_lod_tensor(tensor data, const std::vector<lod::level>& lengths) {
  return lod_tensor(std::move(data), lod::from_lengths(lengths));
}
/// Returns sequences(data). Throws lamina::error unless the sequences have the given lengths.
template <class T>
lod_tensor create_lod_tensor(const std::vector<std::vector<T>>& data,
                             const std::vector<lod::level>& lengths) {
  lod_tensor made = sequences(data);
  const lod wanted = lod::from_lengths(lengths);
  if (made.lod() != wanted)
    throw error(text() << "lamina: create_lod_tensor: expected sequences of lengths "
                       << to_string(wanted) << ", found " << to_string(made.lod()));
  return made;
}
/// Makes sequences of random int64 rows with shape `row`. The elements are between `low` and
/// `high`, both included. Throws lamina::error if `lengths` is empty or `high` is below `low`.
/// Fluid: create_random_int_lodtensor.
inline lod_tensor create_random_int_lod_tensor(const std::vector<lod::level>& lengths,
                                               const tensor_shape& row, std::int64_t low,
                                               std::int64_t high, std::uint64_t seed = 0) {
  if (lengths.empty() || high < low)
    throw error(text() << "lamina: create_random_int_lod_tensor: expected levels and a range, "
                       << "found " << lengths.size() << " levels and " << low << " to " << high);
  const lod l = lod::from_lengths(lengths);
  tensor_shape shape{l.rows()};
  shape.insert(shape.end(), row.begin(), row.end());
  std::vector<std::int64_t> values(size_of(shape));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const random_words w = philox(seed, 0, i);
    const std::uint64_t wide = std::uint64_t{w.word[0]} << 32 | w.word[1];
    values[i] = low + static_cast<std::int64_t>(wide % static_cast<std::uint64_t>(high - low + 1));
  }
  return lod_tensor(tensor(shape, values), l);
}

#if LAMINA_DEFINES

void lod_tensor::require_same_rows(const lod_tensor& a, const lod_tensor& b) {
  tensor_shape x = a.shape(), y = b.shape();
  if (!x.empty() && !y.empty()) x[0] = y[0] = 0;
  if (x != y || x.empty() || a.type() != b.type())
    throw error(text() << "lamina: lod_tensor: expected parts of " << lamina::name_of(a.type())
                       << " rows as in " << lamina::to_string(a.shape()) << ", found "
                       << lamina::name_of(b.type()) << " " << lamina::to_string(b.shape()));
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina
