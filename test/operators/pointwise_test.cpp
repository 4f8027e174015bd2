// SPDX-License-Identifier: Apache-2.0
// Every pointwise operator: its values against closed forms, its gradient against differences.
#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/operators/operators.hpp>
#include <lamina/operators/pointwise_evaluation.hpp>

namespace {

/// Places where every activation is smooth: no kink of any of them lies near.
const std::vector<double> smooth{-2.3, -1.1, -0.83, -0.37, 0.21, 0.42, 0.93, 1.7, 2.6};

/// Arguments of f: the inputs, then the default attributes.
template <class Op>
std::vector<double> with_attributes(std::vector<double> inputs,
                                    const std::vector<double>& given = {}) {
  for (int i = 0; i < lamina::scalars_of<Op>; ++i)
    inputs.push_back(static_cast<std::size_t>(i) < given.size()
                         ? given[static_cast<std::size_t>(i)]
                         : Op::attributes[static_cast<std::size_t>(i)].number);
  return inputs;
}

/// Output `k` of a pointwise operator, through the function its schema carries.
template <class Op>
double value(int k, const std::vector<double>& arguments) {
  std::vector<const double*> at;
  std::vector<int> stride(arguments.size(), 0);
  for (const double& a : arguments) at.push_back(&a);
  double out = std::nan("");
  lamina::registered<Op>::value.evaluate_double(k, 1, at.data(), stride.data(), &out);
  return out;
}

/// Compares the gradient operator with central differences of output `k` in input `slot`.
template <class Op>
void check_gradient(const std::vector<double>& inputs, int k = 0,
                    const std::vector<double>& given = {}) {
  using gradient = lamina::gradient_of<Op>;
  const double h = 1e-5, dy = 1.7;
  std::vector<double> read;
  for (std::size_t i = 0; i < Op::inputs.size(); ++i)
    if (Op::gradient_inputs >> i & 1u) read.push_back(inputs[i]);
  for (std::size_t i = 0; i < Op::outputs.size(); ++i)
    if (Op::gradient_outputs >> i & 1u)
      read.push_back(value<Op>(static_cast<int>(i), with_attributes<Op>(inputs, given)));
  read.push_back(dy);
  read = with_attributes<Op>(read, given);
  int number = 0;
  for (std::size_t slot = 0; slot < Op::inputs.size(); ++slot) {
    if (!(Op::differentiable >> slot & 1u)) continue;
    std::vector<double> up = inputs, down = inputs;
    up[slot] += h, down[slot] -= h;
    const double expected = dy *
                            (value<Op>(k, with_attributes<Op>(up, given)) -
                             value<Op>(k, with_attributes<Op>(down, given))) /
                            (2 * h);
    INFO(Op::type << " slot " << slot << " at " << inputs[0]);
    CHECK(value<gradient>(number++, read) == Approx(expected).epsilon(1e-6).margin(1e-8));
  }
}

template <class Op>
void check_at(const std::vector<double>& places) {
  for (double x : places) check_gradient<Op>({x});
}

template <class Op>
double at(double x) {
  return value<Op>(0, with_attributes<Op>({x}));
}

}  // namespace

TEMPLATE_TEST_CASE("unary gradients are the derivatives", "", lamina::relu, lamina::tanh,
                   lamina::sigmoid, lamina::logsigmoid, lamina::softplus, lamina::softsign,
                   lamina::tanh_shrink, lamina::gelu, lamina::selu, lamina::exp, lamina::square,
                   lamina::reciprocal, lamina::abs, lamina::sin, lamina::cos, lamina::atan,
                   lamina::ceil, lamina::floor, lamina::round, lamina::sign, lamina::leaky_relu,
                   lamina::elu, lamina::relu6, lamina::brelu, lamina::soft_relu, lamina::stanh,
                   lamina::hard_sigmoid, lamina::swish, lamina::hard_swish, lamina::pow,
                   lamina::hard_shrink, lamina::softshrink, lamina::thresholded_relu,
                   lamina::scale) {
  check_at<TestType>(smooth);
}

