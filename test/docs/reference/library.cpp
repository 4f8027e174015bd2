// SPDX-License-Identifier: Apache-2.0
// Examples of names other than layers; the reference of the documentation site shows them.
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "show.hpp"

#include <lamina/core/files/file.hpp>
#include <lamina/core/files/md5.hpp>
#include <lamina/inspect/plan_text.hpp>
#include <lamina/io/fluid/to_program_message.hpp>
#include <lamina/io/npy.hpp>
#include <lamina/io/parameter_tar.hpp>
#include <lamina/io/program_desc_json.hpp>
#include <lamina/io/program_desc_proto.hpp>
#include <lamina/lamina.hpp>
#include <lamina/metric/metric.hpp>
#include <lamina/optimizer/sample_schedule.hpp>

namespace {

constexpr auto net = lamina::program([](block& main) {
  auto x = layer::data<"x", float, 4>(main);
  return layer::mean(layer::dropout(layer::fc<2>(x), 0.5f));
});

constexpr float values[] = {1, 2, 3, 4};

/// Prints values in one line.
template <class... T>
void print(const T&... values) {
  std::string text;
  auto add = [&](const auto& value) {
    if (!text.empty()) text += ' ';
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
      text += text_of(value);
    else
      text += value;
  };
  (add(values), ...);
  std::cout << text << '\n';
}
void done() { std::cout << "@" << std::endl; }

}  // namespace

