// SPDX-License-Identifier: Apache-2.0
// lamina/operators/matrix/onnx_einsum.hpp - imports ONNX's Einsum.
//
// Two operands after the other become a product of matrices, as for layer::einsum. That one is
// computed for shapes that are known while compiling; here letters may repeat, "..." stands for any
// number of dimensions, and there may be any number of operands.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/io/onnx/onnx_operator.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// Imports one Einsum.
class einsum_import {
 public:
  explicit einsum_import(onnx_import_node& node) : n(node) {}

  onnx_imported run() {
    read_equation();
    term sum = factors_[0];
    for (std::size_t i = 1; i < factors_.size(); ++i) sum = product(std::move(sum), factors_[i], i);
    sum = summed(std::move(sum), {}, factors_.size());
    for (const int label : out_)
      if (!has(sum.labels, label))
        n.fail("expected that each index of the result is one of an operand, found equation '" +
               equation_ + "'");
    return ordered(sum, out_).value;
  }

 private:
  // An index of the equation: a letter, or ellipsis + k for the dimension of "..." that k others
  // follow.
  using labels_list = std::vector<int>;
  static constexpr int ellipsis = 256;
  struct term {
    onnx_imported value;
    labels_list labels;
  };

  static bool has(const labels_list& labels, int label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
  }
  [[noreturn]] void fail_equation() const {
    n.fail("expected an equation such as \"bij,bjk->bik\" for " + std::to_string(n.count()) +
           " operands, found '" + equation_ + "'");
  }