TEMPLATE_TEST_CASE("gradients of functions of positive numbers", "", lamina::log, lamina::sqrt,
                   lamina::rsqrt) {
  check_at<TestType>({0.1, 0.7, 1.3, 4.2});
}

TEMPLATE_TEST_CASE("gradients of functions of numbers below one", "", lamina::asin, lamina::acos) {
  check_at<TestType>({-0.9, -0.2, 0.3, 0.8});
}

TEST_CASE("gradients hold for other attributes than the defaults") {
  for (double x : smooth) {
    check_gradient<lamina::gelu>({x}, 0, {1});
    check_gradient<lamina::leaky_relu>({x}, 0, {0.3});
    check_gradient<lamina::elu>({x}, 0, {0.5});
    check_gradient<lamina::relu6>({x}, 0, {2});
    check_gradient<lamina::brelu>({x}, 0, {-1, 1});
    check_gradient<lamina::soft_relu>({x}, 0, {2});
    check_gradient<lamina::stanh>({x}, 0, {0.3, 2});
    check_gradient<lamina::hard_sigmoid>({x}, 0, {0.4, 0.1});
    check_gradient<lamina::swish>({x}, 0, {1.5});
    check_gradient<lamina::hard_swish>({x}, 0, {2, 3, 1});
    check_gradient<lamina::hard_shrink>({x}, 0, {1});
    check_gradient<lamina::softshrink>({x}, 0, {1});
    check_gradient<lamina::thresholded_relu>({x}, 0, {0.5});
    check_gradient<lamina::selu>({x}, 0, {2, 0.5});
    check_gradient<lamina::clip>({x}, 0, {-1, 1.5});
    check_gradient<lamina::scale>({x}, 0, {3, 2, 0});
    check_gradient<lamina::pow>({x}, 0, {3});
  }
}

TEMPLATE_TEST_CASE("gradients of elementwise operators", "", lamina::elementwise_add,
                   lamina::elementwise_sub, lamina::elementwise_mul, lamina::elementwise_div,
                   lamina::elementwise_max, lamina::elementwise_min) {
  for (double x : smooth)
    for (double y : {-1.5, 0.6, 2.2}) check_gradient<TestType>({x, y});
}

TEST_CASE("the gradient of a power") {
  for (double x : {0.4, 1.3})
    for (double y : {-1.5, 0.6, 2.2}) check_gradient<lamina::elementwise_pow>({x, y});
}

TEST_CASE("gradients of costs") {
  for (double x : smooth) {
    for (double label : {0.0, 1.0}) {
      check_gradient<lamina::sigmoid_cross_entropy_with_logits>({x, label});
      check_gradient<lamina::hinge_loss>({x, label});
      check_gradient<lamina::modified_huber_loss>({x, label}, 1);
      for (double y : {-0.4, 1.9}) {
        check_gradient<lamina::rank_loss>({label, x, y});
        check_gradient<lamina::margin_rank_loss>({x, y, 2 * label - 1}, 1, {0.1});
      }
    }
    check_gradient<lamina::huber_loss>({x, 0.5}, 1, {0.7});
  }
  for (double p : {0.1, 0.5, 0.9}) {
    check_gradient<lamina::log_loss>({p, 0.0}, 0, {1e-4});
    check_gradient<lamina::log_loss>({p, 1.0}, 0, {1e-4});
  }
}

