// SPDX-License-Identifier: Apache-2.0
// A training program in Fluid's form comes back as the program that calls minimize.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <codegen/imported_training.hpp>
#include <io/temporary_folder.hpp>

#include <lamina/codegen/import_model.hpp>
#include <lamina/io/fluid_training.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/optimizer/minimize.hpp>
#include <lamina/optimizer/optimizers.hpp>

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
using Catch::Contains;

namespace {

// A weight with a factor, a decay and a clip of its own.
constexpr auto cost_of = [](lamina::block& main, const auto& own) {
  auto x = layer::data<"x", float, 4>(main);
  auto y = layer::data<"y", float, 2>(main);
  auto h = layer::fc<3>(x, {.act = lamina::activation::tanh});
  auto found = layer::fc<2>(h + layer::scale(h, 0.5f), {.param = own});
  return layer::mean(layer::square_error_cost(found, y));
};
constexpr lamina::param_attr plain{};
constexpr lamina::param_attr factor{.learning_rate = 0.3f};
constexpr lamina::param_attr prepared{.learning_rate = 0.7f,
                                      .regularizer = lamina::l1_decay(0.01f),
                                      .gradient_clip = lamina::clip_by_value(-0.2f, 0.3f)};

/// A net, the same that trains itself, and its optimizer.
template <const auto& Opt, const lamina::param_attr& Own>
struct trained {
  static constexpr auto net =
      lamina::program([](lamina::block& main) { return cost_of(main, Own); });
  static constexpr auto whole = lamina::program([](lamina::block& main) {
    auto cost = cost_of(main, Own);
    Opt.minimize(cost);
    return cost;
  });
  /// The file, and the values of its variables before the first step.
  static lamina::program_message file(lamina::scope& values) {
    lamina::training_messages m = lamina::training_messages_of(net, Opt);
    lamina::executor executor;
    executor.run(lamina::loaded_program(m.startup), values, {}, std::vector<std::string>{});
    lamina::add_feed_and_fetch(m.main, {"x", "y"},
                               {lamina::variable_name(net.view(), net.view().outputs[0])});
    return lamina::from_proto(lamina::to_proto(m.main));
  }
};

std::string text_of(const lamina::program_message& m, const lamina::scope* values) {
  return lamina::native_source(lamina::loaded_program(m, "m"),
                               {.origin = "the program of a test", .values = values});
}
std::string error_of(const lamina::program_message& m, const lamina::scope* values) {
  try {
    return "written: " + text_of(m, values);
  } catch (const lamina::format_error& e) {
    return e.what();
  }
}

template <const auto& Opt, const lamina::param_attr& Own = plain>
void check() {
  using pair = trained<Opt, Own>;
  INFO(Opt.type);
  lamina::scope values;
  CHECK(text_of(pair::file(values), &values) ==
        text_of(imported_training::saved(pair::whole.view()), nullptr));
}

constexpr optimizer::sgd sgd{.learning_rate = 0.1f};
constexpr optimizer::sgd decayed{.learning_rate = 0.1f, .regularization = lamina::l2_decay(0.02f)};
constexpr optimizer::sgd by_norm{.learning_rate = 0.1f, .clip = lamina::clip_by_norm(0.1f)};
constexpr optimizer::momentum by_all{.learning_rate = 0.1f,
                                     .momentum = 0.9f,
                                     .use_nesterov = true,
                                     .clip = lamina::clip_by_global_norm(0.1f)};
constexpr optimizer::momentum momentum{.learning_rate = 0.1f, .momentum = 0.8f};
constexpr optimizer::adam adam{.learning_rate = 0.01f, .beta1 = 0.5f};
constexpr optimizer::adam both{.learning_rate = 0.01f,
                               .regularization = lamina::l1_decay(0.01f),
                               .clip = lamina::clip_by_global_norm(0.5f)};
constexpr optimizer::adamax adamax{.learning_rate = 0.02f};
constexpr optimizer::adagrad adagrad{.learning_rate = 0.1f};
constexpr optimizer::decayed_adagrad decayed_adagrad{.learning_rate = 0.1f};
constexpr optimizer::adadelta adadelta{.learning_rate = 1, .rho = 0.9f};  // Fluid ignores it
constexpr optimizer::rmsprop rmsprop{.learning_rate = 0.1f, .momentum = 0.5f, .centered = true};
constexpr optimizer::ftrl ftrl{.learning_rate = 0.1f, .l1 = 0.1f};
constexpr optimizer::lamb lamb{.learning_rate = 0.1f};
constexpr optimizer::lars_momentum lars{.learning_rate = 0.1f};
constexpr optimizer::proximal_gd proximal_gd{.learning_rate = 0.1f, .l2 = 0.1f};
constexpr optimizer::proximal_adagrad proximal_adagrad{.learning_rate = 0.1f};

namespace schedule = lamina::schedule;
constexpr optimizer::sgd noam{.learning_rate = schedule::noam_decay{1, 7, 0.3f}};
constexpr optimizer::sgd exponential{.learning_rate = schedule::exponential_decay{0.1f, 3, 0.3f}};
constexpr optimizer::momentum staircase{.learning_rate =
                                            schedule::exponential_decay{0.1f, 3, 0.3f, true}};
constexpr optimizer::sgd natural_exp{.learning_rate =
                                         schedule::natural_exp_decay{0.1f, 2, 0.7f, true}};
constexpr optimizer::sgd inverse_time{.learning_rate = schedule::inverse_time_decay{0.1f, 2, 3}};
constexpr optimizer::sgd polynomial{.learning_rate =
                                        schedule::polynomial_decay{0.1f, 9, 0.03f, 1.5f}};
constexpr optimizer::adam cycle{.learning_rate =
                                    schedule::polynomial_decay{0.7f, 4, 0.013f, 2, true}};
constexpr optimizer::sgd piecewise{
    .learning_rate = schedule::piecewise_decay({1, 5, 7}, {0.1f, 0.02f, 0.3f, 1e-7f})};
constexpr optimizer::sgd cosine{.learning_rate = schedule::cosine_decay{0.1f, 5, 120}};
constexpr optimizer::sgd rising{.learning_rate = schedule::linear_lr_warmup{0.1f, 3, 0.01f, 0.2f}};
constexpr optimizer::adam late{
    .learning_rate = schedule::linear_lr_warmup{
        schedule::piecewise_decay({4, 6}, {0.3f, 0.2f, 0.1f}), 7, 0.013f, 0.17f}};

}  // namespace

