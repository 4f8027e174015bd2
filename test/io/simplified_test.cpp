// SPDX-License-Identifier: Apache-2.0
// simplified(): options, reports, recorded programs, and random programs before and after. The
// passes have tests in io/simplify.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "io/simplify/onnx_pattern.hpp"

#include <lamina/io/fluid/to_program_message.hpp>
#include <lamina/io/simplified.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/minimize.hpp>
#include <lamina/optimizer/optimizers.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace layer = lamina::layer;
using Catch::Contains;
using lamina::block;
using lamina::dtype;
using onnx_pattern::difference;
using onnx_pattern::dims;

namespace {

constexpr auto net = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 2, 8, 8>(main);
  auto conv = layer::conv2d<4, 3>(x, {.name = "conv"});
  auto norm = layer::batch_norm(conv, {.act = lamina::activation::relu});
  auto kept = layer::dropout(norm, 0.25f);
  auto flat = layer::reshape<144>(kept);
  auto h = layer::fc<6>(flat, {.name = "hidden"});
  return layer::softmax(h * layer::sigmoid(h), {.name = "output"});
});
constexpr auto training = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto h = layer::fc<4>(x);
  auto cost = layer::mean(h * layer::sigmoid(h));
  lamina::optimizer::sgd{.learning_rate = 0.1f}.minimize(cost);
  return cost;
});

// A loop whose body has a pattern of its own, and one that reads the value of the last iteration.
constexpr auto loop = lamina::program([](block& main) {
  auto state = layer::data<"x", float, 4>(main);
  auto i = layer::fill_constant<std::int64_t>(main, 0),
       n = layer::fill_constant<std::int64_t>(main, 3);
  auto going = layer::less_than(i, n);
  auto gate = layer::sigmoid(state);
  layer::while_loop(going, [&](lamina::block&) {
    auto h = layer::fc<4>(state * gate);
    state = layer::tanh(h * layer::sigmoid(h));
    gate = layer::sigmoid(state);
    layer::increment(i);
    layer::less_than(i, n, going);
  });
  return layer::assign(state + gate, {.name = "y"});
});

int operators_of(const lamina::program_message& p) {
  int n = 0;
  for (const lamina::operator_message& op : p.blocks[0].operators)
    n += op.type != "feed" && op.type != "fetch" ? 1 : 0;
  return n;
}

/// A program of random operators, as a message.
class random_program {
 public:
  lamina::program_message program;
  lamina::scope values;
  std::vector<std::string> results;

  random_program(std::uint32_t seed, dtype type) : type_(type), state_(seed * 2654435761U + 1) {
    program.blocks.emplace_back().parent = -1;
    const std::int64_t n = 2 + at_most(2), m = 2 + at_most(2), k = 4 + at_most(2);
    declare("x", {n, m, k}).need_check_feed = true;
    made_.push_back("x");
    const int count = 5 + at_most(35);
    while (operators_ < count) add();
    // The last value, and others that a reader outside of the program wants too.
    results.push_back(made_.back());
    for (int i = at_most(2); i > 0; --i) {
      const std::string& other =
          made_[static_cast<std::size_t>(at_most(static_cast<int>(made_.size()) - 1))];
      if (std::find(results.begin(), results.end(), other) == results.end() && other != "x")
        results.push_back(other);
    }
  }
  lamina::tensor_shape shape_of_x() const { return shape(dims_of("x")); }

 private:
  using attributes = std::vector<lamina::onnx_set>;

