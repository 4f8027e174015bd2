// SPDX-License-Identifier: Apache-2.0
// A network by the names of PaddlePaddle's configurations, and by functions: it is recorded once,
// whichever function records it, and no layer is lost.
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/inspect/program_text.hpp>
#include <lamina/io/program_desc_proto.hpp>
#include <lamina/v2.hpp>

namespace paddle = lamina::v2;
namespace layer = paddle::layer;
using namespace paddle::trainer_config_helpers;  // NOLINT: as in a configuration
using paddle::data_type::integer_value_sequence;

namespace {

constexpr int vocabulary = 60;

// == configurations: A configuration
// tokens = data_layer(name="tokens", size=60)
// vectors = embedding_layer(input=tokens, size=24)
// narrow = sequence_conv_pool(input=vectors, context_len=5, hidden_size=16)
// wide = sequence_conv_pool(input=vectors, context_len=7, hidden_size=20)
// topic = fc_layer(input=[narrow, wide], size=3, act=SoftmaxActivation())
// outputs(topic)
constexpr auto topics = lamina::program([](lamina::block& main) {
  auto tokens = data_layer<"tokens", integer_value_sequence<vocabulary>>(main);
  auto vectors = embedding_layer<vocabulary, 24>(tokens);
  auto narrow = sequence_conv_pool<5, 16>(vectors);
  auto wide = sequence_conv_pool<7, 20>(vectors);
  auto topic = fc_layer<3>(std::tuple{narrow, wide}, {.act = SoftmaxActivation()});
  return topic;
});
// ==

// == configurations: Layers as functions
// def topic_of(tokens):
//     vectors = paddle.layer.embedding(input=tokens, size=24)
//     features = [
//         paddle.networks.sequence_conv_pool(input=vectors, context_len=n, hidden_size=size)
//         for n, size in ((5, 16), (7, 20))
//     ]
//     return paddle.layer.fc(input=features, size=3, act=paddle.activation.Softmax())
//
// tokens = paddle.layer.data(name="tokens", type=paddle.data_type.integer_value_sequence(60))
// topology = paddle.topology.Topology(topic_of(tokens))
constexpr auto topic_of = [](auto tokens) {
  auto vectors = layer::embedding<vocabulary, 24>(tokens);
  auto narrow = paddle::networks::sequence_conv_pool<5, 16>(vectors);
  auto wide = paddle::networks::sequence_conv_pool<7, 20>(vectors);
  return layer::fc<3>(std::tuple{narrow, wide}, {.act = paddle::activation::Softmax()});
};
constexpr auto topology = lamina::program([](lamina::block& main) {
  return topic_of(layer::data<"tokens", integer_value_sequence<vocabulary>>(main));
});
// ==

// PaddlePaddle v2 records the layers on which its outputs depend, and these alone.
constexpr auto with_side_layer = lamina::program([](lamina::block& main) {
  auto topic = topic_of(layer::data<"tokens", integer_value_sequence<vocabulary>>(main));
  auto label = layer::data<"label", paddle::data_type::integer_value<3>>(main);
  layer::max_id(topic, {.name = "decision"});
  return layer::classification_cost(topic, label);
});

std::vector<std::string> types_of(const lamina::program_view& p) {
  std::vector<std::string> all;
  for (int i = 0; i < p.count.operators; ++i) all.emplace_back(p.operators[i].schema->type);
  return all;
}

}  // namespace

TEST_CASE("Configurations, a network computes tanh and the largest of a window") {
  CHECK(types_of(topics.view()) ==
        std::vector<std::string>{"data", "lookup_table", "sequence_conv", "elementwise_add", "tanh",
                                 "sequence_pool", "sequence_conv", "elementwise_add", "tanh",
                                 "sequence_pool", "mul", "mul", "sum", "elementwise_add",
                                 "softmax"});
  paddle::init();
  auto parameters = paddle::parameters::create(topics);
  std::size_t count = 0;
  for (const std::string& name : parameters.names()) count += parameters.get(name).size();
  CHECK(count == vocabulary * 24 + (5 * 24 * 16 + 16) + (7 * 24 * 20 + 20) + (16 + 20) * 3 + 3);

  const std::vector<std::vector<std::int64_t>> sentences{{3, 17, 55, 9, 17, 28}, {41}};
  const auto both = paddle::infer(topics, parameters, sentences);
  REQUIRE(both.shape() == std::vector<std::size_t>{2, 3});
  struct convolution {
    std::size_t window, filters;
    const char *filter, *weight;
  };
  const auto table = parameters.get("embedding_0.w_0");
  for (std::size_t s = 0; s < 2; ++s) {
    const auto& tokens = sentences[s];
    double logits[3] = {};
    for (const convolution& c : {convolution{5, 16, "sequence_conv_0.w_0", "fc_0.w_0"},
                                 convolution{7, 20, "sequence_conv_1.w_0", "fc_0.w_1"}}) {
      const auto filter = parameters.get(c.filter), weight = parameters.get(c.weight);
      const std::size_t before = c.window / 2;  // tokens of a window before the middle one
      for (std::size_t f = 0; f < c.filters; ++f) {
        double largest = -2;
        for (std::size_t t = 0; t < tokens.size(); ++t) {
          double sum = 0;
          for (std::size_t i = 0; i < c.window; ++i) {
            if (t + i < before || t + i - before >= tokens.size()) continue;
            const auto token = static_cast<std::size_t>(tokens[t + i - before]);
            for (std::size_t k = 0; k < 24; ++k)
              sum += static_cast<double>(table(token, k) * filter(i * 24 + k, f));
          }
          largest = std::max(largest, std::tanh(sum));
        }
        for (std::size_t k = 0; k < 3; ++k)
          logits[k] += largest * static_cast<double>(weight(f, k));
      }
    }
    const double all = std::exp(logits[0]) + std::exp(logits[1]) + std::exp(logits[2]);
    for (std::size_t k = 0; k < 3; ++k)
      CHECK(both(s, k) == Approx(std::exp(logits[k]) / all).epsilon(1e-4));
  }
}

TEST_CASE("Configurations, whichever way a network is written its message is the same") {
  // == configurations: Layers as functions
  //
  // message = topology.proto()
  const std::string message = lamina::to_proto(topology);
  // ==
  CHECK(message == lamina::to_proto(topics));
  CHECK(message != lamina::to_proto(with_side_layer));
}

TEST_CASE("Configurations, a layer on which nothing depends is recorded and computed") {
  auto parameters = paddle::parameters::create(with_side_layer);
  lamina::evaluator e{parameters.model_of<std::remove_const_t<decltype(with_side_layer)>>()};
  for (const std::vector<std::int64_t>& tokens :
       {std::vector<std::int64_t>{3, 17, 55}, std::vector<std::int64_t>{8, 8, 21, 40}}) {
    const std::vector<std::int64_t> label{1};
    e.forward(lamina::feed<"tokens">(tokens), lamina::feed<"label">(label));
    const auto probabilities =
        paddle::infer(topics, parameters, std::vector<std::vector<std::int64_t>>{tokens});
    std::int64_t largest = 0;
    for (std::size_t k = 1; k < 3; ++k)
      if (probabilities(0, k) > probabilities(0, static_cast<std::size_t>(largest)))
        largest = static_cast<std::int64_t>(k);
    CHECK(e.activation<"decision">()(0) == largest);
  }
}
