// SPDX-License-Identifier: Apache-2.0
// lamina/executor/onnx_kernels.hpp - operators of ONNX that other operators of lamina cannot
// express. Only programs from files contain them.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include <lamina/core/arrays/sort_stably.hpp>
#include <lamina/executor/call_context.hpp>
#include <lamina/executor/kernel_shape.hpp>
#include <lamina/operators/operator_definition.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace onnx {

/// Out [n, 3] = the chosen boxes: image, class and number of the box. For each image and each
/// class, the boxes are visited from the highest score on. A box is chosen if its score is above
/// ScoreThreshold and its overlap (intersection over union) with each box that was chosen before is
/// at most IouThreshold, until there are MaxOutput of them. Boxes [images, boxes, 4] have two
/// opposite corners (y, x) or, with `center_point_box`, the centre, the width and the height;
/// Scores are [images, classes, boxes]. Without MaxOutput no box is chosen.
struct non_max_suppression : operator_definition {
  static constexpr const char* type = "non_max_suppression";
  static constexpr std::array<slot_desc, 5> inputs{{{"Boxes"},
                                                    {"Scores"},
                                                    {"MaxOutput", false, true},
                                                    {"IouThreshold", false, true},
                                                    {"ScoreThreshold", false, true}}};
  static constexpr auto outputs = slots_out;
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"center_point_box", attribute_type::boolean, 0}}};
};

/// Out [m, width] = the different rows of X [n, width], in rising order or, without `sorted`, in
/// the order of their first occurrence; NaN is larger than all numbers. Indices [m] = the row of X
/// where each occurs first, Index [n] = the number in Out of each row of X, Counts [m] = how often
/// each occurs.
struct unique : operator_definition {
  static constexpr const char* type = "unique";
  static constexpr auto inputs = slots_x;
  static constexpr std::array<slot_desc, 4> outputs{{{"Out"}, {"Indices"}, {"Index"}, {"Counts"}}};
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"sorted", attribute_type::boolean, 1}}};
};

/// Base of the operators on the bits of integers: X and Y have one shape.
struct on_bits : operator_definition {
  static constexpr auto inputs = slots_xy;
  static constexpr auto outputs = slots_out;
  static constexpr auto attributes = no_attributes;
};
/// Out = X & Y.
struct bitwise_and : on_bits {
  static constexpr const char* type = "bitwise_and";
};
/// Out = X | Y.
struct bitwise_or : on_bits {
  static constexpr const char* type = "bitwise_or";
};
/// Out = X ^ Y.
struct bitwise_xor : on_bits {
  static constexpr const char* type = "bitwise_xor";
};
/// Out = X << Y; 0 if Y is negative or at least 64.
struct bitwise_left_shift : on_bits {
  static constexpr const char* type = "bitwise_left_shift";
};
/// Out = X >> Y. The new bits are copies of the highest bit or, without `keeps_sign`, 0; they are
/// all bits if Y is negative or at least 64.
struct bitwise_right_shift : on_bits {
  static constexpr const char* type = "bitwise_right_shift";
  static constexpr std::array<attribute_desc, 1> attributes{
      {{"keeps_sign", attribute_type::boolean, 1}}};
};

using executor_operators = operator_list<non_max_suppression, unique, bitwise_and, bitwise_or,
                                         bitwise_xor, bitwise_left_shift, bitwise_right_shift>;

}}}  // namespace lamina::onnx

namespace lamina { inline namespace LAMINA_ABI { namespace kernel {

/// A box with sides parallel to the axes: its smaller and its larger coordinates.
template <class Real>
struct flat_box {
  std::array<Real, 2> low, high;

