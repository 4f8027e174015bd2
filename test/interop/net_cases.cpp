// SPDX-License-Identifier: Apache-2.0
// Whole nets: perceptron, LeNet, word2vec, a convolution of sentences, loops and branches.
#include <interop/case_writer.hpp>

#include <lamina/layers/sequence_conv_pool.hpp>
#include <lamina/operators/control/array/layer.hpp>
#include <lamina/operators/control/block/layer_conditional.hpp>
#include <lamina/operators/control/block/layer_while.hpp>
#include <lamina/operators/control/rank_table/layer.hpp>
#include <lamina/operators/control/rnn/layer_dynamic.hpp>
#include <lamina/operators/control/rnn/layer_static.hpp>
#include <lamina/operators/control/split_merge/layer.hpp>
#include <lamina/transform/gradients.hpp>

namespace interop {
namespace {

void write_recurrent_cases(case_writer& to) {
  to.write("net_dynamic_rnn", []<class T>(block& main) {
    auto x = layer::sequence<"x", T, 3>(main);
    auto start = layer::tanh(layer::data<"start", T, 4>(main));
    auto [out, last] = layer::dynamic_rnn(x, [&](auto& step) {
      auto h = step.memory(start);
      auto next = layer::tanh(layer::fc<4>(std::tuple{step.input(x), h}));
      step.update(h, next);
      return std::tuple{next, step.last(h)};
    });
    return squared(std::tuple{layer::sequence_pool(out), last});
  });
  // The same with nothing but operators of Fluid.
  to.write("net_dynamic_rnn_outputs", []<class T>(block& main) {
    auto x = layer::sequence<"x", T, 3>(main);
    auto start = layer::tanh(layer::data<"start", T, 4>(main));
    auto out = layer::dynamic_rnn(x, [&](auto& step) {
      auto h = step.memory(start);
      auto next = layer::tanh(layer::fc<4>(std::tuple{step.input(x), h}));
      step.update(h, next);
      return next;
    });
    return squared(layer::sequence_pool(out));
  });
}

void write_step_cases(case_writer& to) {
  // A loop that walks over sequences itself.
  to.write("net_rank_table", []<class T>(block& main) {
    auto x = layer::sequence<"x", T, 3>(main);
    auto table = layer::lod_rank_table(x);
    auto steps = layer::max_sequence_len(table);
    auto xs = layer::lod_tensor_to_array(x, table);
    auto out = layer::create_array<lamina::variable<T, typename decltype(table)::step, 3>>(main);
    auto i = layer::fill_constant<integer>(main, 0);
    auto going = layer::less_than(i, steps);
    layer::while_loop(going, [&](block&) {
      layer::array_write(layer::tanh(layer::fc<3>(layer::array_read(xs, i))), i, out);
      layer::increment(i);
      layer::less_than(i, steps, going);
    });
    return squared(layer::sequence_pool(layer::array_to_lod_tensor(out, table)));
  });
}

void write_branch_cases(case_writer& to) {
  to.write("net_conditional_block", []<class T>(block& main) {
    auto x = layer::data<"x", T, 3>(main);
    auto y = layer::scale(x, 2);
    layer::conditional_block(
        layer::greater_than(layer::reduce_mean(x), layer::scale(layer::mean(y), 1.5f)),
        [&](block&) { y = layer::tanh(layer::fc<3>(y)); });
    return squared(layer::scale(y, 3));
  });
  to.write("net_cond", []<class T>(block& main) {
    auto x = layer::data<"x", T, 3>(main);
    auto low = layer::fill_constant<T>(main, -0.01f);
    return squared(layer::cond(
        layer::less_than(layer::mean(x), low),
        [&](block&) {
          return std::tuple{layer::fc<2>(x), layer::mean(x)};
        },
        [&](block&) {
          return std::tuple{layer::tanh(layer::fc<2>(x)), low};
        }));
  });
  to.write("net_if_else", []<class T>(block& main) {
    auto x = layer::data<"x", T, 3>(main);
    auto first = layer::slice<layer::along<1, 0, 1>>(x);
    auto positive = layer::greater_than(first, layer::scale(first, 0.5f));
    return squared(layer::if_else(
        positive, [&](auto& yes) { return layer::fc<2>(yes.input(x)); },
        [&](auto& no) { return layer::tanh(layer::fc<2>(no.input(x))); }));
  });
  to.write("net_static_rnn", []<class T>(block& main) {
    auto x = layer::data<"x", T, 5, 3>(main);
    auto forwards = layer::static_rnn(x, [&](auto& step) {
      auto h = step.template memory<T>(lamina::dims<4>, {.value = 0.5f});
      auto next = layer::tanh(layer::fc<4>(std::tuple{step.input(x), h}));
      step.update(h, next);
      return std::tuple{next, step.last(h)};
    });
    auto backwards = layer::static_rnn(x,
                                       [&](auto& step) {
                                         auto h = step.template memory<T>(lamina::dims<3>);
                                         auto next = layer::sigmoid(step.input(x) + h);
                                         step.update(h, next);
                                         return next;
                                       },
                                       {.reverse = true});
    return squared(std::tuple{std::get<0>(forwards), std::get<1>(forwards), backwards});
  });
  to.write("net_nested_while", []<class T>(block& main) {
    auto x = layer::data<"x", T, 3>(main);
    auto i = layer::fill_constant<integer>(main, 0), n = layer::fill_constant<integer>(main, 3);
    auto going = layer::less_than(i, n);
    auto h = layer::scale(x, 1);
    layer::while_loop(going, [&](block& body) {
      auto norm = layer::mean(layer::square(h));
      auto more = layer::greater_than(norm, layer::fill_constant<T>(body, 0.05f));
      layer::while_loop(more, [&](block& inner) {
        h = layer::scale(h, 0.5f);
        layer::greater_than(layer::mean(layer::square(h)), layer::fill_constant<T>(inner, 0.05f),
                            more);
      });
      h = layer::scale(h, 1.9f);
      layer::increment(i);
      layer::less_than(i, n, going);
    });
    return std::tuple{cost_of(h), h, i};
  });
}

void write_gradient_cases(case_writer& to) {
  // Gradients as values, and their gradients.
  to.write("net_gradients", []<class T>(block& main) {
    auto x = layer::data<"x", T, 4>(main);
    auto y = layer::data<"y", T, 4>(main);
    auto h = layer::leaky_relu(layer::fc<5>(x));
    auto critic = layer::fc<2>(layer::tanh(layer::fc<5>(h)), {.act = lamina::activation::sigmoid});
    auto joined = layer::concat<1>(std::tuple{x * y, x / (layer::square(y) + 1)});
    auto score = layer::elementwise_max(layer::fc<3>(joined, {.act = lamina::activation::softplus}),
                                        layer::slice<layer::along<1, 0, 3>>(x));
    auto [grad] = layer::gradients(critic * 2, x);
    auto [dx, dy] = layer::gradients(layer::reduce_mean<1>(layer::square(score)), x, y);
    auto steepness = layer::sqrt(layer::reduce_sum<1>(layer::square(grad)));
    auto cost = layer::mean(layer::square(steepness - 1)) + layer::mean(layer::square(dx)) +
                layer::mean(layer::exp(dy));
    return std::tuple{cost, grad, dx, dy};
  });
}

}  // namespace

void write_net_cases(case_writer& to) {
  using lamina::activation;
  using lamina::window;
  to.write("net_perceptron", []<class T>(block& main) {
    auto x = layer::data<"x", T, 8>(main);
    auto h = layer::fc<6>(layer::fc<7>(x, {.act = activation::relu}), {.act = activation::tanh});
    auto p = layer::fc<4>(h, {.act = activation::softmax});
    return layer::mean(layer::cross_entropy(p, layer::data<"label", integer>(main)));
  });
  to.write("net_lenet", []<class T>(block& main) {
    auto x = layer::data<"image", T, 1, 16, 16>(main);
    auto a =
        layer::pool2d<2, window{.stride = 2}>(layer::conv2d<4, 5>(x, {.act = activation::relu}));
    auto b =
        layer::pool2d<2, window{.stride = 2}>(layer::conv2d<6, 3>(a, {.act = activation::relu}));
    auto logits = layer::fc<4>(b);
    return layer::mean(
        layer::softmax_with_cross_entropy(logits, layer::data<"label", integer>(main)));
  });
  to.write("net_word2vec",
           []<class T>(block& main) {
             const auto word = [](auto ids) {
               return layer::embedding<9, 4, T>(ids, {.param = {.name = "shared_w"}});
             };
             auto all = layer::concat<1>(std::tuple{word(layer::data<"first", integer>(main)),
                                                    word(layer::data<"second", integer>(main)),
                                                    word(layer::data<"third", integer>(main))});
             auto p = layer::fc<9>(layer::fc<5>(all, {.act = activation::sigmoid}),
                                   {.act = activation::softmax});
             return layer::mean(layer::cross_entropy(p, layer::data<"next", integer>(main)));
           },
           {.integers = 9});
  to.write("net_sentiment",
           []<class T>(block& main) {
             auto e = layer::embedding<9, 4, T>(layer::sequence<"words", integer>(main));
             auto a = layer::sequence_pool(layer::sequence_conv<5, 3>(e, {.act = activation::tanh}),
                                           {.type = lamina::pooling_type::max});
             auto b = layer::sequence_pool(layer::sequence_conv<5, 4>(e, {.act = activation::tanh}),
                                           {.type = lamina::pooling_type::max});
             auto p = layer::fc<2>({a, b}, {.act = activation::softmax});
             return layer::mean(layer::cross_entropy(p, layer::data<"label", integer>(main)));
           },
           {.integers = 2});
  to.write("net_lstm",
           []<class T>(block& main) {
             auto e = layer::embedding<9, 4, T>(layer::sequence<"words", integer>(main));
             auto hidden = std::get<0>(layer::dynamic_lstm<12>(layer::fc<12>(e)));
             auto p =
                 layer::fc<2>(layer::sequence_pool(hidden, {.type = lamina::pooling_type::last}),
                              {.act = activation::softmax});
             return layer::mean(layer::cross_entropy(p, layer::data<"label", integer>(main)));
           },
           {.integers = 2});
  to.write("net_while", []<class T>(block& main) {
    auto x = layer::data<"x", T, 3>(main);
    auto i = layer::fill_constant<integer>(main, 0), n = layer::fill_constant<integer>(main, 5);
    auto going = layer::less_than(i, n);
    auto h = layer::scale(x, 1);
    layer::while_loop(going, [&](block&) {
      h = layer::tanh(layer::fc<3>(h));
      layer::increment(i);
      layer::less_than(i, n, going);
    });
    return std::tuple{layer::mean(h), h};
  });
  write_gradient_cases(to);
  write_step_cases(to);
  write_branch_cases(to);
  write_recurrent_cases(to);
}

}  // namespace interop
