// SPDX-License-Identifier: Apache-2.0
// Programs that train by calls of minimize come back from files, with the same steps; what minimize
// would not record is refused.
#include <catch2/catch.hpp>
#include <io/native/imported/inner.imported>
#include <io/native/imported/options.imported>
#include <io/native/imported/rules.imported>
#include <io/native/imported_training.hpp>

#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/minimize.hpp>
#include <lamina/optimizer/optimizers.hpp>

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
namespace schedule = lamina::schedule;
using Catch::Contains;
using imported_training::saved;
using imported_training::text_of;
using integer = std::int64_t;

namespace {

namespace recorded {

// Every optimizer, schedule, clip and decay.
constexpr auto rules = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto y = layer::data<"y", float>(main);
  auto h = layer::fc<5>(x, {.act = lamina::activation::tanh});
  auto cost = layer::mean(layer::square_error_cost(layer::fc<1>(h), y));
  optimizer::sgd{.learning_rate = 0.125f, .regularization = lamina::l2_decay(0.01f)}.minimize(cost);
  optimizer::momentum{
      .learning_rate = schedule::exponential_decay{0.1f, 10, 0.5f, true},
      .momentum = 0.5f,
      .use_nesterov = true,
      .clip = lamina::clip_by_value(-1, 2)}.minimize(cost);
  optimizer::adam{.learning_rate = schedule::noam_decay{64, 10, 0.5f},
                  .beta1 = 0.5f,
                  .epsilon = 1e-6f,
                  .regularization = lamina::l1_decay(0.01f),
                  .clip = lamina::clip_by_norm(0.5f)}
      .minimize(cost);
  optimizer::adamax{.learning_rate = schedule::natural_exp_decay{0.1f, 10, 0.5f}, .beta2 = 0.9f}
      .minimize(cost);
  optimizer::adagrad{.learning_rate = schedule::piecewise_decay({3, 5}, {0.5f, 0.25f, 0.125f}),
                     .epsilon = 1e-3f}
      .minimize(cost);
  optimizer::adadelta{.rho = 0.5f, .clip = lamina::clip_by_global_norm(2)}.minimize(cost);
  optimizer::decayed_adagrad{
      .learning_rate = schedule::polynomial_decay{.learning_rate = 0.1f,
                                                  .decay_steps = 20,
                                                  .cycle = true},
      .decay = 0.5f}.minimize(cost);
  optimizer::ftrl{.l1 = 0.5f, .l2 = 0.25f, .lr_power = -0.25f}.minimize(cost);
  optimizer::lamb{.learning_rate = schedule::cosine_decay{0.1f, 5, 3}, .lamb_weight_decay = 0.5f}
      .minimize(cost);
  optimizer::lars_momentum{
      .learning_rate = schedule::linear_lr_warmup{0.1f, 5, 0.01f, 0.1f},
      .momentum = 0.5f,
      .lars_coeff = 0.5f,
      .lars_weight_decay = 0,
      .clip = lamina::clip_by_value(0.5f)}.minimize(cost);
  optimizer::proximal_adagrad{.learning_rate = schedule::inverse_time_decay{0.1f, 10, 0.5f},
                              .l1 = 0.5f}
      .minimize(cost);
  optimizer::proximal_gd{.learning_rate = schedule::v2::poly{0.1f, 0.5, 0.75, 16}, .l2 = 0.5f}
      .minimize(cost);
  optimizer::rmsprop{.rho = 0.5f, .momentum = 0.25f, .centered = true}.minimize(cost);
  return cost;
});

// Options of parameters, sparse rows, parameters that only one call updates, a rate that the
// program computes and keeps.
constexpr auto options = lamina::program([](lamina::block& main) {
  auto ids = layer::data<"ids", integer>(main);
  auto y = layer::data<"y", float>(main);
  auto e = layer::embedding<7, 4>(
      ids, {.param = {.name = "table", .learning_rate = 2.5f}, .is_sparse = true});
  auto w = layer::create_parameter<float, 4, 5>(
      main, {.name = "w", .regularizer = lamina::l1_decay(0.5f)});
  auto h = layer::tanh(layer::matmul(e, w));
  auto frozen = layer::fc<5>(
      h, {.param = {.name = "frozen", .trainable = false},
          .bias_param = {.learning_rate = 0.5f, .gradient_clip = lamina::clip_by_norm(1)}});
  auto kept = layer::stop_gradient(layer::fc<5>(h));
  auto cost =
      layer::mean(layer::square_error_cost(layer::fc<1>(std::tuple{frozen, kept}), y));
  optimizer::adam{.learning_rate = 0.1f, .lazy_mode = true}.minimize(cost, lamina::except<"w">);
  auto rate = layer::create_global_var<float>(main, 0.5f, {.name = "rate"});
  optimizer::sgd{.learning_rate = rate}.minimize(cost, lamina::only<"w">);
  optimizer::adamax{.learning_rate = rate}.minimize(cost, std::tuple{w});
  layer::store(rate * layer::fill_constant<float>(main, 0.5f), rate);
  return cost;
});