  Real area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
  /// Returns the intersection over the union; 0 for boxes without area.
  Real overlap(const flat_box& other) const {
    std::array<Real, 2> side;
    for (std::size_t d = 0; d < 2; ++d) {
      side[d] = (std::min)(high[d], other.high[d]) - (std::max)(low[d], other.low[d]);
      if (!(side[d] > 0)) return 0;
    }
    const Real both = side[0] * side[1], all = area() + other.area() - both;
    return all > 0 ? both / all : Real(0);
  }
};

template <class Real>
void non_max_suppression_forward(call_context<Real>& ctx) {
  const auto &boxes = ctx.real("Boxes"), &scores = ctx.real("Scores");
  const tensor_shape of_boxes = shape_of(boxes), of_scores = shape_of(scores);
  if (of_boxes.size() != 3 || of_scores.size() != 3 || of_boxes[2] != 4 ||
      of_scores[0] != of_boxes[0] || of_scores[2] != of_boxes[1])
    ctx.fail(text("expected boxes [images, boxes, 4] and scores [images, classes, boxes], found ")
             << to_string(of_boxes) << " and " << to_string(of_scores));
  const std::size_t count = of_boxes[1];
  const auto number = [&](const char* slot) {
    return ctx.has(slot) ? ctx.real(slot).flat(0) : Real(0);
  };
  const std::int64_t limit = ctx.has("MaxOutput") ? ctx.integers("MaxOutput").flat(0) : 0;
  const Real most = number("IouThreshold"), least = number("ScoreThreshold");
  const bool limits_scores = ctx.has("ScoreThreshold"), centred = ctx.flag("center_point_box");
  std::vector<std::int64_t> found;
  std::vector<flat_box<Real>> all(count), chosen;
  std::vector<std::size_t> order;
  for (std::size_t image = 0; image < of_boxes[0]; ++image) {
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t d = 0; d < 2; ++d) {
        const std::size_t at = (image * count + k) * 4 + d;
        const Real a = boxes.flat(at), b = boxes.flat(at + 2);
        all[k].low[d] = centred ? a - b / 2 : (std::min)(a, b);
        all[k].high[d] = centred ? a + b / 2 : (std::max)(a, b);
      }
    for (std::size_t c = 0; c < of_scores[1]; ++c) {
      const std::size_t first = (image * of_scores[1] + c) * count;
      order.clear();
      for (std::size_t k = 0; k < count; ++k)
        if (!limits_scores || scores.flat(first + k) > least) order.push_back(k);
      sort_stably(order, [&](std::size_t a, std::size_t b) {
        return scores.flat(first + a) > scores.flat(first + b);
      });
      chosen.clear();
      for (const std::size_t k : order) {
        if (static_cast<std::int64_t>(chosen.size()) >= limit) break;
        if (std::any_of(chosen.begin(), chosen.end(),
                        [&](const flat_box<Real>& other) { return all[k].overlap(other) > most; }))
          continue;
        chosen.push_back(all[k]);
        for (const std::size_t part : {image, c, k})
          found.push_back(static_cast<std::int64_t>(part));
      }
    }
  }
  ctx.give("Out", tensor({found.size() / 3, 3}, found));
}

template <class Real>
void unique_forward(call_context<Real>& ctx) {
  const tensor_shape shape = ctx.input("X").shape();
  if (shape.size() != 2) ctx.fail(text("expected rows [n, width], found ") << to_string(shape));
  const std::size_t n = shape[0], width = shape[1];
  const auto whole = [](std::size_t k) { return static_cast<std::int64_t>(k); };
  std::vector<std::int64_t> place(n), first, counts;
  tensor out = ctx.input("X").visit([&]<class T>(const xt::xarray<T>& x) {
    const auto less = [](T a, T b) { return a < b || (a == a && b != b); };
    // -1, 0 or 1 for rows in rising order, equal rows or rows in falling order.
    const auto compare = [&](std::size_t a, std::size_t b) {
      for (std::size_t i = 0; i < width; ++i) {
        const T u = x.flat(a * width + i), v = x.flat(b * width + i);
        if (less(u, v)) return -1;
        if (less(v, u)) return 1;
      }
      return 0;
    };
    std::vector<std::size_t> order(n), starts;  // the first element of each group in `order`
    std::iota(order.begin(), order.end(), std::size_t{0});
    sort_stably(order, [&](std::size_t a, std::size_t b) { return compare(a, b) < 0; });
    for (std::size_t k = 0; k < n; ++k)
      if (k == 0 || compare(order[k - 1], order[k]) != 0) starts.push_back(k);
    std::vector<std::size_t> groups(starts.size());
    std::iota(groups.begin(), groups.end(), std::size_t{0});
    if (!ctx.flag("sorted"))
      sort_stably(groups, [&](std::size_t a, std::size_t b) {
        return order[starts[a]] < order[starts[b]];
      });
    xt::xarray<T> rows = xt::xarray<T>::from_shape({groups.size(), width});
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::size_t begin = starts[groups[g]];
      const std::size_t end = groups[g] + 1 < starts.size() ? starts[groups[g] + 1] : n;
      for (std::size_t k = begin; k < end; ++k) place[order[k]] = whole(g);
      for (std::size_t i = 0; i < width; ++i)
        rows.flat(g * width + i) = x.flat(order[begin] * width + i);
      first.push_back(whole(order[begin]));
      counts.push_back(whole(end - begin));
    }
    return tensor(std::move(rows));
  });
  ctx.give("Out", std::move(out));
  ctx.give("Indices", tensor({first.size()}, first));
  ctx.give("Index", tensor({place.size()}, place));
  ctx.give("Counts", tensor({counts.size()}, counts));
}

/// Calls a function of 64 bits for each pair of elements.
template <class Function, class Real>
void on_bits_forward(call_context<Real>& ctx) {
  xt::xarray<std::int64_t> x = ctx.integers("X");
  const auto y = ctx.integers("Y");
  if (shape_of(x) != shape_of(y))
    ctx.fail(text("expected operands of one shape, found ")
             << to_string(shape_of(x)) << " and " << to_string(shape_of(y)));
  for (std::size_t i = 0; i < x.size(); ++i)
    x.flat(i) = static_cast<std::int64_t>(
        Function()(static_cast<std::uint64_t>(x.flat(i)), static_cast<std::uint64_t>(y.flat(i))));
  ctx.give("Out", std::move(x));
}
struct shifted_left {
  std::uint64_t operator()(std::uint64_t x, std::uint64_t y) const { return y < 64 ? x << y : 0; }
};
struct shifted_right {
  std::uint64_t operator()(std::uint64_t x, std::uint64_t y) const { return y < 64 ? x >> y : 0; }
};
struct shifted_right_with_sign {
  std::uint64_t operator()(std::uint64_t x, std::uint64_t y) const {
    const bool is_negative = x >> 63 != 0;  // then the new bits are those of ~(~x >> y)
    return is_negative ? ~shifted_right()(~x, y) : shifted_right()(x, y);
  }
};
template <class Real>
void right_shift_forward(call_context<Real>& ctx) {
  if (ctx.flag("keeps_sign"))
    on_bits_forward<shifted_right_with_sign>(ctx);
  else
    on_bits_forward<shifted_right>(ctx);
}

template <class Real>
void add_onnx_kernels(kernel_table<Real>& table) {
  table["non_max_suppression"] = non_max_suppression_forward<Real>;
  table["unique"] = unique_forward<Real>;
  table["bitwise_and"] = on_bits_forward<std::bit_and<std::uint64_t>, Real>;
  table["bitwise_or"] = on_bits_forward<std::bit_or<std::uint64_t>, Real>;
  table["bitwise_xor"] = on_bits_forward<std::bit_xor<std::uint64_t>, Real>;
  table["bitwise_left_shift"] = on_bits_forward<shifted_left, Real>;
  table["bitwise_right_shift"] = right_shift_forward<Real>;
}

}}}  // namespace lamina::kernel
