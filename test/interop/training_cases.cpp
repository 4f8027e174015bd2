// SPDX-License-Identifier: Apache-2.0
// Steps of training: gradients, clips, decay and every optimizer that PaddlePaddle still has.
#include <interop/case_writer.hpp>

#include <lamina/optimizer/optimizers.hpp>

namespace interop {
namespace {

/// All steps with real numbers T; `suffix` stands behind the names of their cases.
template <class T>
void write_steps(case_writer& to, const std::string& suffix) {
  namespace optimizer = lamina::optimizer;
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", T, 4>(main);
    auto h = layer::fc<5>(x, {.act = lamina::activation::tanh});
    auto p = layer::fc<3>(h, {.act = lamina::activation::softmax,
                              .param = {.learning_rate = 0.5f,
                                        .regularizer = lamina::l1_decay(0.01f),
                                        .gradient_clip = lamina::clip_by_value(0.05f)}});
    return layer::mean(layer::cross_entropy(p, layer::data<"label", integer>(main)));
  });
  const case_options options{.integers = 3, .rows = 6};
  const auto step = [&](const std::string& name, const auto& how, const case_options& with) {
    to.write_step("step_" + name + suffix, net, how, with);
  };
  step("sgd", optimizer::sgd{.learning_rate = 0.1f}, options);
  step("sgd_decay", optimizer::sgd{.learning_rate = 0.1f, .regularization = lamina::l2_decay(0.1f)},
       options);
  step("sgd_norm", optimizer::sgd{.learning_rate = 0.1f, .clip = lamina::clip_by_norm(0.1f)},
       options);
  step("sgd_global_norm",
       optimizer::sgd{.learning_rate = 0.1f, .clip = lamina::clip_by_global_norm(0.1f)}, options);
  case_options much_later = options;
  much_later.late = true;  // where PaddlePaddle's correction of the bias is 1
  step("lamb_late", optimizer::lamb{.learning_rate = 0.1f}, much_later);

  // Every optimizer, and again with inputs of 0: the gradient of the first layer is 0 then.
  case_options still = options;
  still.feed = {{"x", tensor({6, 4}, std::vector<float>(24, 0.f))},
                {"label", tensor({6, 1}, std::vector<integer>{0, 1, 2, 0, 1, 2})}};
  const auto both = [&](const std::string& name, const auto& how) {
    step(name, how, options);
    step(name + "_zero", how, still);
  };
  both("sgd_clipped_decay", optimizer::sgd{.learning_rate = 0.1f,
                                           .regularization = lamina::l1_decay(0.1f),
                                           .clip = lamina::clip_by_norm(0.1f)});
  both("momentum", optimizer::momentum{.learning_rate = 0.1f, .use_nesterov = true});
  both("adagrad", optimizer::adagrad{.learning_rate = 0.1f, .initial_accumulator_value = 0.5f});
  // PaddlePaddle multiplies epsilon by sqrt(1 - beta2^t), lamina does not.
  both("adam", optimizer::adam{.learning_rate = 0.1f, .epsilon = 1e-12f});
  both("adamax", optimizer::adamax{.learning_rate = 0.1f});
  both("adadelta", optimizer::adadelta{});
  both("rmsprop", optimizer::rmsprop{.learning_rate = 0.1f, .momentum = 0.5f, .centered = true});
  both("ftrl", optimizer::ftrl{.learning_rate = 0.1f, .l1 = 0.01f, .l2 = 0.02f});
  both("decayed_adagrad", optimizer::decayed_adagrad{.learning_rate = 0.1f});
  both("proximal_gd", optimizer::proximal_gd{.learning_rate = 0.1f, .l1 = 0.01f, .l2 = 0.02f});
  both("proximal_adagrad",
       optimizer::proximal_adagrad{.learning_rate = 0.1f, .l1 = 0.01f, .l2 = 0.02f});
  both("lamb", optimizer::lamb{.learning_rate = 0.1f});
  both("lars_momentum", optimizer::lars_momentum{.learning_rate = 0.1f});

  // Schedules, in a later step, in the first one and after many.
  namespace schedule = lamina::schedule;
  const auto scheduled = [&](const std::string& name, optimizer::learning_rate rate) {
    case_options at = options;
    for (const auto& [when, number] : {std::pair{"", 7}, {"_first", 0}, {"_much_later", 5000000}}) {
      at.step = number;
      step(name + when, optimizer::sgd{.learning_rate = rate}, at);
    }
  };
  scheduled("noam", schedule::noam_decay{.d_model = 16, .warmup_steps = 5});
  scheduled("exponential", schedule::exponential_decay{0.1f, 3, 0.3f});
  scheduled("exponential_staircase", schedule::exponential_decay{0.1f, 3, 0.3f, true});
  scheduled("natural_exp", schedule::natural_exp_decay{0.1f, 3, 0.3f});
  scheduled("inverse_time", schedule::inverse_time_decay{0.1f, 3, 0.3f});
  scheduled("polynomial", schedule::polynomial_decay{0.1f, 10, 0.01f, 2});
  scheduled("polynomial_cycle", schedule::polynomial_decay{0.1f, 4, 0.01f, 2, true});
  scheduled("piecewise", schedule::piecewise_decay({3, 7, 9}, {0.1f, 0.2f, 0.3f, 0.4f}));
  scheduled("cosine", schedule::cosine_decay{0.1f, 3, 5});
  scheduled("warmup", schedule::linear_lr_warmup{0.1f, 9, 0.01f, 0.2f});
  scheduled("warmup_over",
            schedule::linear_lr_warmup{schedule::cosine_decay{0.1f, 3, 5}, 5, 0.01f, 0.2f});
}

}  // namespace

void write_training_cases(case_writer& to) {
  write_steps<float>(to, "");
  write_steps<double>(to, "_in_double");
}

}  // namespace interop
