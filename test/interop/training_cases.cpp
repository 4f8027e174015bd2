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
  to.write_step("step_lars_momentum", net, optimizer::lars_momentum{.learning_rate = 0.1f},
                options);
}

}  // namespace interop