  int at_most(int n) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return static_cast<int>(state_ % static_cast<std::uint32_t>(n + 1));
  }
  static lamina::tensor_shape shape(const dims& d) { return {d.begin(), d.end()}; }
  const dims& dims_of(const std::string& name) const { return program.blocks[0].find(name)->dims; }
  lamina::variable_message& declare(const std::string& name, dims d) {
    lamina::variable_message& v = program.blocks[0].variables.emplace_back();
    v.name = name;
    v.type = type_;
    v.dims = std::move(d);
    return v;
  }
  std::string constant(dims d, double scale = 0.5, double bias = 0) {
    const std::string name = "c" + std::to_string(constants_++);
    std::vector<double> numbers;
    for (std::size_t i = 0; i < lamina::size_of(shape(d)); ++i)
      numbers.push_back(bias + scale * (at_most(2000) / 1000.0 - 1));
    static_cast<lamina::tensor&>(values.var(name)) = lamina::tensor(shape(d), numbers).cast(type_);
    lamina::variable_message& v = declare(name, std::move(d));
    v.persistable = true;
    v.is_parameter = numbers.size() > 1;  // single numbers are constants
    return name;
  }
  // A number that a float holds, or one that it does not.
  std::string number() {
    const double some[] = {0.5, 2, 1, 3, 0.1, 1.702, 0.044715, 0.25};
    return constant({1}, 0, some[at_most(7)]);
  }
  std::string op(const char* type, std::vector<std::pair<const char*, std::string>> in, dims d,
                 const attributes& a = {}, const char* slot = "Out") {
    lamina::operator_message made;
    made.type = type;
    for (const auto& [s, v] : in) made.inputs.push_back({s, {v}});
    const std::string name = "v" + std::to_string(operators_++);
    made.outputs.push_back({slot, {name}});
    made.attributes.assign(a.begin(), a.end());
    declare(name, std::move(d));
    program.blocks[0].operators.push_back(made);
    made_.push_back(name);
    return name;
  }
  std::string unary(const char* type, const std::string& x, const attributes& a = {}) {
    return op(type, {{"X", x}}, dims_of(x), a);
  }
  std::string binary(const char* type, const std::string& x, const std::string& y, int axis = -1) {
    return op(type, {{"X", x}, {"Y", y}}, dims_of(x), {{"axis", axis}});
  }
  // One of the last values, so that programs are deep.
  std::string any() {
    const int n = static_cast<int>(made_.size());
    return made_[static_cast<std::size_t>(n - 1 - at_most(std::min(n - 1, 5)))];
  }
  std::string any_like(const std::string& x) {
    for (int i = 0; i < 8; ++i)
      if (const std::string y = any(); dims_of(y) == dims_of(x)) return y;
    return x;
  }
  // Now and then another value takes the place of the right one.
  std::string or_other(const std::string& x) { return at_most(9) == 0 ? any_like(x) : x; }

  void add() {
    const std::string x = any();
    const dims d = dims_of(x);
    const std::int64_t last = d.back();
    const int rank = static_cast<int>(d.size());
    switch (at_most(21)) {
      case 0: {
        const char* all[] = {"relu", "tanh", "sigmoid", "abs", "erf", "square", "assign"};
        unary(all[at_most(6)], x);
        return;
      }
      case 1:
        unary("scale", x, {{"scale", at_most(4) - 1.5}, {"bias", at_most(2) - 1.0}});
        return;
      case 2: {
        const char* all[] = {"elementwise_add", "elementwise_sub", "elementwise_mul"};
        binary(all[at_most(2)], x, any_like(x));
        return;
      }
      case 3: {
        const char* all[] = {"elementwise_add", "elementwise_sub", "elementwise_mul",
                             "elementwise_div", "elementwise_max", "elementwise_min"};
        binary(all[at_most(5)], x, number());
        return;
      }
      case 4:
        binary(at_most(1) == 0 ? "elementwise_mul" : "elementwise_add", x, constant({last}));
        return;
      case 5: {  // swish
        const std::string s = at_most(1) == 0 ? x : binary("elementwise_mul", x, number());
        binary("elementwise_mul", or_other(x), unary("sigmoid", s));
        return;
      }
      case 6: {  // hard_swish
        const std::string a = binary("elementwise_add", x, constant({1}, 0, 3));
        const std::string c =
            unary("clip", a, {{"min", 0.0}, {"max", at_most(4) == 0 ? 5.0 : 6.0}});
        const std::string p = binary("elementwise_mul", or_other(x), c);
        binary("elementwise_div", p, constant({1}, 0, 6));
        return;
      }
      case 7: {  // gelu
        const std::string z = binary("elementwise_div", x, constant({1}, 0, 1.4142135623730951));
        const std::string u = binary("elementwise_add", unary("erf", z), constant({1}, 0, 1));
        const std::string p = binary("elementwise_mul", or_other(x), u);
        binary("elementwise_mul", p, constant({1}, 0, at_most(4) == 0 ? 0.25 : 0.5));
        return;
      }
      case 8:
      case 9: {  // layer_norm or rms_norm
        dims m = d;
        m.back() = 1;
        const bool centred = at_most(1) == 0;
        const attributes along{{"dim", dims{rank - 1}}, {"keep_dim", true}, {"reduce_all", false}};
        std::string off = x;
        if (centred) off = binary("elementwise_sub", x, op("reduce_mean", {{"X", x}}, m, along));
        const std::string v = op("reduce_mean", {{"X", unary("square", or_other(off))}}, m, along);
        const std::string root =
            unary("sqrt", binary("elementwise_add", v, constant({1}, 0, 0.25)));
        if (at_most(1) == 0)
          off = binary("elementwise_div", off, root);
        else
          off = binary("elementwise_mul", off, unary("reciprocal", root));
        if (at_most(2) > 0) off = binary("elementwise_mul", off, constant({last}));
        if (at_most(2) > 0) binary("elementwise_add", off, constant({last}));
        return;
      }
      case 10:
      case 11: {  // transposes, now and then back
        dims order(d.size()), to;
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
        for (std::size_t i = order.size(); i-- > 1;)
          std::swap(order[i], order[static_cast<std::size_t>(at_most(static_cast<int>(i)))]);
        for (const std::int64_t i : order) to.push_back(d[static_cast<std::size_t>(i)]);
        op("transpose2", {{"X", x}}, to, {{"axis", order}});
        return;
      }
      case 12: {
        if (rank > 4) return;
        dims to = d;
        const std::int64_t axis = at_most(rank);
        to.insert(to.begin() + axis, 1);
        op("unsqueeze2", {{"X", x}}, to, {{"axes", dims{axis}}});
        return;
      }
      case 13: {
        dims to = d, shape;
        to.erase(std::remove(to.begin(), to.end(), 1), to.end());
        if (to.size() < 2) return;
        if (at_most(1) == 0) {
          to[1] *= to[0];
          to.erase(to.begin());
        }
        shape = to;
        shape[static_cast<std::size_t>(at_most(static_cast<int>(shape.size()) - 1))] = -1;
        op("reshape2", {{"X", x}}, to, {{"shape", shape}});
        return;
      }
      case 14:
      case 15: {  // a product with weights, and what may follow
        if (rank < 2) return;
        const std::int64_t n = 3 + at_most(3);
        const bool turned = at_most(1) == 0;
        dims to = d;
        to.back() = n;
        std::string y =
            op("matmul", {{"X", x}, {"Y", constant(turned ? dims{n, last} : dims{last, n})}}, to,
               {{"transpose_Y", turned}});
        if (at_most(1) == 0) y = binary("elementwise_add", y, constant({n}));
        if (at_most(1) == 0) y = binary("elementwise_mul", y, constant({n}));
        if (at_most(1) == 0) y = binary("elementwise_mul", y, number());
        if (rank == 2 && at_most(1) == 0) norm(y, n);
        return;
      }
      case 16: {  // scores of attention
        if (rank < 2) return;
        dims to = d;
        to.back() = d[d.size() - 2];
        dims order(d.size()), turned = d;
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
        std::swap(order[order.size() - 1], order[order.size() - 2]);
        std::swap(turned[order.size() - 1], turned[order.size() - 2]);
        const std::string t = op("transpose2", {{"X", x}}, turned, {{"axis", order}});
        const std::string s = op("matmul", {{"X", or_other(x)}, {"Y", t}}, to);
        op("softmax", {{"X", binary("elementwise_mul", s, number())}}, to, {{"axis", -1}});
        return;
      }
      case 17:
      case 18: {  // a convolution, and what may follow
        if (rank != 4) {
          if (rank == 3 && at_most(1) == 0)
            op("unsqueeze2", {{"X", x}}, {1, d[0], d[1], d[2]}, {{"axes", dims{0}}});
          return;
        }
        const std::int64_t n = 2 + at_most(2);
        std::string y = op("conv2d", {{"Input", x}, {"Filter", constant({n, d[1], 1, 1})}},
                           {d[0], n, d[2], d[3]},
                           {{"strides", dims{1, 1}},
                            {"paddings", dims{0, 0}},
                            {"dilations", dims{1, 1}},
                            {"groups", 1}},
                           "Output");
        if (at_most(1) == 0) y = binary("elementwise_add", y, constant({n}), 1);
        if (at_most(2) > 0) y = norm(y, n);
        return;
      }
      case 19:
        unary("dropout", x,
              {{"dropout_prob", 0.25},
               {"is_test", true},
               {"dropout_implementation",
                at_most(1) == 0 ? "upscale_in_train" : "downgrade_in_infer"}});
        return;
      case 20: {
        dims to = d;
        to.back() *= 2;
        lamina::operator_message& made =
            last_of(op("concat", {{"X", x}}, to, {{"axis", rank - 1}}));
        made.inputs[0].arguments.push_back(any_like(x));
        return;
      }
      default: {
        const std::string a = unary("exp", unary("tanh", x));
        unary("log", binary("elementwise_add", a, constant({1}, 0, at_most(4) == 0 ? 2 : 1)));
        return;
      }
    }
  }
  lamina::operator_message& last_of(const std::string&) {
    return program.blocks[0].operators.back();
  }
  std::string norm(const std::string& x, std::int64_t n) {
    const std::string scale = constant({n}, 0.5, 1), bias = constant({n}), mean = constant({n}),
                      variance = constant({n}, 0.3, 1);
    return op("batch_norm",
              {{"X", x}, {"Scale", scale}, {"Bias", bias}, {"Mean", mean}, {"Variance", variance}},
              dims_of(x), {{"is_test", true}, {"epsilon", 0.0078125}}, "Y");
  }

  dtype type_;
  std::uint32_t state_;
  int operators_ = 0, constants_ = 0;
  std::vector<std::string> made_;
};

