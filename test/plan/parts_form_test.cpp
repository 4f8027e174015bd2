// SPDX-License-Identifier: Apache-2.0
// The list of costs that can be computed in parts: sums, means and quotients of sums over rows.
#include <cstdint>
#include <set>
#include <string>
#include <tuple>

#include "laws/parts_law.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>

namespace layer = lamina::layer;
using lamina::detail::number_fault;

namespace {

/// Costs of x [4], y [4] and a parameter w [4], each an operator that reduces or meets rows.
struct costs_of_rows {
  template <class To>
  void operator()(To& to) const {
    using laws::row_options;
    const auto add = [&to](const char* name, auto cost) {
      using C = decltype(cost);
      to.write(name, []<class T>(lamina::block& main) {
        auto w = layer::create_parameter<float, 4>(main, {.name = "w"});
        auto x = layer::data<"x", float, 4>(main) * w;
        return std::tuple{layer::mean(x), C{}(main, x, layer::data<"y", float, 4>(main))};
      });
    };
    add("sum over rows", [](auto&, auto x, auto) { return layer::reduce_sum<0>(x); });
    add("mean over rows", [](auto&, auto x, auto) { return layer::reduce_mean<0>(x); });
    add("product over the batch", [](auto&, auto x, auto y) {
      return layer::matmul<layer::matmul_form{.transpose_x = true}>(x, y);
    });
    add("largest of rows", [](auto&, auto x, auto) { return layer::reduce_max<0>(x); });
    add("smallest of rows", [](auto&, auto x, auto) { return layer::reduce_min<0>(x); });
    add("product of rows", [](auto&, auto x, auto) { return layer::reduce_prod<0>(x); });
    add("all of a sum", [](auto&, auto x, auto) {
      auto s = layer::reduce_sum<0>(layer::square(x));
      return layer::concat<0>({s, s * 2.f});
    });
    add("kldiv none", [](auto&, auto x, auto y) {
      return layer::kldiv_loss<layer::reduction::none>(x, y + 2.f);
    });
    add("kldiv sum",
        [](auto&, auto x, auto y) { return layer::kldiv_loss<layer::reduction::sum>(x, y + 2.f); });
    add("kldiv mean", [](auto&, auto x, auto y) { return layer::kldiv_loss(x, y + 2.f); });
    add("kldiv batchmean", [](auto&, auto x, auto y) {
      return layer::kldiv_loss<layer::reduction::batchmean>(x, y + 2.f);
    });
    add("sum plus constant",
        [](auto&, auto x, auto) { return 2.f * (layer::reduce_sum(x) + 5.f) - 1.f; });
    add("constant less a sum", [](auto& main, auto x, auto) {
      return layer::fill_constant<float>(main, 3) - layer::reduce_sum(x) * 0.5f;
    });
    add("dice", [](auto&, auto x, auto y) {
      auto both = layer::reduce_sum(x * y), sides = layer::reduce_sum(layer::square(y));
      return 1.f - (2.f * both + 1.f) / (sides + 1.f);
    });
    add("scaled denominator", [](auto&, auto x, auto y) {
      return layer::reduce_sum(x) / (2.f * (layer::reduce_sum(layer::square(y)) + 1.f));
    });
    add("largest denominator", [](auto& main, auto x, auto y) {
      auto n = layer::reduce_sum(layer::square(y)) - 1.f;
      return layer::reduce_sum(x) /
                 layer::elementwise_max(n, layer::fill_constant<float>(main, 3)) * 4.f +
             1.f;
    });
    add("clipped denominator", [](auto&, auto x, auto y) {
      return layer::reduce_sum(x) / layer::clip(layer::reduce_sum(layer::square(y)), 1.f, 2.f);
    });
    add("means", [](auto&, auto x, auto y) {
      return (layer::mean(x) + 1.f) / (layer::mean(layer::square(y)) + 0.5f);
    });
    add("sum plus mean", [](auto&, auto x, auto) { return layer::reduce_sum(x) + layer::mean(x); });
    add("sum by its mean",
        [](auto&, auto x, auto) { return layer::reduce_sum(x) * layer::mean(x); });
    add("rows less their mean", [](auto&, auto x, auto) { return x - layer::reduce_mean<0>(x); });
    add("rows by a product over the batch", [](auto&, auto x, auto y) {
      return layer::matmul(x, layer::matmul<layer::matmul_form{.transpose_x = true}>(x, y));
    });
    add("cumsum", [](auto&, auto x, auto) { return layer::cumsum<0>(x); });
    add("gather", [](auto&, auto x, auto y) {
      return layer::gather(x, layer::cast<std::int64_t>(layer::reduce_sum<1>(y * 0.f)));
    });
    add("clip by norm", [](auto&, auto x, auto) { return layer::clip_by_norm(x, 0.5f); });
  }
};

}  // namespace