int main() {
  // Example: init::truncated_normal
  show([](block& main) {
    auto w = layer::create_parameter<float, 2, 2>(
        main, {.initializer = lamina::init::truncated_normal(0, 0.1f)});
    return w;
  });
  // = [[0.1659, 0.105], [-0.07069, 0.1639]]
  // Example: init::xavier
  show([](block& main) {
    auto w = layer::create_parameter<float, 2, 2>(main, {.initializer = lamina::init::xavier()});
    return w;
  });
  // = [[0.9559, 0.9668], [0.21, 0.5175]]
  // Example: init::msra
  show([](block& main) {
    auto w = layer::create_parameter<float, 2, 2>(main, {.initializer = lamina::init::msra()});
    return w;
  });
  // = [[1.352, 1.367], [0.297, 0.7319]]
  // Example: init::array
  show([](block& main) {
    auto w =
        layer::create_parameter<float, 2, 2>(main, {.initializer = lamina::init::array(values)});
    return w;
  });
  // = [[1, 2], [3, 4]]
  // Example: optimizer::adadelta
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 2>(main);
        auto w =
            layer::create_parameter<float, 2>(main, {.initializer = lamina::init::constant(1)});
        lamina::optimizer::adadelta{}.minimize(layer::mean(layer::reduce_sum<1>(x * w)));
        return w;
      },
      {{"x", rows({{1, -2}})}});
  // = [0.9955, 1.004]
  // Example: optimizer::adamax
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 2>(main);
        auto w =
            layer::create_parameter<float, 2>(main, {.initializer = lamina::init::constant(1)});
        lamina::optimizer::adamax{.learning_rate = 0.1f}.minimize(
            layer::mean(layer::reduce_sum<1>(x * w)));
        return w;
      },
      {{"x", rows({{1, -2}})}});
  // = [0.9, 1.1]
  // Example: optimizer::decayed_adagrad
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 2>(main);
        auto w =
            layer::create_parameter<float, 2>(main, {.initializer = lamina::init::constant(1)});
        lamina::optimizer::decayed_adagrad{.learning_rate = 0.1f}.minimize(
            layer::mean(layer::reduce_sum<1>(x * w)));
        return w;
      },
      {{"x", rows({{1, -2}})}});
  // = [0.5528, 1.447]
  // Example: optimizer::ftrl
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 2>(main);
        auto w =
            layer::create_parameter<float, 2>(main, {.initializer = lamina::init::constant(1)});
        lamina::optimizer::ftrl{.learning_rate = 0.1f}.minimize(
            layer::mean(layer::reduce_sum<1>(x * w)));
        return w;
      },
      {{"x", rows({{1, -2}})}});
  // = [0.9, 1.1]
  // Example: optimizer::lamb
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 2>(main);
        auto w =
            layer::create_parameter<float, 2>(main, {.initializer = lamina::init::constant(1)});
        lamina::optimizer::lamb{.learning_rate = 0.1f}.minimize(
            layer::mean(layer::reduce_sum<1>(x * w)));
        return w;
      },
      {{"x", rows({{1, -2}})}});
  // = [0.8997, 1.1]
  // Example: optimizer::lars_momentum
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 2>(main);
        auto w =
            layer::create_parameter<float, 2>(main, {.initializer = lamina::init::constant(1)});
        lamina::optimizer::lars_momentum{.learning_rate = 0.1f}.minimize(
            layer::mean(layer::reduce_sum<1>(x * w)));
        return w;
      },
      {{"x", rows({{1, -2}})}});
  // = [0.9999, 1]
  // Example: optimizer::proximal_adagrad
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 2>(main);
        auto w =
            layer::create_parameter<float, 2>(main, {.initializer = lamina::init::constant(1)});
        lamina::optimizer::proximal_adagrad{.learning_rate = 0.1f, .l1 = 0.1f}.minimize(
            layer::mean(layer::reduce_sum<1>(x * w)));
        return w;
      },
      {{"x", rows({{1, -2}})}});
  // = [0.89, 1.09]
  // Example: optimizer::proximal_gd
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 2>(main);
        auto w =
            layer::create_parameter<float, 2>(main, {.initializer = lamina::init::constant(1)});
        lamina::optimizer::proximal_gd{.learning_rate = 0.1f, .l1 = 0.1f}.minimize(
            layer::mean(layer::reduce_sum<1>(x * w)));
        return w;
      },
      {{"x", rows({{1, -2}})}});
  // = [0.89, 1.19]
  // Example: optimizer::rmsprop
  show(
      [](block& main) {
        auto x = layer::data<"x", float, 2>(main);
        auto w =
            layer::create_parameter<float, 2>(main, {.initializer = lamina::init::constant(1)});
        lamina::optimizer::rmsprop{.learning_rate = 0.1f}.minimize(
            layer::mean(layer::reduce_sum<1>(x * w)));
        return w;
      },
      {{"x", rows({{1, -2}})}});
  // = [0.5528, 1.447]
  // End
  // Example: schedule::noam_decay
  {
    const lamina::optimizer::learning_rate rate =
        lamina::schedule::noam_decay{.d_model = 4, .warmup_steps = 10};
    print(rate.at(0), rate.at(5), rate.at(20));
  }
  // = 0.01581 0.09487 0.1091
  // End
  done();
  // Example: schedule::natural_exp_decay
  {
    const lamina::optimizer::learning_rate rate = lamina::schedule::natural_exp_decay{
        .learning_rate = 1, .decay_steps = 10, .decay_rate = 0.5f};
    print(rate.at(0), rate.at(5), rate.at(20));
  }
  // = 1 0.7788 0.3679
  // End
  done();
  // Example: schedule::inverse_time_decay
  {
    const lamina::optimizer::learning_rate rate = lamina::schedule::inverse_time_decay{
        .learning_rate = 1, .decay_steps = 10, .decay_rate = 0.5f};
    print(rate.at(0), rate.at(5), rate.at(20));
  }
  // = 1 0.8 0.5
  // End
  done();
  // Example: schedule::one_cycle
  {
    const lamina::optimizer::learning_rate rate =
        lamina::schedule::one_cycle{.max_lr = 1, .total_steps = 100};
    print(rate.at(0), rate.at(5), rate.at(20));
  }
  // = 0.04 0.1087 0.7894
  // End
  done();
  // Example: schedule::v2::poly
  {
    const lamina::optimizer::learning_rate rate =
        lamina::schedule::v2::poly{.learning_rate = 1, .a = 0.1, .b = 1, .batch_size = 10};
    print(rate.at(0), rate.at(5), rate.at(20));
  }
  // = 0.5 0.1429 0.04545
  // End
  done();
  // Example: schedule::v2::caffe_poly
  {
    const lamina::optimizer::learning_rate rate =
        lamina::schedule::v2::caffe_poly{.learning_rate = 1, .a = 1000, .b = 1, .batch_size = 10};
    print(rate.at(0), rate.at(5), rate.at(20));
  }
  // = 0.99 0.94 0.79
  // End
  done();
  // Example: schedule::v2::exp
  {
    const lamina::optimizer::learning_rate rate =
        lamina::schedule::v2::exp{.learning_rate = 1, .a = 0.5, .b = 100, .batch_size = 10};
    print(rate.at(0), rate.at(5), rate.at(20));
  }
  // = 0.933 0.6598 0.2333
  // End
  done();
  // Example: schedule::v2::discexp
  {
    const lamina::optimizer::learning_rate rate =
        lamina::schedule::v2::discexp{.learning_rate = 1, .a = 0.5, .b = 100, .batch_size = 10};
    print(rate.at(0), rate.at(5), rate.at(20));
  }
  // = 1 1 0.25
  // End
  done();
  // Example: schedule::v2::linear
  {
    const lamina::optimizer::learning_rate rate =
        lamina::schedule::v2::linear{.learning_rate = 1, .a = 0.001, .b = 0.5, .batch_size = 10};
    print(rate.at(0), rate.at(5), rate.at(20));
  }
  // = 0.99 0.94 0.79
  // End
  done();
  // Example: schedule::v2::manual
  {
    constexpr std::int64_t segments[] = {100, 200};
    constexpr float rates[] = {1, 0.5f};
    const lamina::optimizer::learning_rate rate =
        lamina::schedule::v2::manual(1, 10, segments, rates);
    print(rate.at(0), rate.at(5), rate.at(25));
  }
  // = 1 1 0.5
  // End
  done();
  // Example: schedule::v2::pass_manual
  {
    constexpr std::int64_t segments[] = {1, 2};
    constexpr float rates[] = {1, 0.5f};
    const lamina::optimizer::learning_rate rate =
        lamina::schedule::v2::pass_manual(1, 10, segments, rates);
    print(rate.at(0), rate.at(5), rate.at(25));
  }
  // = 1 1 0.5
  // End
  done();
  // Example: reader::chain
  {
    const std::vector<int> a{1, 2, 3}, b{4, 5, 6};
    for (int x : lamina::reader::begin_pass(lamina::reader::chain(a, b))) print(x);
  }
  // = 1
  // = 2
  // = 3
  // = 4
  // = 5
  // = 6
  // End
  done();
  // Example: reader::compose
  {
    const std::vector<int> a{1, 2, 3}, b{4, 5, 6};
    for (const auto& [x, y] : lamina::reader::begin_pass(lamina::reader::compose(a, b)))
      print(x, y);
  }
  // = 1 4
  // = 2 5
  // = 3 6
  // End
  done();
  // Example: reader::cache
  {
    const std::vector<int> a{1, 2, 3}, b{4, 5, 6};
    auto kept = a | lamina::reader::cache();  // reads `a` once
    for (int pass = 0; pass < 2; ++pass)
      for (int x : lamina::reader::begin_pass(kept, pass)) print(x);
  }
  // = 1
  // = 2
  // = 3
  // = 1
  // = 2
  // = 3
  // End
  done();
  // Example: reader::k_fold
  {
    const std::vector<int> a{1, 2, 3}, b{4, 5, 6};
    auto [training, validation] = lamina::reader::chain(a, b) | lamina::reader::k_fold(3, 0);
    for (int x : lamina::reader::begin_pass(validation)) print(x);
  }
  // = 1
  // = 4
  // End
  done();
  // Example: metric::confusion_matrix
  {
    const std::vector<int> found{1, 0, 1, 1}, labels{1, 0, 0, 1};
    lamina::metric::confusion_matrix counts(2);
    counts.update(found, labels);
    print(counts.accuracy(), counts.precision(1), counts.recall(1));
  }
  // = 0.75 0.6667 1
  // End
  done();
  // Example: metric::precision
  {
    const std::vector<int> found{1, 0, 1, 1}, labels{1, 0, 0, 1};
    lamina::metric::precision precision;
    precision.update(found, labels);
    print(precision.eval());
  }
  // = 0.6667
  // End
  done();
  // Example: metric::recall
  {
    const std::vector<int> found{1, 0, 1, 1}, labels{1, 0, 0, 1};
    lamina::metric::recall recall;
    recall.update(found, labels);
    print(recall.eval());
  }
  // = 1
  // End
  done();
  // Example: metric::auc
  {
    lamina::metric::auc auc;
    auc.update(std::vector{0.1f, 0.4f, 0.35f, 0.8f}, std::vector{0, 0, 1, 1});
    print(auc.eval());
  }
  // = 0.75
  // End
  done();
  // Example: metric::accuracy
  {
    lamina::metric::accuracy accuracy;
    accuracy.update(0.5, 10);  // of a mini-batch of 10
    accuracy.update(1, 30);
    print(accuracy.eval());
  }
  // = 0.875
  // End
  done();
  // Example: metric::weighted_average
  {
    lamina::metric::weighted_average average;
    average.update(2, 1);
    average.update(5, 3);
    print(average.eval());
  }
  // = 4.25
  // End
  done();
  // Example: metric::edit_distance
  {
    lamina::metric::edit_distance distance;
    distance.update(std::vector{0.f, 1.f, 3.f});
    print(distance.eval().distance, distance.eval().error_rate);
  }
  // = 1.333 0.6667
  // End
  done();
  // Example: save_npy
  {
    lamina::save_npy("a.npy", lamina::tensor({2, 2}, std::vector<float>{1, 2, 3, 4}));
    print(lamina::load_npy("a.npy").as<float>()(1, 0));
  }
  // = 3
  // End
  done();
  // Example: load_npy
  {
    lamina::save_npy("b.npy", lamina::tensor({3}, std::vector<std::int64_t>{1, 2, 3}));
    print(lamina::load_npy("b.npy").size());
  }
  // = 3
  // End
  done();
  // Example: md5
  {
    lamina::md5 sum;
    sum.add("abc");
    print(sum.digits());
  }
  // = 900150983cd24fb0d6963f7d28e17f72
  // End
  done();
  // Example: md5file
  {
    lamina::write_file("abc.txt", "abc");
    print(lamina::md5file("abc.txt"));
  }
  // = 900150983cd24fb0d6963f7d28e17f72
  // End
  done();
  // Example: transform::clone_for_test
  { print(lamina::transform::clone_for_test(net).desc.count.operators, net.desc.count.operators); }
  // = 5 5
  // End
  done();
  // Example: transform::minimize
  {
    constexpr auto step = lamina::transform::minimize(net, lamina::optimizer::sgd{});
    print(step.desc.count.operators > net.desc.count.operators);
  }
  // = 1
  // End
  done();
  // Example: to_json
  {
    const nlohmann::json json = lamina::to_json(lamina::to_program_message(net));
    print(json["blocks"].size());
  }
  // = 1
  // End
  done();
  // Example: from_json
  {
    const auto read = lamina::from_json(lamina::to_json(lamina::to_program_message(net)));
    print(read.blocks.size());
  }
  // = 1
  // End
  done();
  // Example: to_proto
  { print(lamina::to_proto(net).size() > 100); }
  // = 1
  // End
  done();
  // Example: from_proto
  { print(lamina::from_proto(lamina::to_proto(net)).blocks.size()); }
  // = 1
  // End
  done();
  // Example: plan_text
  {
    const std::string plan = lamina::plan_text(net);
    print(plan.substr(0, plan.find('\n')));
  }
  // = 0 kernel 0 gemm batchx2: mul + elementwise_add -> fc_0.tmp_1
  // End
  done();
  // Example: to_tar
  {
    lamina::model model{net};
    lamina::to_tar("net.tar", model);
    print(lamina::from_tar("net.tar").size());
  }
  // = 2
  // End
  done();
  // Example: from_tar
  {
    lamina::model model{net};
    lamina::to_tar("net2.tar", model);
    lamina::from_tar("net2.tar", model);
    print(model.get(1).size());  // the bias
  }
  // = 2
  // End
  done();
}