template <class Real>
std::vector<lamina::lod_tensor> run(const lamina::program_message& p, lamina::scope& values,
                                    const random_program& of) {
  const lamina::loaded_program loaded(p);
  return lamina::basic_executor<Real>().run(
      loaded, values,
      {{"x", lamina::lod_tensor(onnx_pattern::counted(of.shape_of_x(), lamina::dtype_of<Real>))}},
      of.results);
}

/// Compares random programs before and after; returns how many operators passes removed.
template <class Real>
int compare_random(std::uint32_t seeds, double tolerance, lamina::simplify_report& all) {
  int removed = 0;
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    INFO("seed " << seed);
    random_program r(seed, lamina::dtype_of<Real>);
    lamina::simplify_report report;
    lamina::simplify_options options;
    options.keep = r.results;
    options.report = &report;
    const std::vector<lamina::lod_tensor> expected = run<Real>(r.program, r.values, r);
    const lamina::program_message made = lamina::simplified(r.program, r.values, options);
    CHECK(difference(expected, run<Real>(made, r.values, r)) < tolerance);
    CHECK(operators_of(made) == report.operators_after);
    CHECK(report.operators_after <= report.operators_before);
    removed += report.operators_before - report.operators_after;
    if (all.passes.empty()) all = report;
    for (std::size_t i = 0; i < report.passes.size(); ++i)
      all.passes[i].applied += report.passes[i].applied;
    // A second time, nothing is left to simplify.
    CHECK(lamina::simplified(made, r.values, options) == made);
  }
  return removed;
}

}  // namespace

