// SPDX-License-Identifier: Apache-2.0
// Operators that take integers compute them exactly, on the engine and the executor: near 2^53,
// where double has no odd numbers any more, near 2^31, and at the ends of int64, where sums,
// differences, products and powers wrap around.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/model.hpp>

namespace layer = lamina::layer;
using lamina::block;
using integer = std::int64_t;
using integers = std::vector<integer>;

namespace {

constexpr integer most = std::numeric_limits<integer>::max(),
                  least = std::numeric_limits<integer>::min(), odd = (integer{1} << 53) + 1;
constexpr int size = 16;
const integers left{odd, -odd, odd + 2, most, least,      most - 1,   least + 1, 3,
                    -7,  -1,   0,       1,    2147483648, 5000000000, odd,       123456789};
const integers right{1, 2, 3, most, -1, 2, -1, 39, 21, least, 0, least, 2147483647, 3, odd - 1, 2};

// Values of a type to which the results of a narrower type wrap.
template <class T>
integers of_type(const integers& values) {
  integers all;
  for (const integer x : values) all.push_back(static_cast<T>(x));
  return all;
}

template <class T>
constexpr auto arithmetic = lamina::program([](block& main) {
  auto x = layer::data<"x", T, size>(main);
  auto y = layer::data<"y", T, size>(main);
  auto d = layer::data<"d", T, size>(main);  // without zeros
  auto more = layer::assign(x);
  layer::elementwise_add(x, y, {.name = "add"});
  layer::elementwise_sub(x, y, {.name = "sub"});
  layer::minus(x, y, {.name = "minus"});
  layer::elementwise_mul(x, y, {.name = "mul"});
  layer::elementwise_div(x, d, {.name = "div"});
  layer::elementwise_floordiv(x, d, {.name = "floordiv"});
  layer::elementwise_mod(x, d, {.name = "mod"});
  layer::elementwise_pow(x, y, {.name = "pow"});
  layer::elementwise_max(x, y, {.name = "max"});
  layer::elementwise_min(x, y, {.name = "min"});
  layer::sum({x, y, x}, {.name = "sum"});
  layer::scale(x, 3, {.bias = -2, .name = "scale"});
  layer::clip(x, -3, 9007199254740992.0, {.name = "clip"});
  layer::assign(layer::increment(more, 2), {.name = "increment"});
  layer::cumsum(x, {.name = "cumsum"});
  layer::cumsum(x, {.exclusive = true, .reverse = true, .name = "cumsum_back"});
  layer::reduce_sum<1>(x, {.name = "reduce_sum"});
  layer::reduce_prod<1>(x, {.name = "reduce_prod"});
  layer::reduce_max<1>(x, {.name = "reduce_max"});
  layer::reduce_min<1>(x, {.name = "reduce_min"});
  layer::reduce_mean<1>(x, {.name = "reduce_mean"});
  layer::mean(x, {.name = "mean"});
  layer::cast<integer>(layer::less_than(x, y), {.name = "less_than"});
  layer::cast<integer>(layer::less_equal(x, y), {.name = "less_equal"});
  layer::cast<integer>(layer::greater_than(x, y), {.name = "greater_than"});
  layer::cast<integer>(layer::greater_equal(x, y), {.name = "greater_equal"});
  layer::cast<integer>(layer::equal(x, y), {.name = "equal"});
  layer::cast<integer>(layer::not_equal(x, y), {.name = "not_equal"});
  layer::cast<integer>(layer::cast<bool>(x), {.name = "bool"});
  layer::cast<integer>(layer::cast<std::int32_t>(x), {.name = "int32"});
  layer::cast<integer>(layer::cast<std::int16_t>(x), {.name = "int16"});
  layer::cast<integer>(layer::cast<std::int8_t>(x), {.name = "int8"});
  layer::cast<integer>(layer::cast<std::uint8_t>(x), {.name = "uint8"});
  auto [values, places] = layer::argsort(x);
  layer::assign(values, {.name = "argsort"});
  layer::assign(places, {.name = "argsort_at"});
  auto [best, at] = layer::topk<3>(x);
  layer::assign(best, {.name = "topk"});
  layer::assign(at, {.name = "topk_at"});
  layer::assign(layer::argmax<1>(x), {.name = "argmax"});
  layer::assign(layer::argmin<1>(x), {.name = "argmin"});
  return layer::concat<1>({layer::pad<0, 0, 1, 0>(x, 7), layer::pad<0, 0, 1, 0>(y, 7)},
                          {.name = "concat"});
});

// How 128 bits compute it, as far as they wrap as int64 does.
using wide = __int128;
integer wrapped(wide x) { return static_cast<integer>(static_cast<unsigned __int128>(x)); }
integer power(integer x, integer y) {
  if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 == 0 ? 1 : -1) : 0;
  std::uint64_t all = 1, factor = static_cast<std::uint64_t>(x);
  for (; y > 0; y /= 2, factor *= factor)
    if (y % 2 != 0) all *= factor;
  return static_cast<integer>(all);
}
template <class T>
integer nearest(integer x) {
  return std::clamp<integer>(x, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
}

struct results {
  integers x, y, d;
  template <class F>
  integers each(F f) const {
    integers all;
    for (std::size_t i = 0; i < x.size(); ++i) all.push_back(f(x[i], y[i], d[i]));
    return all;
  }
  integers order(bool rising) const {
    integers all(x.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<integer>(i);
    std::stable_sort(all.begin(), all.end(), [&](integer a, integer b) {
      const integer p = x[static_cast<std::size_t>(a)], q = x[static_cast<std::size_t>(b)];
      return rising ? p < q : p > q;
    });
    return all;
  }
  integers at(const integers& places) const {
    integers all;
    for (const integer i : places) all.push_back(x[static_cast<std::size_t>(i)]);
    return all;
  }
  std::map<std::string, integers> wanted() const {
    std::map<std::string, integers> all;
    const auto add = [&](const char* name, auto f) { all[name] = each(f); };
    add("add", [](wide a, wide b, wide) { return wrapped(a + b); });
    add("sub", [](wide a, wide b, wide) { return wrapped(a - b); });
    all["minus"] = all["sub"];
    add("mul", [](wide a, wide b, wide) { return wrapped(a * b); });
    add("div", [](wide a, wide, wide c) { return wrapped(a / c); });
    const auto mod = [](wide a, wide c) { return ((a % c) + c) % c; };
    add("mod", [&](wide a, wide, wide c) { return wrapped(mod(a, c)); });
    add("floordiv", [&](wide a, wide, wide c) { return wrapped((a - mod(a, c)) / c); });
    add("pow", [](integer a, integer b, integer) { return power(a, b); });
    add("max", [](integer a, integer b, integer) { return std::max(a, b); });
    add("min", [](integer a, integer b, integer) { return std::min(a, b); });
    add("sum", [](wide a, wide b, wide) { return wrapped(2 * a + b); });
    add("scale", [](wide a, wide, wide) { return wrapped(3 * a - 2); });
    add("clip",
        [](integer a, integer, integer) { return std::clamp<integer>(a, -3, integer{1} << 53); });
    add("increment", [](wide a, wide, wide) { return wrapped(a + 2); });
    add("less_than", [](integer a, integer b, integer) -> integer { return a < b; });
    add("less_equal", [](integer a, integer b, integer) -> integer { return a <= b; });
    add("greater_than", [](integer a, integer b, integer) -> integer { return a > b; });
    add("greater_equal", [](integer a, integer b, integer) -> integer { return a >= b; });
    add("equal", [](integer a, integer b, integer) -> integer { return a == b; });
    add("not_equal", [](integer a, integer b, integer) -> integer { return a != b; });
    add("bool", [](integer a, integer, integer) -> integer { return a != 0; });
    add("int32", [](integer a, integer, integer) { return nearest<std::int32_t>(a); });
    add("int16", [](integer a, integer, integer) { return nearest<std::int16_t>(a); });
    add("int8", [](integer a, integer, integer) { return nearest<std::int8_t>(a); });
    add("uint8", [](integer a, integer, integer) { return nearest<std::uint8_t>(a); });
    wide sum = 0;
    integer product = 1;
    integers sums, back(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum += x[i], product = wrapped(wide{product} * x[i]);
      sums.push_back(wrapped(sum));
    }
    wide behind = 0;
    for (std::size_t i = x.size(); i-- > 0; behind += x[i]) back[i] = wrapped(behind);
    all["cumsum"] = sums;
    all["cumsum_back"] = back;
    all["reduce_sum"] = {wrapped(sum)};
    all["reduce_prod"] = {product};
    all["reduce_max"] = {*std::max_element(x.begin(), x.end())};
    all["reduce_min"] = {*std::min_element(x.begin(), x.end())};
    all["reduce_mean"] = all["mean"] = {wrapped(sum / static_cast<integer>(x.size()))};
    const integers rising = order(true), falling = order(false);
    all["argsort"] = at(rising);
    all["argsort_at"] = rising;
    all["topk_at"] = {falling.begin(), falling.begin() + 3};
    all["topk"] = at(all["topk_at"]);
    all["argmax"] = {falling[0]};
    all["argmin"] = {rising[0]};
    all["concat"] = {7};
    for (const integers* part : {&x, &y}) {
      if (part == &y) all["concat"].push_back(7);
      all["concat"].insert(all["concat"].end(), part->begin(), part->end());
    }
    return all;
  }
};

template <class T>
std::vector<T> as(const integers& from) {
  std::vector<T> all;
  for (const integer x : from) all.push_back(static_cast<T>(x));
  return all;
}

template <class T, lamina::fixed_string... Name>
void check_arithmetic(const integers& x, const integers& y0) {
  results r{of_type<T>(x), of_type<T>(y0), {}};
  for (const integer y : r.y) r.d.push_back(y == 0 ? 5 : y);
  lamina::model m{arithmetic<T>};
  lamina::evaluator e{m};
  e.forward(lamina::feed<"x">(as<T>(r.x)), lamina::feed<"y">(as<T>(r.y)),
            lamina::feed<"d">(as<T>(r.d)));
  lamina::executor executor;
  lamina::scope scope;
  lamina::feed_map feed;
  for (const auto& [name, values] : {std::pair{"x", &r.x}, {"y", &r.y}, {"d", &r.d}})
    feed[name] = lamina::tensor(lamina::tensor_shape{1, size}, as<T>(*values));
  const std::vector<std::string> names{std::string(Name.view()) + ".tmp_0" ...};
  const auto executed = executor.run(arithmetic<T>.view(), scope, feed, names);
  const auto wanted = r.wanted();
  std::size_t at = 0;
  const auto check = [&](const auto& engine) {
    const std::string name = names[at].substr(0, names[at].size() - 6);
    const integers exact = of_type<T>(wanted.at(name));
    const auto found = executed[at++].template cast<integer>();
    CAPTURE(name);
    CHECK(integers(engine.begin(), engine.end()) == exact);
    CHECK(integers(found.begin(), found.end()) == exact);
  };
  (check(e.template activation<Name>()), ...);
  CHECK(names.size() == wanted.size());
}

template <class T>
void check_all(const integers& x, const integers& y) {
  check_arithmetic<T, "add", "sub", "minus", "mul", "div", "floordiv", "mod", "pow", "max", "min",
                   "sum", "scale", "clip", "increment", "cumsum", "cumsum_back", "reduce_sum",
                   "reduce_prod", "reduce_max", "reduce_min", "reduce_mean", "mean", "less_than",
                   "less_equal", "greater_than", "greater_equal", "equal", "not_equal", "bool",
                   "int32", "int16", "int8", "uint8", "argsort", "argsort_at", "topk", "topk_at",
                   "argmax", "argmin", "concat">(x, y);
}

}  // namespace

TEST_CASE("operators compute integers exactly") {
  check_all<std::int64_t>(left, right);
  check_all<std::int32_t>(left, right);
  for (const integer x : {odd, -odd, most - 2, least + 2, integer{2147483647}, integer{5000000001}})
    check_all<std::int64_t>(integers(size, x), right);
}