TEST_CASE("activations have Fluid's values") {
  CHECK(at<lamina::leaky_relu>(-2) == Approx(-0.04));
  CHECK(at<lamina::elu>(-1) == Approx(std::exp(-1.0) - 1));
  CHECK(at<lamina::relu6>(7) == 6);
  CHECK(at<lamina::brelu>(30) == 24);
  CHECK(at<lamina::brelu>(-3) == 0);
  CHECK(at<lamina::soft_relu>(1) == Approx(std::log(1 + std::exp(1.0))));
  CHECK(at<lamina::soft_relu>(50) == Approx(40));
  CHECK(at<lamina::stanh>(1) == Approx(1.7159 * std::tanh(0.67)));
  CHECK(at<lamina::hard_sigmoid>(1) == Approx(0.7));
  CHECK(at<lamina::hard_sigmoid>(9) == 1);
  CHECK(at<lamina::swish>(2) == Approx(2 / (1 + std::exp(-2.0))));
  CHECK(at<lamina::hard_swish>(1) == Approx(4.0 / 6));
  CHECK(at<lamina::hard_swish>(8) == Approx(8));
  CHECK(at<lamina::hard_shrink>(0.4) == 0);
  CHECK(at<lamina::hard_shrink>(-0.6) == -0.6);
  CHECK(at<lamina::softshrink>(-1.5) == -1);
  CHECK(at<lamina::thresholded_relu>(0.9) == 0);
  CHECK(at<lamina::logsigmoid>(-800) == Approx(-800));
  CHECK(at<lamina::softplus>(800) == Approx(800));
  CHECK(at<lamina::softsign>(-3) == Approx(-0.75));
  CHECK(at<lamina::tanh_shrink>(1) == Approx(1 - std::tanh(1.0)));
  CHECK(at<lamina::gelu>(1) == Approx(0.8413447460685429));
  CHECK(value<lamina::gelu>(0, {1, 1}) == Approx(0.8411919906082768));
  CHECK(at<lamina::selu>(-1) ==
        Approx(1.0507009873554805 * 1.6732632423543772 * (std::exp(-1.0) - 1)));
  CHECK(at<lamina::round>(-2.5) == -3);
  CHECK(at<lamina::sign>(-0.1) == -1);
  CHECK(value<lamina::pow>(0, {3, 2}) == 9);
}

TEST_CASE("costs have Fluid's values") {
  CHECK(value<lamina::huber_loss>(0, {1, 4, 2}) == 3);
  CHECK(value<lamina::huber_loss>(1, {1, 4, 2}) == Approx(2 * (3 - 1)));
  CHECK(value<lamina::huber_loss>(1, {1, 2, 2}) == Approx(0.5));
  CHECK(value<lamina::modified_huber_loss>(1, {-2, 1}) == 8);
  CHECK(value<lamina::modified_huber_loss>(1, {0.5, 1}) == 0.25);
  CHECK(value<lamina::modified_huber_loss>(1, {2, 1}) == 0);
  CHECK(value<lamina::rank_loss>(0, {1, 2, 1}) == Approx(std::log(1 + std::exp(1.0)) - 1));
  CHECK(value<lamina::margin_rank_loss>(1, {1, 2, 1, 0.1}) == Approx(1.1));
  CHECK(value<lamina::margin_rank_loss>(0, {1, 2, 1, 0.1}) == 1);
  CHECK(value<lamina::margin_rank_loss>(0, {2, 1, 1, 0.1}) == 0);
  CHECK(value<lamina::hinge_loss>(0, {0.25, 0}) == 1.25);
  CHECK(value<lamina::log_loss>(0, {0.5, 1, 0}) == Approx(std::log(2.0)));
  CHECK(value<lamina::sigmoid_cross_entropy_with_logits>(0, {1, 1, -100}) ==
        Approx(std::log(1 + std::exp(-1.0))));
  CHECK(value<lamina::sigmoid_cross_entropy_with_logits>(0, {1, -100, -100}) == 0);
}