TEST_CASE("simplified: random programs have equal results, in float and in double") {
  lamina::simplify_report of_floats, of_doubles;
  CHECK(compare_random<float>(200, 1e-5, of_floats) > 200);
  CHECK(compare_random<double>(200, 1e-12, of_doubles) > 200);
  for (const lamina::simplify_report::pass& p : of_floats.passes) {
    INFO(p.name);
    CHECK(p.applied > 5);
  }
}

TEST_CASE("simplified: a recorded program in test mode, with its parameters") {
  lamina::executor executor;
  lamina::scope values;
  executor.run_startup(net.view(), values, 3);
  const auto tested = lamina::transform::clone_for_test(net);
  lamina::program_message plain = lamina::to_program_message(tested);
  const std::string output = lamina::variable_name(tested.view(), tested.view().outputs[0]);
  lamina::simplify_report report;
  const lamina::program_message made =
      lamina::simplified(plain, values, {.keep = {output}, .report = &report});
  CHECK(report.applied("batch_norm") == 2);  // the bias of the convolution, then the norm
  CHECK(report.applied("identities") == 1);  // dropout
  CHECK(report.applied("activations") == 1);
  const lamina::feed_map feed{
      {"x", lamina::lod_tensor(onnx_pattern::counted({3, 2, 8, 8}, dtype::float32))}};
  CHECK(difference(executor.run(lamina::loaded_program(plain), values, feed, {output}),
                   executor.run(lamina::loaded_program(made), values, feed, {output})) < 1e-5);
  CHECK(values.find("conv.w_0") != nullptr);  // as it was
  // Without values, patterns of operators are found all the same.
  lamina::simplify_report without;
  const lamina::program_message alone =
      lamina::simplified(plain, {.keep = {output}, .report = &without});
  CHECK(without.applied("batch_norm") == 0);
  CHECK(without.applied("activations") == 1);
  CHECK(difference(executor.run(lamina::loaded_program(plain), values, feed, {output}),
                   executor.run(lamina::loaded_program(alone), values, feed, {output})) < 1e-5);
}