TEST_CASE("fluid updates: every optimizer comes back as its call of minimize") {
  check<sgd>();
  check<momentum>();
  check<adam>();
  check<adamax>();
  check<adagrad>();
  check<decayed_adagrad>();
  check<adadelta>();
  check<rmsprop>();
  check<ftrl>();
  check<lamb>();
  check<lars>();
  check<proximal_gd>();
  check<proximal_adagrad>();
}

TEST_CASE("fluid updates: factors, decay and clips are options again") {
  check<sgd, factor>();
  check<adam, factor>();
  check<decayed, factor>();
  check<by_norm>();
  check<by_all>();
  check<both>();
  check<sgd, prepared>();
  check<by_norm, prepared>();
  check<both, prepared>();
}

TEST_CASE("fluid updates: schedules are options again") {
  check<noam>();
  check<exponential>();
  check<staircase, factor>();
  check<natural_exp>();
  check<inverse_time>();
  check<polynomial>();
  check<cycle, prepared>();
  check<piecewise>();
  check<cosine>();
  check<rising>();
  check<late, factor>();
}

/// Each change of an operator of the updates is refused, or changes the text.
void check_changes(const lamina::program_message& m, const lamina::scope& values) {
  const std::string whole = text_of(m, &values);
  REQUIRE_THAT(whole, Contains(".minimize("));
  int refused = 0, written = 0;
  const auto compare = [&](const lamina::program_message& changed) {
    const std::string found = error_of(changed, &values);
    CHECK(found != "written: " + whole);
    ++(found.starts_with("written: ") ? written : refused);
  };
  for (std::size_t k = 0; k < m.blocks[0].operators.size(); ++k) {
    lamina::program_message changed = m;
    std::vector<lamina::operator_message>& operators = changed.blocks[0].operators;
    if (!lamina::detail::fluid_updates::belongs(operators[k])) continue;
    INFO("operator " << k << ", " << operators[k].type);
    for (lamina::attribute_message& a : operators[k].attributes) {
      INFO(a.name);
      const lamina::attribute_message before = a;
      a.real += 0.25f;
      a.integer = a.type == lamina::attribute_type::boolean ? 1 - a.integer : a.integer + 1;
      if (a.type == lamina::attribute_type::integers) a.integers.push_back(7);
      compare(changed);
      a = before;
    }
    for (auto* slots : {&operators[k].inputs, &operators[k].outputs})
      for (lamina::slot_message& s : *slots)
        for (std::string& name : s.arguments) {
          INFO(s.slot << " " << name);
          const std::string before = name;
          name = m.blocks[0].variables[name == m.blocks[0].variables[0].name ? 1 : 0].name;
          compare(changed);
          name = before;
        }
    operators.insert(operators.begin() + static_cast<std::ptrdiff_t>(k), operators[k]);
    compare(changed);
    operators.erase(operators.begin() + static_cast<std::ptrdiff_t>(k));
    operators.erase(operators.begin() + static_cast<std::ptrdiff_t>(k));
    compare(changed);
  }
  CHECK(refused > 100);
  CHECK(written > 0);  // another number of an option
}

