// SPDX-License-Identifier: Apache-2.0
// Options of optimizers that no run can work with.
// Source: ml-explore/mlx#4058, tinygrad/tinygrad#15724.
#include <limits>
#include <string>

#include <catch2/catch.hpp>

#include <lamina/optimizer/optimizers.hpp>
#include <lamina/optimizer/option_check.hpp>

namespace opt = lamina::optimizer;

namespace {

template <class Opt>
std::string fault(const Opt& of) {
  try {
    opt::require_options(of);
  } catch (const lamina::error& e) {
    return e.what();
  }
  return "";
}

constexpr float none = std::numeric_limits<float>::quiet_NaN();

constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("an optimizer's options are in their ranges") {
  CHECK(fault(opt::adam{.beta1 = 1}) ==
        "lamina: adam: beta1: expected at least 0 and below 1, found 1");
  for (const float wrong : {-0.1f, 1.0f, 1.5f, none, infinity, -infinity}) {
    CHECK(fault(opt::adam{.beta2 = wrong}).find("beta2") != std::string::npos);
    CHECK(fault(opt::adamax{.beta1 = wrong}).find("beta1") != std::string::npos);
    CHECK(fault(opt::lamb{.beta2 = wrong}).find("beta2") != std::string::npos);
    CHECK(fault(opt::adadelta{.learning_rate = 1, .rho = wrong}).find("rho") != std::string::npos);
    CHECK(fault(opt::rmsprop{.learning_rate = 1, .rho = wrong}).find("rho") != std::string::npos);
    CHECK(fault(opt::decayed_adagrad{.learning_rate = 1, .decay = wrong}).find("decay") !=
          std::string::npos);
  }
  for (const float wrong : {-1.0f, none, infinity}) {
    CHECK(fault(opt::adamw{.weight_decay = wrong}).find("weight_decay") != std::string::npos);
    CHECK(fault(opt::sgd{.learning_rate = wrong}).find("sgd: learning_rate") != std::string::npos);
    CHECK(fault(opt::momentum{.learning_rate = 1, .momentum = wrong}).find("momentum: momentum") !=
          std::string::npos);
    CHECK(fault(opt::ftrl{.learning_rate = 1, .l1 = wrong}).find("l1") != std::string::npos);
    CHECK(fault(opt::adagrad{.learning_rate = 1, .epsilon = wrong}).find("epsilon") !=
          std::string::npos);
    CHECK(fault(opt::sgd{.learning_rate = 1, .regularization = lamina::l2_decay(wrong)})
              .find("regularization") != std::string::npos);
  }
  CHECK(fault(opt::sgd{.learning_rate = 1, .clip = lamina::clip_by_value(1, -1)}).find("clip") !=
        std::string::npos);
  CHECK(fault(opt::sgd{.learning_rate = 1, .clip = lamina::clip_by_norm(-1)}).find("clip") !=
        std::string::npos);
  CHECK(
      fault(opt::sgd{.learning_rate = 1, .clip = lamina::clip_by_global_norm(none)}).find("clip") !=
      std::string::npos);
}

TEST_CASE("the rates of a schedule are in their ranges") {
  namespace schedule = lamina::schedule;
  CHECK(fault(opt::sgd{.learning_rate = schedule::piecewise_decay({10}, {0.1f, -0.1f})}) ==
        "lamina: sgd: values: expected a finite number of at least 0, found -0.1");
  CHECK(fault(opt::sgd{.learning_rate =
                           schedule::exponential_decay{.learning_rate = 0.1f, .decay_rate = -0.5f}})
            .find("decay_rate") != std::string::npos);
  CHECK(fault(opt::sgd{.learning_rate =
                           schedule::linear_lr_warmup{
                               .learning_rate = 0.1f, .warmup_steps = 5, .start_lr = none}})
            .find("start_lr") != std::string::npos);
  CHECK(fault(opt::sgd{.learning_rate = schedule::piecewise_decay({10}, {0.1f, 0})}) == "");
}

TEST_CASE("options at the ends of their ranges are taken") {
  CHECK(fault(opt::adam{.learning_rate = 0, .beta1 = 0, .beta2 = 0, .epsilon = 0}) == "");
  CHECK(fault(opt::momentum{.learning_rate = 1, .momentum = 0}) == "");
  CHECK(fault(opt::sgd{.learning_rate = 1, .clip = lamina::clip_by_value(-infinity, infinity)}) ==
        "");
  CHECK(fault(opt::ftrl{.learning_rate = 1, .lr_power = 0}) == "");
  static_assert(!opt::fault_of_options(opt::adam{}).is_some());
  static_assert(opt::fault_of_options(opt::adam{.beta1 = 1}).is_some());
}