TEST_CASE("simplified: in the body of a loop, values of one iteration only") {
  lamina::executor executor;
  lamina::scope values;
  executor.run_startup(loop.view(), values, 3);
  const lamina::program_message plain = lamina::to_program_message(loop);
  const std::string y = lamina::variable_name(loop.view(), loop.view().outputs[0]);
  lamina::simplify_report report;
  const lamina::program_message made =
      lamina::simplified(plain, values, {.keep = {y}, .report = &report});
  CHECK(report.applied("activations") == 1);  // of h, not of the state and its gate
  const lamina::feed_map feed{
      {"x", lamina::lod_tensor(onnx_pattern::counted({3, 4}, dtype::float32))}};
  CHECK(difference(executor.run(lamina::loaded_program(plain), values, feed, {y}),
                   executor.run(lamina::loaded_program(made), values, feed, {y})) < 1e-5);
}

TEST_CASE("simplified: batch_norm and dropout in training mode stay") {
  lamina::simplify_report report;
  const lamina::program_view view = net.view();
  const std::string output = lamina::variable_name(view, view.outputs[0]);
  lamina::executor executor;
  lamina::scope values;
  executor.run_startup(view, values, 3);
  const lamina::program_message made = lamina::simplified(lamina::to_program_message(view), values,
                                                          {.keep = {output}, .report = &report});
  int kept = 0;
  for (const lamina::operator_message& op : made.blocks[0].operators)
    kept += op.type == "batch_norm" || op.type == "dropout" ? 1 : 0;
  CHECK(kept == 2);
}

TEST_CASE("simplified: a training program stays as it is") {
  const lamina::program_message plain = lamina::to_program_message(training);
  lamina::simplify_report report;
  CHECK(lamina::simplified(plain, {.keep = {"fc_0.w_0"}, .report = &report}) == plain);
  CHECK(report.operators_after == report.operators_before);
}

TEST_CASE("simplified: options choose passes, and a report says how often each applied") {
  onnx_pattern::graph g({-1, 3});
  g.add("Sigmoid", {"x"}, {"s"}).add("Mul", {"x", "s"}, {"a"}).add("Identity", {"a"}, {"b"});
  g.add("Transpose", {"b"}, {"t"}).add("Transpose", {"t"}, {"y"});
  lamina::simplify_options options;
  options.activations = false;
  const auto found = g.simplified(options);
  CHECK(found.count("sigmoid") == 1);
  CHECK(found.report.applied("activations") == 0);
  CHECK(found.report.applied("shapes") == 1);
  CHECK(g.simplified(lamina::simplify_options::none()).report.operators_after == 4);
  CHECK_THAT(g.simplified().report.text(), Contains("activations: 1 time\n"));
  CHECK_THAT(g.simplified().report.text(), Contains("operators: 4 before, 1 after\n"));
}

TEST_CASE("simplified: names that the caller keeps stay, and unknown ones are errors") {
  onnx_pattern::graph g({-1, 3});
  g.add("Sigmoid", {"x"}, {"s"}).add("Mul", {"x", "s"}, {"y"});
  lamina::simplify_options options;
  options.keep = {"s"};
  CHECK(g.simplified(options).count("swish") == 0);
  options.keep = {"absent"};
  CHECK_THROWS_WITH(g.load(options), Contains("found 'absent'"));
  lamina::program_message none;
  none.blocks.emplace_back();
  CHECK_THROWS_WITH(lamina::simplified(none), Contains("found neither"));
}

TEST_CASE("simplified: a variable that is written twice is no value of a pattern") {
  // h = sigmoid(x); h = h + h in place; y = x * h
  lamina::program_message p;
  lamina::block_message& b = p.blocks.emplace_back();
  for (const char* name : {"x", "h", "y"}) {
    lamina::variable_message& v = b.variables.emplace_back();
    v.name = name;
    v.dims = {-1, 3};
    v.need_check_feed = std::string(name) == "x";
  }
  const auto op = [&](const char* type, std::vector<lamina::slot_message> in, const char* out) {
    lamina::operator_message& o = b.operators.emplace_back();
    o.type = type;
    o.inputs = std::move(in);
    o.outputs = {{"Out", {out}}};
  };
  op("sigmoid", {{"X", {"x"}}}, "h");
  op("elementwise_add", {{"X", {"h"}}, {"Y", {"h"}}}, "h");
  op("elementwise_mul", {{"X", {"x"}}, {"Y", {"h"}}}, "y");
  CHECK(lamina::simplified(p, {.keep = {"y"}}).blocks[0].operators == p.blocks[0].operators);
}