TEST_CASE("fluid updates: no change of a file is lost", "[damage]") {
  lamina::scope values, rates;
  const lamina::program_message m = trained<both, prepared>::file(values);
  check_changes(m, values);
  check_changes(trained<late, factor>::file(rates), rates);
}

TEST_CASE("fluid updates: what is not a call of minimize is refused") {
  lamina::scope values;
  const lamina::program_message m = trained<adam, plain>::file(values);
  const auto changed = [&](auto&& change) {
    lamina::program_message made = m;
    change(made.blocks[0]);
    return error_of(made, &values);
  };
  lamina::scope none;
  for (const lamina::scope* without :
       {static_cast<const lamina::scope*>(nullptr), static_cast<const lamina::scope*>(&none)})
    CHECK_THAT(error_of(m, without),
               Contains("expected the value of the learning rate 'learning_rate_0', one float, "
                        "among those of the parameters, found none (operator 'adam')"));
  CHECK_THAT(changed([](auto& b) {
               for (auto& op : b.operators)
                 if (op.type == "fetch") op.inputs[0].arguments = {"learning_rate_0"};
             }),
             Contains("expected no variable 'learning_rate_0', which minimize makes, found one"));
  CHECK_THAT(changed([](auto& b) {
               for (auto& op : b.operators)
                 if (op.type == "fetch") op.inputs[0].arguments = {"fc_0.w_0_beta1_pow_acc_0"};
             }),
             Contains("expected no use of 'fc_0.w_0_beta1_pow_acc_0', which only updates in "
                      "Fluid's form have, found one (operator 'fetch')"));
  CHECK_THAT(changed([](auto& b) {
               for (auto& v : b.variables)
                 if (v.name == "fc_0.w_0_beta1_pow_acc_0") v.persistable = false;
             }),
             Contains("expected a power of beta that outlives a run, found "
                      "'fc_0.w_0_beta1_pow_acc_0'"));
  CHECK_THAT(changed([](auto& b) {
               for (auto& op : b.operators)
                 if (op.type == "mean_grad") op.type = "abs_grad";
             }),
             Contains("expected 'mean_grad', which minimize records, found another operator"));
  CHECK_THAT(changed([](auto& b) {
               std::erase_if(b.operators, [](const auto& op) {
                 const auto* role = op.attribute("op_role");
                 return role != nullptr && role->integer == 257;
               });
             }),
             Contains("expected gradients of a cost before it, found an operator of training"));
  CHECK_THAT(changed([](auto& b) {  // a parameter that is read after the updates
               auto again = b.operators[2];
               b.operators.insert(b.operators.end() - 1, again);
             }),
             Contains("expected no operator after the first update, found one"));
}

/// A program as PaddlePaddle 2 writes it: gradient operators name what they read, updates follow
/// the names of parameters, the cost has no dimension, and each operator has more attributes.
lamina::program_message as_of_paddle(lamina::program_message m) {
  const lamina::loaded_program read(m);
  const lamina::program_view p = read.view();
  std::vector<lamina::operator_message>& operators = m.blocks[0].operators;
  std::size_t k = 0;
  for (lamina::operator_message& op : operators) {
    if (op.type == "feed" || op.type == "fetch") continue;
    const lamina::operator_schema& schema = *p.operators[k++].schema;
    std::erase_if(op.inputs, [&](const lamina::slot_message& s) {
      bool known = false;
      for (int i = 0; i < schema.input_count; ++i) known = known || s.slot == schema.inputs[i].name;
      return !known;
    });
    for (const char* name : {"op_namescope", "op_device", "regularization_method"}) {
      lamina::attribute_message& a = op.attributes.emplace_back();
      a.name = name;
      a.type = lamina::attribute_type::string;
      if (a.name == "op_namescope") a.text = "/optimizer/";
    }
    for (lamina::attribute_message& a : op.attributes)
      if (op.type == "fill_constant" && a.name == "shape") a.integers.clear();
  }
  const auto updates = [](const auto& op) { return !op.output("ParamOut").empty(); };
  const auto begin = std::find_if(operators.begin(), operators.end(), updates);
  std::sort(begin, std::find_if_not(begin, operators.end(), updates),
            [](const auto& x, const auto& y) { return x.input("Param")[0] < y.input("Param")[0]; });
  for (lamina::variable_message& v : m.blocks[0].variables) {
    if (v.name == "mean_0" || v.name == "mean_0@GRAD") v.dims.clear();
    if (v.persistable) v.stop_gradient = false;
  }
  return m;
}