TEST_CASE("remainders have the sign of the divisor") {
  CHECK(value<lamina::elementwise_mod>(0, {-7, 3}) == 2);
  CHECK(value<lamina::elementwise_floordiv>(0, {-7, 3}) == -3);
  CHECK(lamina::elementwise_mod::f(std::int64_t{-7}, std::int64_t{3}) == 2);
  CHECK(lamina::elementwise_mod::f(7, -3) == -2);
  CHECK(lamina::elementwise_floordiv::f(-7, 3) == -3);
  CHECK(lamina::elementwise_floordiv::f(6, -3) == -2);
}

TEST_CASE("comparisons and logic") {
  CHECK(lamina::less_than::f(1, 2));
  CHECK_FALSE(lamina::less_than::f(2, 2));
  CHECK(lamina::less_equal::f(2, 2));
  CHECK(lamina::greater_than::f(3.0, 2.0));
  CHECK(lamina::greater_equal::f(2, 2));
  CHECK(lamina::equal::f(true, true));
  CHECK(lamina::not_equal::f(1, 2));
  CHECK_FALSE(lamina::logical_and::f(true, false));
  CHECK(lamina::logical_or::f(true, false));
  CHECK(lamina::logical_xor::f(true, false));
  CHECK_FALSE(lamina::logical_xor::f(true, true));
  CHECK(lamina::logical_not::f(false));
  CHECK(value<lamina::increment>(0, {4, 3}) == 7);
}

TEST_CASE("gradient operators have Fluid's names and slots") {
  using std::string;
  const auto slots = [](const lamina::slot_desc* s, int n) {
    string all;
    for (int i = 0; i < n; ++i) all += string(s[i].name) + " ";
    return all;
  };
  const auto spell = [&](const lamina::operator_schema& s) {
    return string(s.type) + ": " + slots(s.inputs, s.input_count) + "-> " +
           slots(s.outputs, s.output_count);
  };
  using lamina::gradient_of;
  using lamina::schema_of;
  CHECK(spell(schema_of<gradient_of<lamina::matmul>>()) ==
        "matmul_grad: X Y Out@GRAD -> X@GRAD Y@GRAD ");
  CHECK(spell(schema_of<gradient_of<lamina::layer_norm>>()) ==
        "layer_norm_grad: X Scale Mean Variance Y@GRAD -> X@GRAD Scale@GRAD Bias@GRAD ");
  CHECK(spell(schema_of<gradient_of<lamina::reshape2>>()) ==
        "reshape2_grad: XShape Out@GRAD -> X@GRAD ");
  CHECK(spell(schema_of<gradient_of<lamina::lookup_table>>()) ==
        "lookup_table_grad: W Ids Out@GRAD -> W@GRAD ");
  CHECK(spell(schema_of<gradient_of<lamina::dropout>>()) ==
        "dropout_grad: Mask Out@GRAD -> X@GRAD ");
  CHECK(spell(schema_of<gradient_of<lamina::cos_sim>>()) ==
        "cos_sim_grad: X Y Out XNorm YNorm Out@GRAD -> X@GRAD Y@GRAD ");
  CHECK(spell(schema_of<gradient_of<lamina::norm>>()) == "norm_grad: X Norm Out@GRAD -> X@GRAD ");
  CHECK(spell(schema_of<gradient_of<lamina::huber_loss>>()) ==
        "huber_loss_grad: Residual Out@GRAD -> X@GRAD Y@GRAD ");
  CHECK(spell(schema_of<gradient_of<lamina::smooth_l1_loss>>()) ==
        "smooth_l1_loss_grad: InsideWeight OutsideWeight Diff Out@GRAD -> X@GRAD Y@GRAD ");
  CHECK(spell(schema_of<gradient_of<lamina::top_k>>()) ==
        "top_k_grad: X Indices Out@GRAD -> X@GRAD ");
  CHECK(spell(schema_of<lamina::clip_to_norm>()) == "clip_by_norm: X -> Out ");
  CHECK(schema_of<lamina::accuracy>().gradient == nullptr);
  CHECK(schema_of<lamina::auc>().gradient == nullptr);
  CHECK(schema_of<lamina::print>().has_side_effect);
}
