// SPDX-License-Identifier: Apache-2.0
// Steps of training: gradients, clips, decay and every optimizer that PaddlePaddle still has.
#include <interop/case_writer.hpp>

#include <lamina/optimizer/optimizers.hpp>

namespace interop {

void write_training_cases(case_writer& to) {
  namespace optimizer = lamina::optimizer;
  constexpr auto net = lamina::program([](block& main) {
    auto x = layer::data<"x", float, 4>(main);
    auto h = layer::fc<5>(x, {.act = lamina::activation::tanh});
    auto p = layer::fc<3>(h, {.act = lamina::activation::softmax,
                              .param = {.learning_rate = 0.5f,
                                        .regularizer = lamina::l1_decay(0.01f),
                                        .gradient_clip = lamina::clip_by_value(0.05f)}});
    return layer::mean(layer::cross_entropy(p, layer::data<"label", integer>(main)));
  });
  const case_options options{.integers = 3, .rows = 6};
  to.write_step("step_sgd", net, optimizer::sgd{.learning_rate = 0.1f}, options);
  to.write_step("step_sgd_decay", net,
                optimizer::sgd{.learning_rate = 0.1f, .regularization = lamina::l2_decay(0.1f)},
                options);
  to.write_step("step_sgd_norm", net,
                optimizer::sgd{.learning_rate = 0.1f, .clip = lamina::clip_by_norm(0.1f)}, options);
  to.write_step("step_sgd_global_norm", net,
                optimizer::sgd{.learning_rate = 0.1f, .clip = lamina::clip_by_global_norm(0.1f)},
                options);
  to.write_step("step_momentum", net,
                optimizer::momentum{.learning_rate = 0.1f, .use_nesterov = true}, options);
  to.write_step("step_adagrad", net,
                optimizer::adagrad{.learning_rate = 0.1f, .initial_accumulator_value = 0.5f},
                options);
  // PaddlePaddle multiplies epsilon by sqrt(1 - beta2^t), lamina does not.
  to.write_step("step_adam", net, optimizer::adam{.learning_rate = 0.1f, .epsilon = 1e-12f},
                options);
  to.write_step("step_adamax", net, optimizer::adamax{.learning_rate = 0.1f}, options);
  to.write_step("step_adadelta", net, optimizer::adadelta{}, options);
  to.write_step("step_rmsprop", net,
                optimizer::rmsprop{.learning_rate = 0.1f, .momentum = 0.5f, .centered = true},
                options);
  to.write_step("step_ftrl", net, optimizer::ftrl{.learning_rate = 0.1f, .l1 = 0.01f, .l2 = 0.02f},
                options);
  to.write_step("step_decayed_adagrad", net, optimizer::decayed_adagrad{.learning_rate = 0.1f},
                options);
  to.write_step("step_proximal_gd", net,
                optimizer::proximal_gd{.learning_rate = 0.1f, .l1 = 0.01f, .l2 = 0.02f}, options);
  to.write_step("step_proximal_adagrad", net,
                optimizer::proximal_adagrad{.learning_rate = 0.1f, .l1 = 0.01f, .l2 = 0.02f},
                options);
  to.write_step("step_lamb", net, optimizer::lamb{.learning_rate = 0.1f}, options);
  case_options much_later = options;
  much_later.late = true;  // where PaddlePaddle's correction of the bias is 1
  to.write_step("step_lamb_late", net, optimizer::lamb{.learning_rate = 0.1f}, much_later);
  to.write_step("step_lars_momentum", net, optimizer::lars_momentum{.learning_rate = 0.1f},
                options);
  // Schedules, in a later step.
  namespace schedule = lamina::schedule;
  case_options later = options;
  later.step = 7;
  const auto scheduled = [&](const char* name, optimizer::learning_rate rate) {
    to.write_step(name, net, optimizer::sgd{.learning_rate = rate}, later);
  };
  scheduled("step_noam", schedule::noam_decay{.d_model = 16, .warmup_steps = 5});
  scheduled("step_exponential", schedule::exponential_decay{0.1f, 3, 0.3f});
  scheduled("step_exponential_staircase", schedule::exponential_decay{0.1f, 3, 0.3f, true});
  scheduled("step_natural_exp", schedule::natural_exp_decay{0.1f, 3, 0.3f});
  scheduled("step_inverse_time", schedule::inverse_time_decay{0.1f, 3, 0.3f});
  scheduled("step_polynomial", schedule::polynomial_decay{0.1f, 10, 0.01f, 2});
  scheduled("step_polynomial_cycle", schedule::polynomial_decay{0.1f, 4, 0.01f, 2, true});
  scheduled("step_piecewise", schedule::piecewise_decay({3, 7, 9}, {0.1f, 0.2f, 0.3f, 0.4f}));
  scheduled("step_cosine", schedule::cosine_decay{0.1f, 3, 5});
  scheduled("step_warmup", schedule::linear_lr_warmup{0.1f, 9, 0.01f, 0.2f});
  scheduled("step_warmup_over",
            schedule::linear_lr_warmup{schedule::cosine_decay{0.1f, 3, 5}, 5, 0.01f, 0.2f});
}

}  // namespace interop
