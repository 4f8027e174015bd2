// SPDX-License-Identifier: Apache-2.0
// Whole nets: perceptron, LeNet, word2vec, a convolution of sentences, loops and branches.
#include <interop/case_writer.hpp>

#include <lamina/layers/sequence_conv_pool.hpp>
#include <lamina/layers/tensor_array.hpp>
#include <lamina/layers/while_loop.hpp>

namespace interop {

void write_net_cases(case_writer& to) {
  using lamina::activation;
  using lamina::window;
  to.write("net_perceptron", lamina::program([](block& main) {
             auto x = layer::data<"x", float, 8>(main);
             auto h = layer::fc<6>(layer::fc<7>(x, {.act = activation::relu}),
                                   {.act = activation::tanh});
             auto p = layer::fc<4>(h, {.act = activation::softmax});
             return layer::mean(layer::cross_entropy(p, layer::data<"label", integer>(main)));
           }));
  to.write("net_lenet", lamina::program([](block& main) {
             auto x = layer::data<"image", float, 1, 16, 16>(main);
             auto a = layer::pool2d<2, window{.stride = 2}>(
                 layer::conv2d<4, 5>(x, {.act = activation::relu}));
             auto b = layer::pool2d<2, window{.stride = 2}>(
                 layer::conv2d<6, 3>(a, {.act = activation::relu}));
             auto logits = layer::fc<4>(b);
             return layer::mean(
                 layer::softmax_with_cross_entropy(logits, layer::data<"label", integer>(main)));
           }));
  to.write("net_word2vec", lamina::program([](block& main) {
             const auto word = [](auto ids) {
               return layer::embedding<9, 4>(ids, {.param = {.name = "shared_w"}});
             };
             auto all = layer::concat<1>(std::tuple{word(layer::data<"first", integer>(main)),
                                                    word(layer::data<"second", integer>(main)),
                                                    word(layer::data<"third", integer>(main))});
             auto p = layer::fc<9>(layer::fc<5>(all, {.act = activation::sigmoid}),
                                   {.act = activation::softmax});
             return layer::mean(layer::cross_entropy(p, layer::data<"next", integer>(main)));
           }),
           {.integers = 9});
  to.write("net_sentiment", lamina::program([](block& main) {
             auto e = layer::embedding<9, 4>(layer::sequence<"words", integer>(main));
             auto a = layer::sequence_pool(layer::sequence_conv<5, 3>(e, {.act = activation::tanh}),
                                           {.type = lamina::pool::max});
             auto b = layer::sequence_pool(layer::sequence_conv<5, 4>(e, {.act = activation::tanh}),
                                           {.type = lamina::pool::max});
             auto p = layer::fc<2>({a, b}, {.act = activation::softmax});
             return layer::mean(layer::cross_entropy(p, layer::data<"label", integer>(main)));
           }),
           {.integers = 2});
  to.write("net_while", lamina::program([](block& main) {
             auto x = layer::data<"x", float, 3>(main);
             auto i = layer::fill_constant<integer>(main, 0),
                  n = layer::fill_constant<integer>(main, 5);
             auto going = layer::less_than(i, n);
             auto h = layer::scale(x, 1);
             layer::while_loop(going, [&](block&) {
               h = layer::tanh(layer::fc<3>(h));
               layer::increment(i);
               layer::less_than(i, n, going);
             });
             return std::tuple{layer::mean(h), h};
           }),
           {.gradients = false});
}

}  // namespace interop