// Costs that depend on a loop with a branch.
constexpr auto inner = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto h = layer::fc<4>(x);
  auto i = layer::fill_constant<integer>(main, 0);
  auto n = layer::fill_constant<integer>(main, 3);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](lamina::block& body) {
    auto more = layer::less_than(layer::mean(h), layer::fill_constant<float>(body, 100));
    layer::conditional_block(more, [&](lamina::block&) {
      h = layer::tanh(layer::fc<4>(h, {.name = "inner"}));
    });
    layer::increment(i);
    layer::less_than(i, n, going);
  });
  auto cost = layer::mean(layer::square(h));
  optimizer::sgd{.learning_rate = 0.1f}.minimize(cost);
  auto other = layer::mean(layer::abs(h));
  optimizer::momentum{.learning_rate = 0.1f}.minimize(other, lamina::only<"inner">);
  return std::tuple{cost, other};
});

}  // namespace recorded

lamina::tensor ids_of() { return lamina::tensor({5, 1}, std::vector<integer>{3, 6, 0, 3, 1}); }

}  // namespace

TEST_CASE("native minimize: saved training comes back, with the same steps") {
  using imported_program::random_tensor;
  imported_training::compare("rules", recorded::rules, rules,
                             {{{"x", random_tensor({6, 4})}, {"y", random_tensor({6, 1})}}});
  imported_training::compare("options", recorded::options, options,
                             {{{"ids", ids_of()}, {"y", random_tensor({5, 1})}}});
  imported_training::compare("inner", recorded::inner, inner, {{{"x", random_tensor({6, 4})}}});
}

namespace {

/// The text of a changed program, or the error.
struct outcome {
  std::string text, error;
};
outcome outcome_of(const lamina::program_message& m) {
  try {
    return {lamina::native_source(lamina::loaded_program(m, "m")), ""};
  } catch (const lamina::format_error& e) {
    return {"", e.what()};
  }
}
bool trains(const lamina::operator_message& op) {
  const lamina::attribute_message* role = op.attribute("op_role");
  return role != nullptr && role->integer != 0 && op.type != "assign";
}
/// Another value of an attribute.
void change(lamina::attribute_message& a) {
  switch (a.type) {
    case lamina::attribute_type::real:
      a.real = a.real == 0.75f ? 0.5f : 0.75f;
      break;
    case lamina::attribute_type::string:
      a.text += "1";
      break;
    case lamina::attribute_type::boolean:
      a.integer = 1 - a.integer;
      break;
    case lamina::attribute_type::integers:
    case lamina::attribute_type::long_integers:
      a.integers.push_back(7);
      break;
    case lamina::attribute_type::reals:
      a.reals.push_back(7);
      break;
    case lamina::attribute_type::strings:
      a.texts.emplace_back("other");
      break;
    default:
      a.integer += a.name == "op_role" ? 1024 : 1;
  }
}

}  // namespace

TEST_CASE("native minimize: no change of a file is lost") {
  for (const lamina::program_view& p :
       {recorded::rules.view(), recorded::options.view(), recorded::inner.view()}) {
    const lamina::program_message m = saved(p);
    const std::string whole = outcome_of(m).text;
    REQUIRE(whole.find(".minimize(") != std::string::npos);
    int refused = 0, written = 0;
    const auto check = [&](const lamina::program_message& changed) {
      const outcome found = outcome_of(changed);
      CHECK(found.text != whole);
      ++(found.text.empty() ? refused : written);
    };
    for (std::size_t b = 0; b < m.blocks.size(); ++b)
      for (std::size_t k = 0; k < m.blocks[b].operators.size(); ++k) {
        if (!trains(m.blocks[b].operators[k])) continue;
        lamina::program_message changed = m;
        std::vector<lamina::operator_message>& operators = changed.blocks[b].operators;
        INFO("block " << b << ", operator " << k << ", " << operators[k].type);
        for (lamina::attribute_message& a : operators[k].attributes) {
          INFO(a.name);
          const lamina::attribute_message before = a;
          change(a);
          check(changed);
          a = before;
        }
        for (auto* slots : {&operators[k].inputs, &operators[k].outputs})
          for (lamina::slot_message& s : *slots)
            for (std::string& name : s.arguments) {
              INFO(s.slot << " " << name);
              const std::string before = name, variable = changed.blocks[0].variables[0].name;
              name = changed.blocks[0].variables[name == variable ? 1 : 0].name;
              check(changed);
              name = before;
            }
        operators.insert(operators.begin() + static_cast<std::ptrdiff_t>(k), operators[k]);
        check(changed);
        operators.erase(operators.begin() + static_cast<std::ptrdiff_t>(k));
        operators.erase(operators.begin() + static_cast<std::ptrdiff_t>(k));
        check(changed);
      }
    CHECK(refused > 100);
    CHECK(written > 0);
  }
}

// ./test "native minimize: write the headers" after a change of the text.
TEST_CASE("native minimize: write the headers", "[.]") {
  const auto write = [](const std::string& name, const lamina::program_view& p) {
    lamina::write_file(imported_program::path_of(name), text_of(saved(p), name));
  };
  write("rules", recorded::rules.view());
  write("options", recorded::options.view());
  write("inner", recorded::inner.view());
}
