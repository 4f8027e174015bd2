// SPDX-License-Identifier: Apache-2.0
// The configuration of the document "PaddlePaddle v2 api design", and what it says of layers: a
// network is recorded once, whichever function records it, and no layer is lost.
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <lamina/io/program_desc_proto.hpp>
#include <lamina/io/program_text.hpp>
#include <lamina/v2.hpp>

namespace paddle = lamina::v2;
namespace layer = paddle::layer;
using namespace paddle::trainer_config_helpers;  // NOLINT: as in the document
using paddle::data_type::integer_value_sequence;

namespace {

constexpr int len_word_dict = 40;

// == v2: A configuration
// data = data_layer(name="word", size=len(word_dict))
// embedding = embedding_layer(input=data, size=128)
// conv = sequence_conv_pool(input=embedding, context_len=3, hidden_size=512)
// output = fc_layer(input=conv, size=2, act=SoftmaxActivation())
constexpr auto output = lamina::program([](lamina::block& main) {
  auto data = data_layer<"word", integer_value_sequence<len_word_dict>>(main);
  auto embedding = embedding_layer<len_word_dict, 128>(data);
  auto conv = sequence_conv_pool<3, 512>(embedding);
  auto output = fc_layer<2>(conv, {.act = SoftmaxActivation()});
  return output;
});
// ==

// == v2: Layers as functions
// def to_proto_impl(self, **kwargs):
//     args = dict()
//     args['size'] = self.type.dim
//     for each in kwargs:
//         args[each] = kwargs[each]
//     for each in self.__kwargs__:
//         args[each] = self.__kwargs__[each]
//     # 调用v2 function的地方
//     return getattr(conf_helps, self.__method_name__)(name=self.name, **args)
constexpr auto words_to_features = [](auto data) {  // arguments are kept by a function
  auto embedding = layer::embedding<len_word_dict, 128>(data);
  return paddle::networks::sequence_conv_pool<3, 512>(embedding);
};
constexpr auto topology = lamina::program([](lamina::block& main) {
  auto conv = words_to_features(layer::data<"word", integer_value_sequence<len_word_dict>>(main));
  return layer::fc<2>(conv, {.act = paddle::activation::Softmax()});
});
// lamina::to_proto(topology) is the message
// ==

// The defect that the document reports: a layer on which no other depends was not parsed.
constexpr auto with_side_layers = lamina::program([](lamina::block& main) {
  auto conv = words_to_features(layer::data<"word", integer_value_sequence<len_word_dict>>(main));
  auto label = layer::data<"label", paddle::data_type::integer_value<2>>(main);
  auto output = layer::fc<2>(conv, {.act = paddle::activation::Softmax()});
  layer::max_id(output, {.name = "decision"});
  return layer::classification_cost(output, label);
});

std::vector<std::string> types_of(const lamina::program_view& p) {
  std::vector<std::string> all;
  for (int i = 0; i < p.count.operators; ++i) all.emplace_back(p.operators[i].schema->type);
  return all;
}

}  // namespace

TEST_CASE(
    "PaddlePaddle v2 api design, the configuration computes tanh and the largest of a window") {
  CHECK(types_of(output.view()) ==
        std::vector<std::string>{"data", "lookup_table", "sequence_conv", "elementwise_add", "tanh",
                                 "sequence_pool", "mul", "elementwise_add", "softmax"});
  paddle::init();
  auto parameters = paddle::parameters::create(output);
  std::size_t count = 0;
  for (const std::string& name : parameters.names()) count += parameters.get(name).size();
  CHECK(count == len_word_dict * 128 + 3 * 128 * 512 + 512 + 512 * 2 + 2);

  const std::vector<std::vector<std::int64_t>> sentences{{3, 17, 5, 9}, {1}};
  const auto both = paddle::infer(output, parameters, sentences);
  REQUIRE(both.shape() == std::vector<std::size_t>{2, 2});
  const auto table = parameters.get("embedding_0.w_0"),
             filter = parameters.get("sequence_conv_0.w_0");
  const auto weight = parameters.get("fc_0.w_0");
  for (std::size_t s = 0; s < 2; ++s) {
    const auto& words = sentences[s];
    double logits[2] = {};
    for (std::size_t f = 0; f < 512; ++f) {
      double largest = -2;
      for (std::size_t t = 0; t < words.size(); ++t) {
        double sum = 0;
        for (std::size_t c = 0; c < 3; ++c) {  // the word before, the word, the word after
          if (t + c < 1 || t + c - 1 >= words.size()) continue;
          const auto word = static_cast<std::size_t>(words[t + c - 1]);
          for (std::size_t k = 0; k < 128; ++k)
            sum += static_cast<double>(table(word, k) * filter(c * 128 + k, f));
        }
        largest = std::max(largest, std::tanh(sum));
      }
      for (std::size_t k = 0; k < 2; ++k) logits[k] += largest * static_cast<double>(weight(f, k));
    }
    const double all = std::exp(logits[0]) + std::exp(logits[1]);
    CHECK(both(s, 0) == Approx(std::exp(logits[0]) / all).epsilon(1e-4));
    CHECK(both(s, 1) == Approx(std::exp(logits[1]) / all).epsilon(1e-4));
  }
}

TEST_CASE(
    "PaddlePaddle v2 api design, whichever way a network is written its message is the same") {
  CHECK(lamina::to_proto(topology) == lamina::to_proto(output));
  CHECK(lamina::to_proto(topology) != lamina::to_proto(with_side_layers));
}

TEST_CASE("PaddlePaddle v2 api design, a layer on which nothing depends is recorded and computed") {
  auto parameters = paddle::parameters::create(with_side_layers);
  lamina::evaluator e{parameters.model_of<std::remove_const_t<decltype(with_side_layers)>>()};
  const std::vector<std::int64_t> sentence{3, 17, 5}, label{1};
  e.forward(lamina::feed<"word">(sentence), lamina::feed<"label">(label));
  const auto probabilities = paddle::infer(output, parameters, std::vector{sentence});
  CHECK(e.activation<"decision">()(0) == (probabilities(0, 1) > probabilities(0, 0) ? 1 : 0));
}
