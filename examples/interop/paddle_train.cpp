// SPDX-License-Identifier: Apache-2.0
// paddle_train - the command line of PaddlePaddle v2, for two programs that read handwritten digits
//
//   examples/run paddle_train train --config=digits.linear.py --save_dir=passes
//       --num_passes=12 --log_period=60 --config_args=batch_size=10
//
// docs/command_line.md has the flags. `--config` says which program:
//   digits.linear.py         logistic regression
//   digits.hidden.py         a hidden layer with dropout
//
//   examples/run paddle_train --cuda --config=digits.hidden --use_gpu     on a GPU
#include <cstdint>

// `examples/run paddle_train --cuda` defines EXAMPLE_CUDA, and links the kernels.
#if defined(EXAMPLE_CUDA)
#include <lamina/lamina.cuh>
#else
#include <lamina/lamina.hpp>
#endif

#include <lamina/cli/trainer_main.hpp>

namespace layer = lamina::layer;
namespace reader = lamina::reader;
namespace digits = lamina::dataset::digits;

constexpr auto decide = [](auto scores, auto label) {
  layer::accuracy(scores, label, {.name = "accuracy"});
  return layer::mean(layer::softmax_with_cross_entropy(scores, label));
};

constexpr auto linear = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  return decide(layer::fc<10>(image), label);
});

constexpr auto hidden = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto units = layer::fc<64>(image, {.act = lamina::activation::relu});
  return decide(layer::fc<10>(layer::dropout(units, 0.2f)), label);
});

// What `settings` and `define_py_data_sources2` are in a configuration of PaddlePaddle. A function
// is called when the command line has chosen its configuration; `args` are its --config_args.
constexpr auto adam = [](const lamina::config_args& args) {
  return lamina::optimizer::adam{.learning_rate = args.get("learning_rate", 2e-3f)};
};
constexpr auto train = [](const lamina::config_args& args) {
  return digits::train() | reader::shuffle(2000) | reader::batch(args.get("batch_size", 12));
};

int main(int argc, char** argv) {
  const auto test = digits::test() | reader::batch(64);
  return lamina::trainer_main(argc, argv,
                              lamina::trainer_config{"digits.linear", linear, adam, train, test},
                              lamina::trainer_config{"digits.hidden", hidden, adam, train, test});
}