TEST_CASE("what reduces rows is computed in parts as of the whole, or refused") {
  laws::parts_law law;
  costs_of_rows{}(law);
  CHECK(law.allowed == 55);
  CHECK(law.meeting ==
        std::set<std::string>{"clip_by_norm", "cumsum", "elementwise_sub", "gather", "matmul"});
}

namespace {

/// A cost of c, which has a row per sample, and of a parameter.
template <class Cost>
struct recorded_cost {
  auto operator()(lamina::block& main) const {
    auto w = layer::create_parameter<float, 1>(main, {.name = "w"});
    return Cost{}(main, layer::data<"x", float, 1>(main) * w, w);
  }
};
template <class Cost>
number_fault fault_of(Cost) {
  const auto r = laws::detail::record_now<recorded_cost<Cost>>();
  return lamina::cost_form_of(*r.desc, r.results[0]).fault;
}

}  // namespace

TEST_CASE("the form of a cost says whether it can be computed in parts, and what hinders") {
  using enum number_fault;
  // Harmless operators after a sum or mean.
  CHECK(fault_of([](auto&, auto c, auto) { return layer::print(layer::reduce_sum(c)); }) == none);
  CHECK(fault_of([](auto&, auto c, auto) {
          return layer::reduce_sum(layer::concat<0>({layer::reduce_sum(c), layer::reduce_sum(c)}));
        }) == none);
  // The same of rows is of rows.
  CHECK(fault_of([](auto&, auto c, auto) { return layer::mean(layer::relu(c)); }) == none);
  CHECK(fault_of([](auto&, auto c, auto) { return layer::mean(layer::abs(c)); }) == none);
  CHECK(fault_of([](auto&, auto c, auto) { return layer::mean(layer::clip(c, 0, 1)); }) == none);
  // Numbers without rows beside a mean, and factors.
  CHECK(fault_of([](auto&, auto c, auto w) {
          return layer::mean(c) + layer::squared_l2_norm(w) * 0.1f;
        }) == none);
  CHECK(fault_of([](auto&, auto c, auto w) { return layer::reduce_sum(c) * w; }) == none);

  CHECK(fault_of([](auto&, auto c, auto) { return layer::abs(layer::mean(c) - 1.f); }) == bent);
  CHECK(fault_of([](auto&, auto c, auto) { return layer::relu(layer::reduce_sum(c)); }) == bent);
  CHECK(fault_of([](auto&, auto c, auto) { return layer::tanh(layer::mean(c)); }) == bent);
  CHECK(fault_of([](auto&, auto c, auto) { return layer::clip(layer::mean(c), 0, 1); }) == bent);
  CHECK(fault_of([](auto& main, auto c, auto) {
          return layer::elementwise_max(layer::mean(c), layer::fill_constant<float>(main, 2));
        }) == bent);
  CHECK(fault_of([](auto&, auto c, auto) {
          return layer::squared_l2_norm(layer::reduce_mean<0>(c));
        }) == bent);
  CHECK(fault_of([](auto&, auto c, auto) {
          return layer::cast<float>(layer::cast<std::int64_t>(layer::mean(c)));
        }) == bent);
  CHECK(fault_of([](auto&, auto c, auto) { return layer::reduce_max(c); }) == reduction);
  CHECK(fault_of([](auto&, auto c, auto) { return layer::reduce_sum(c) + layer::mean(c); }) ==
        beside_sum);
  CHECK(fault_of([](auto&, auto c, auto w) {
          return layer::reduce_sum(c) + layer::squared_l2_norm(w);
        }) == beside_sum);
  CHECK(fault_of([](auto&, auto c, auto w) { return (layer::reduce_sum(c) + 1.f) * w; }) ==
        beside_sum);
  CHECK(fault_of([](auto&, auto c, auto) { return layer::mean(c) * layer::mean(c); }) == product);
  CHECK(fault_of([](auto&, auto c, auto w) { return w / layer::mean(c); }) == product);
  CHECK(fault_of([](auto&, auto c, auto) { return layer::mean(c - layer::reduce_mean<0>(c)); }) ==
        rows_meet);
  CHECK(fault_of([](auto&, auto c, auto) {
          return layer::reduce_sum(c * 2.f) / layer::reduce_sum(c);
        }) == learnt_weights);
}