TEST_CASE("fluid updates: a file of PaddlePaddle comes back") {
  const auto same = [](const lamina::program_message& m, const lamina::scope& values) {
    CHECK(text_of(as_of_paddle(m), &values) == text_of(m, &values));
  };
  lamina::scope first, second, third;
  same(trained<sgd, factor>::file(first), first);
  same(trained<momentum, plain>::file(second), second);
  lamina::program_message m = trained<adam, plain>::file(third);
  same(m, third);
  m = as_of_paddle(m);
  const auto changed = [&](const char* type, auto&& change) {
    lamina::program_message made = m;
    for (lamina::operator_message& op : made.blocks[0].operators)
      if (op.type == type) change(op.attributes.back());
    return error_of(made, &third);
  };
  CHECK_THAT(changed("adam", [](auto& a) { a.text = "l2_decay"; }),
             Contains("expected attributes that lamina knows, found 'regularization_method' "
                      "(operator 'adam')"));
  CHECK_THAT(changed("mean_grad", [](auto& a) { a.name = "other"; }),
             Contains("expected attributes that lamina knows, found 'other' (operator "
                      "'mean_grad')"));
}

TEST_CASE("fluid updates: training goes on with the steps that were done") {
  using pair = trained<adam, factor>;
  lamina::executor executor;
  lamina::scope there, here;
  const lamina::loaded_program file(pair::file(there), "m");
  const lamina::feed_map feed{{"x", imported_program::random_tensor({5, 4})},
                              {"y", imported_program::random_tensor({5, 2})}};
  for (int step = 0; step < 3; ++step) executor.run(file, there, feed);
  const lamina::detail::own_training own(file, &there);
  own.copy_values(there, here);
  CHECK(here.find("learning_rate_0") == nullptr);
  CHECK(here.find("fc_0.w_0_beta1_pow_acc_0") == nullptr);
  CHECK(here.get("@LR_DECAY_COUNTER@").as<std::int64_t>().flat(0) == 2);
  const temporary_folder folder;
  const std::string at = folder.path();
  lamina::save_variables(at + "/m", there, there.names());
  lamina::write_file(at + "/m/__model__", lamina::to_proto(file.message()));
  lamina::import_model(at + "/m", at + "/net.hpp");
  CHECK_THAT(lamina::read_file(at + "/net.hpp"),
             Contains("lamina::optimizer::adam{.learning_rate = 0.01f, .beta1 = 0.5f}.minimize("));
  lamina::scope imported;
  lamina::load_safetensors(at + "/net.safetensors", imported);
  CHECK(imported.names() == here.names());
  CHECK(imported.get("@LR_DECAY_COUNTER@").as<std::int64_t>().flat(0) == 2);
  for (int step = 0; step < 3; ++step) {
    const auto wanted = executor.run(file, there, feed);
    const auto found = executor.run(pair::whole.view(), here, feed);
    CHECK(found[0].as<float>().flat(0) == Approx(wanted[0].as<float>().flat(0)));
  }
  const auto &w = there.get("fc_1.w_0").as<float>(), &again = here.get("fc_1.w_0").as<float>();
  for (std::size_t i = 0; i < w.size(); ++i)
    CHECK(again.flat(i) == Approx(w.flat(i)).epsilon(2e-5).margin(1e-6));
  // Powers that are 0 stand for many steps.
  there.var("fc_0.w_0_beta1_pow_acc_0") = lamina::tensor({1}, std::vector<float>{0});
  there.var("fc_0.w_0_beta2_pow_acc_0") = lamina::tensor({1}, std::vector<float>{0});
  own.copy_values(there, here);
  CHECK(here.get("@LR_DECAY_COUNTER@").as<std::int64_t>().flat(0) == 999999);
}