  // Returns the labels of a part of the equation. `rank` < 0: "..." stands for `widest_`
  // dimensions.
  labels_list read(std::string_view part, int rank) {
    const std::size_t dots = part.find("...");
    labels_list labels;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (i == dots) {
        const int more = rank < 0 ? widest_ : rank - static_cast<int>(part.size()) + 3;
        if (more < 0) fail_equation();
        if (rank >= 0) widest_ = (std::max)(widest_, more);
        for (int k = more; k-- > 0;) labels.push_back(ellipsis + k);
        i += 2;
        continue;
      }
      const char c = part[i];
      if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) fail_equation();
      labels.push_back(c);
    }
    if (rank >= 0 && static_cast<int>(labels.size()) != rank)
      n.fail("expected a letter of '" + equation_ + "' for each dimension, found '" +
             std::string(part) + "' for " + std::to_string(rank) + " dimensions");
    return labels;
  }

  void read_equation() {
    for (const char c : n.string("equation"))
      if (c != ' ') equation_ += c;
    const std::string_view all = equation_;
    const std::size_t arrow = all.find("->");
    std::string_view left = all.substr(0, arrow);
    for (std::size_t i = 0;; ++i) {
      const std::size_t comma = left.find(',');
      if (i >= n.count()) fail_equation();
      const onnx_imported& x = n.in(i);
      term made{x, read(left.substr(0, comma), x.rank())};
      while (take_diagonal(made)) continue;
      factors_.push_back(std::move(made));
      if (comma == std::string_view::npos) break;
      left = left.substr(comma + 1);
    }
    if (factors_.size() != n.count() || n.count() == 0) fail_equation();
    if (arrow != std::string_view::npos) {
      out_ = read(all.substr(arrow + 2), -1);
    } else {  // the dimensions of "...", then the letters that occur once
      for (int k = widest_; k-- > 0;) out_.push_back(ellipsis + k);
      const std::string_view letters = all;
      for (int c = 'A'; c <= 'z'; ++c)
        if (std::count(letters.begin(), letters.end(), static_cast<char>(c)) == 1)
          out_.push_back(c);
    }
    labels_list sorted = out_;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) fail_equation();
  }

  // If two dimensions have one label, keeps the elements whose indices are equal. Returns false if
  // all labels differ.
  bool take_diagonal(term& t) {
    for (std::size_t i = 0; i < t.labels.size(); ++i)
      for (std::size_t j = i + 1; j < t.labels.size(); ++j) {
        if (t.labels[i] != t.labels[j]) continue;
        const std::int64_t size = n.extent(t.value, static_cast<std::int64_t>(i));
        if (n.extent(t.value, static_cast<std::int64_t>(j)) != size)
          n.fail("expected dimensions of one extent for a letter that repeats, found " +
                 t.value.dims_text());
        n.require_size({size, size});
        std::vector<std::int64_t> order, dims, index;
        labels_list labels;
        for (std::size_t d = 0; d < t.labels.size(); ++d) {
          if (d == i || d == j) continue;
          order.push_back(static_cast<std::int64_t>(d));
          dims.push_back(t.value.dims[d]);
          labels.push_back(t.labels[d]);
        }
        order.push_back(static_cast<std::int64_t>(i));
        order.push_back(static_cast<std::int64_t>(j));
        dims.push_back(size * size);
        labels.push_back(t.labels[i]);
        for (std::int64_t k = 0; k < size; ++k) index.push_back(k * (size + 1));
        const onnx_imported flat = n.reshape(n.transpose(t.value, order), dims);
        t = {n.gather(flat, n.constant_list(index), static_cast<std::int64_t>(dims.size()) - 1),
             labels};
        return true;
      }
    return false;
  }

  term ordered(const term& t, const labels_list& labels) {
    std::vector<std::int64_t> order;
    for (const int label : labels)
      order.push_back(std::find(t.labels.begin(), t.labels.end(), label) - t.labels.begin());
    return {n.transpose(t.value, order), labels};
  }
  // Whether the result or an operand from `next` on has an index.
  bool is_needed(int label, std::size_t next) const {
    bool found = has(out_, label);
    for (std::size_t i = next; i < factors_.size(); ++i)
      found = found || has(factors_[i].labels, label);
    return found;
  }
  // Sums over the indices which neither `other` nor later operands nor the result have.
  term summed(term t, const labels_list& other, std::size_t next) {
    std::vector<std::int64_t> axes;
    labels_list labels;
    for (std::size_t d = 0; d < t.labels.size(); ++d) {
      if (has(other, t.labels[d]) || is_needed(t.labels[d], next))
        labels.push_back(t.labels[d]);
      else
        axes.push_back(static_cast<std::int64_t>(d));
    }
    if (axes.empty()) return t;
    return {n.reduce("reduce_sum", t.value, axes, false), labels};
  }
  std::int64_t extent(const term& t, int label) const {
    return t.value.dims[static_cast<std::size_t>(
        std::find(t.labels.begin(), t.labels.end(), label) - t.labels.begin())];
  }
  // Removes the dimensions of extent 1 that the other operand has with another extent.
  term without_ones(term t, const term& other) {
    std::vector<std::int64_t> axes;
    labels_list labels;
    for (std::size_t d = 0; d < t.labels.size(); ++d) {
      const bool drops =
          t.value.dims[d] == 1 && has(other.labels, t.labels[d]) && extent(other, t.labels[d]) != 1;
      if (drops)
        axes.push_back(static_cast<std::int64_t>(d));
      else
        labels.push_back(t.labels[d]);
    }
    return axes.empty() ? t : term{n.squeeze(t.value, axes), labels};
  }

  // Returns the product of two operands, summed over the indices which nothing else has.
  term product(term x, term y, std::size_t at) {
    const std::size_t next = at + 1;
    x = without_ones(std::move(x), y);
    y = without_ones(std::move(y), x);
    x = summed(std::move(x), y.labels, next);
    y = summed(std::move(y), x.labels, next);
    labels_list batch, left, inner, right;
    std::vector<std::int64_t> dims;
    std::int64_t b = 1, l = 1, k = 1, r = 1;
    const auto add = [&](labels_list& to, int label, std::int64_t size, std::int64_t& product_of) {
      to.push_back(label);
      product_of = size < 0 || product_of < 0 ? -1 : product_of * size;
      n.require_size({product_of});
    };
    for (const int label : x.labels) {
      const std::int64_t size = extent(x, label);
      if (!has(y.labels, label)) {
        add(left, label, size, l);
        continue;
      }
      const std::int64_t other = extent(y, label);
      if (size >= 0 && other >= 0 && size != other)
        n.fail(text("expected one extent for each letter, found dimensions ")
               << x.value.dims_text() << " and " << y.value.dims_text() << " in equation '"
               << equation_ << "'");
      if (is_needed(label, next))
        add(batch, label, (std::max)(size, other), b);
      else
        add(inner, label, (std::max)(size, other), k);
    }
    for (const int label : y.labels)
      if (!has(x.labels, label)) add(right, label, extent(y, label), r);
    const auto joined = [](labels_list all, const labels_list& second, const labels_list& third) {
      all.insert(all.end(), second.begin(), second.end());
      all.insert(all.end(), third.begin(), third.end());
      return all;
    };
    for (const labels_list* part : {&batch, &left, &right})
      for (const int label : *part)
        dims.push_back(part == &right  ? extent(y, label)
                       : part == &left ? extent(x, label)
                                       : (std::max)(extent(x, label), extent(y, label)));
    const bool one_each = batch.size() == 1 && left.size() <= 1 && inner.size() <= 1;
    const onnx_imported first =
        reshaped(ordered(x, joined(batch, left, inner)).value, {b, l, k}, one_each);
    const onnx_imported second =
        reshaped(ordered(y, joined(batch, inner, right)).value, {b, k, r}, one_each);
    return {reshaped(n.matmul(first, second), dims, one_each), joined(batch, left, right)};
  }
  // With several unknown dimensions, those at the same places are copied, which is right if each of
  // them has one label.
  onnx_imported reshaped(const onnx_imported& x, const std::vector<std::int64_t>& dims,
                         bool one_each) {
    const auto unknown = [](std::int64_t d) { return d < 0; };
    if (std::count_if(dims.begin(), dims.end(), unknown) <= 1) return n.reshape(x, dims, dims);
    const bool is_open = std::find(dims.begin(), dims.end(), unknown_extent) != dims.end();
    if (is_open && x.dims != dims && !one_each)
      n.fail("expected dimensions that are known before a run where a product of '" + equation_ +
             "' joins several of them, found " + std::string(x.dims_text()));
    return n.reshape(x, dims);
  }

  onnx_import_node& n;
  std::string equation_{};
  std::vector<term> factors_{};
  labels_list out_{};
  int widest_ = 0;  // the most dimensions of "..."
};

inline void raise_einsum(onnx_import_node& n) { n.out(einsum_import(n).run()); }

inline void add_matrix_einsum(onnx_operators& to) { to.add_node("Einsum", raise_einsum); }

}}}  // namespace lamina::onnx
