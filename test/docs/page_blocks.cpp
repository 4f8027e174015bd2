// SPDX-License-Identifier: Apache-2.0
// Every ```cpp block of docs/*.md, where the names that it uses are declared: PAGE_N.inc is block N
// of docs/PAGE.md. Compiled, never run, by code_blocks.py; cuda_page_blocks.cpp has those of
// cuda.md. CONTRIBUTING.md is a page too.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#if __has_include(<CLI/CLI.hpp>)
#include <lamina/cli/trainer_main.hpp>
#endif
#include <lamina/dataset/cifar.hpp>
#include <lamina/dataset/column_encoding.hpp>
#include <lamina/dataset/csv_rows.hpp>
#include <lamina/dataset/flowers.hpp>
#include <lamina/dataset/imikolov.hpp>
#include <lamina/dataset/movie_reviews.hpp>
#include <lamina/distributed/session.hpp>
#include <lamina/distributed/task_queue.hpp>
#include <lamina/distributed/transpile/grad_all_reduce.hpp>
#include <lamina/executor/executor.hpp>
#include <lamina/image/image.hpp>
#include <lamina/launch/dist_train.hpp>
#if __has_include(<png.h>) && __has_include(<jpeglib.h>)
#include <lamina/image/folder.hpp>
#include <lamina/image/segmented.hpp>
#include <lamina/image/simple_transform.hpp>
#endif
#include <lamina/inspect/profile.hpp>
#include <lamina/inspect/profile_steps.hpp>
#include <lamina/inspect/program_text.hpp>
#include <lamina/inspect/summary.hpp>
#include <lamina/io/export_onnx.hpp>
#include <lamina/io/fluid/to_program_message.hpp>
#include <lamina/io/inference_model.hpp>
#include <lamina/io/load_onnx.hpp>
#include <lamina/io/model_files.hpp>
#include <lamina/io/npz.hpp>
#include <lamina/io/safetensors.hpp>
#include <lamina/io/simplified.hpp>
#include <lamina/lamina.hpp>
#include <lamina/model/any_model.hpp>
#include <lamina/model/bfloat16/bfloat16_machine.hpp>
#include <lamina/model/feeding/sample_files.hpp>
#include <lamina/model/load_by_name.hpp>
#include <lamina/model/parameters/file_part.hpp>
#include <lamina/optimizer/model_average.hpp>
#if __has_include(<librdkafka/rdkafka.h>)
#include <lamina/reader/kafka.hpp>
#endif
#include <lamina/serve/batched_model.hpp>
#include <lamina/train/events/curves_page.hpp>
#include <lamina/train/events/learning_curves.hpp>
#include <lamina/train/events/reduce_on_plateau.hpp>
#include <lamina/train/fit.hpp>
#include <lamina/transform/gradients.hpp>
#include <lamina/v2.hpp>

namespace layer = lamina::layer;

// What the pages leave to the reader: samples of any type, values, and the net of the quickstart.
struct any_samples {
  template <class T>
  operator std::vector<T>() const {
    return {};
  }
};
any_samples load_samples();
std::vector<float> pixels;

namespace quickstart {
#include "quickstart_1.inc"
void steps() {
#include "quickstart_2.inc"
#include "quickstart_3.inc"
  const auto handler =
#include "quickstart_4.inc"
      ;
  adam.train(model, batches, {.on_event = handler});
#include "quickstart_5.inc"
  {
#include "quickstart_6.inc"
  } {
#include "debugging_1.inc"
  } {
#include "debugging_2.inc"
  }
#include "quickstart_7.inc"
  {
#include "quickstart_8.inc"
  }
#include "quickstart_9.inc"
}
}  // namespace quickstart

namespace training {
lamina::model model{quickstart::digits};
auto batches = lamina::dataset::digits::train() | lamina::reader::batch(64);
auto validation = lamina::dataset::digits::test() | lamina::reader::batch(64);
void passes() {
#include "training_1.inc"
  {
    const auto first = *batches().begin(), second = first;
    lamina::gradient_machine machine_a{model}, machine_b{model};
#include "training_2.inc"
  }
#include "training_4.inc"
#include "training_5.inc"
  const auto samples = lamina::dataset::digits::train();
#include "training_7.inc"
}
constexpr auto two_costs = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 4>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto slant = layer::data<"slant", float>(main);
  auto logits = layer::fc<3>(x);
  auto estimate = layer::fc<1>(x);
#include "training_6.inc"
});
constexpr auto with_costs = lamina::program([](lamina::block& main) {
  auto label = layer::data<"label", std::int64_t>(main);
  auto logits = layer::fc<10>(layer::data<"image", float, 64>(main));
  return layer::mean(layer::softmax_with_cross_entropy(logits, label, {.name = "costs"}));
});
void values() {
  struct sample {
    std::int64_t label;
    std::array<float, 64> image;
  };
  const std::vector<sample> batch;
  std::vector<float> priorities;
  lamina::model of_costs{with_costs};
  lamina::trainer t{of_costs, lamina::optimizer::adam{}};
#include "training_3.inc"
}
}  // namespace training

constexpr auto& net = quickstart::digits;
lamina::model model{quickstart::digits};
lamina::optimizer::adam adam;
auto reader = lamina::dataset::digits::train() | lamina::reader::batch(64);

namespace architecture {
#include "architecture_1.inc"
}
namespace glossary {
#include "glossary_1.inc"
}

namespace add_an_operator {
#include "add_an_operator_1.inc"
#include "add_an_operator_2.inc"
constexpr auto program = lamina::program(
    [](lamina::block& main) { return bent(layer::data<"x", float, 4>(main), "bent"); });
}  // namespace add_an_operator

namespace lamina {
namespace operators {
#include "contributing_1.inc"
}
namespace layer {
#include "contributing_2.inc"
}
}  // namespace lamina
#include "contributing_3.inc"
#include "contributing_5.inc"
namespace contributing {
constexpr auto program = lamina::program(
    [](lamina::block& main) { return layer::bent_identity(layer::data<"x", float, 4>(main)); });
namespace optimizer = lamina::optimizer;
using numbers = std::vector<double>;
constexpr std::size_t size = 4;
double sign(double);
template <class Opt, class F>
void compare(const Opt& optimizer, const F& equation) {
  std::vector<numbers> states;
  numbers parameter(size), gradient(size);
  equation(parameter, gradient, states, 1);
  optimizer.train(model, reader, {});
}
#define TEST_CASE(name, tags) void test_case()
#include "contributing_4.inc"
#undef TEST_CASE
}  // namespace contributing

namespace building_blocks {
#include "building_blocks_1.inc"
constexpr auto blocks = lamina::program([](lamina::block& main) {
  auto h = layer::data<"x", float, 32>(main);
  auto label = layer::data<"label", std::int64_t>(main);
#include "building_blocks_2.inc"
#include "building_blocks_3.inc"
  auto logits = layer::fc<3>(code * scale);
#include "building_blocks_4.inc"
  return std::tuple{cost, decoded};
});
void share_and_copy() {
  lamina::model trained{net};
#include "building_blocks_5.inc"
  {
#include "building_blocks_6.inc"
  }
#include "building_blocks_7.inc"
}
#include "building_blocks_8.inc"
#include "building_blocks_9.inc"
}  // namespace building_blocks

namespace look_inside {
void look() {
  std::vector<lamina::dataset::digits::sample> batch(64);
#include "look_inside_1.inc"
#include "look_inside_2.inc"
#include "look_inside_3.inc"
  const std::vector batches(2, batch);
#include "look_inside_4.inc"
}
}  // namespace look_inside

namespace bfloat16 {
void evaluate() {
#include "bfloat16_1.inc"
}
}  // namespace bfloat16

namespace in_double {
#include "double_1.inc"
void train() {
  const std::vector<double> features(13);
  struct sample {
    std::array<double, 13> x;
    double price;
  };
  const std::vector<sample> samples = load_samples();
  const auto batches = samples | lamina::reader::batch(20);
#include "double_2.inc"
  (void)first;
}
}  // namespace in_double

namespace control_flow {
constexpr auto program = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 10>(main);
  auto state = layer::data<"state", float, 128>(main);
  auto is_positive = layer::data<"is_positive", bool>(main);
#include "control_flow_1.inc"
#include "control_flow_2.inc"
  return std::tuple{state, y};
});
constexpr auto steps = lamina::program([](lamina::block& main) {
  auto embed = layer::sequence<"words", float, 32>(main);
#include "control_flow_3.inc"
  return hidden;
});
constexpr auto last_step = lamina::program([](lamina::block& main) {
  auto embed = layer::sequence<"words", float, 32>(main);
  auto init = layer::fc<128>(layer::sequence_pool(embed));
#include "control_flow_4.inc"
  return std::tuple{hidden, state};
});
constexpr auto nested_steps = lamina::program([](lamina::block& main) {
#include "control_flow_5.inc"
  return document;
});
constexpr auto step_by_step = lamina::program([](lamina::block& main) {
  auto x = layer::sequence<"words", float, 32>(main);
  auto init = layer::data<"init", float, 3>(main);
#include "control_flow_6.inc"
  return h;
});
void train() {
#include "control_flow_7.inc"
#include "control_flow_8.inc"
}
}  // namespace control_flow

namespace programs {
namespace in_pieces {
#include "programs_1.inc"
}
constexpr lamina::optimizer::adam judging{.learning_rate = 5e-3f}, forging{.learning_rate = 2e-3f};
constexpr auto forged_by = [](auto noise) { return layer::fc<2>(noise, {.name = "g_point"}); };
constexpr auto verdict_on = [](auto point) { return layer::fc<1>(point, {.name = "d_verdict"}); };
#include "programs_2.inc"
constexpr auto falling = lamina::program([](lamina::block& loop) {
  auto step = layer::fill_constant<float>(loop, 0);
  auto cost = layer::mean(layer::fc<1>(layer::data<"x", float, 2>(loop)));
#include "programs_3.inc"
  return cost;
});
#include "programs_4.inc"
constexpr auto learnt = lamina::program(
    [](lamina::block& main) { layer::create_parameter<float, 8, 4>(main, {.name = "teacher.w"}); });
#include "programs_6.inc"
void run(any_samples samples) {
  const std::vector<std::array<float, 8>> all = samples;
  const auto reader = all | lamina::reader::batch(4);
#include "programs_5.inc"
  const lamina::model teacher{learnt};
#include "programs_7.inc"
  static_cast<void>(steps);
}
}  // namespace programs

namespace gradients {
#include "gradients_1.inc"
constexpr auto critic = [](auto point) { return layer::fc<1>(layer::tanh(layer::fc<8>(point))); };
constexpr auto penalised = lamina::program([](lamina::block& main) {
  auto real = layer::data<"real", float, 2>(main);
  auto forged = layer::data<"forged", float, 2>(main);
  auto between = layer::scale(real + forged, 0.5);
#include "gradients_2.inc"
});
}  // namespace gradients

namespace executor {
void run() {
  std::vector<std::int64_t> classes;
#include "executor_1.inc"
  const lamina::tensor array = images;
#include "executor_3.inc"
}
void as_in_fluid() {
  const lamina::tensor images, labels;
#include "executor_2.inc"
}
}  // namespace executor

namespace compile_time {
#include "compile_time_1.inc"
}

namespace from_pytorch_and_keras {
namespace digits = lamina::dataset::digits;
#include "from_pytorch_and_keras_2.inc"
#include "from_pytorch_and_keras_3.inc"
#include "from_pytorch_and_keras_4.inc"
#include "from_pytorch_and_keras_5.inc"
#include "from_pytorch_and_keras_6.inc"
#include "from_pytorch_and_keras_7.inc"
#include "from_pytorch_and_keras_8.inc"
}  // namespace from_pytorch_and_keras

namespace from_pytorch_in_five_minutes {
namespace onnx {
#include "from_pytorch_in_five_minutes_1.inc"
}
#include "from_pytorch_in_five_minutes_2.inc"
void options(lamina::model<std::remove_const_t<decltype(net)>>& model) {
  {
#include "from_pytorch_in_five_minutes_3.inc"
  }
#include "from_pytorch_in_five_minutes_4.inc"
}
}  // namespace from_pytorch_in_five_minutes

namespace files {
void numpy() {
#include "files_1.inc"
}
namespace swapped {
constexpr auto net = lamina::program([](lamina::block& main) {
  return layer::fc<3>(layer::data<"x", float, 2>(main), {.name = "y"});
});
#include "files_2.inc"
}  // namespace swapped
}  // namespace files

namespace images {
constexpr auto program = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 1, 28, 28>(main);
#include "images_1.inc"
  return p2;
});
}  // namespace images

namespace interop {
void files() {
  lamina::tensor pixels;
#include "interop_1.inc"
}
void onnx() {
  lamina::scope scope;
#include "interop_2.inc"
#include "interop_3.inc"
}
void read_onnx() {
  lamina::tensor images;
#include "interop_4.inc"
}
void simplified_onnx() {
#include "interop_5.inc"
}
void simplified_program() {
  lamina::executor executor;
  lamina::scope values;
  lamina::feed_map feed;
#include "interop_6.inc"
}
}  // namespace interop

namespace layers {
void read_minibatch() {
  constexpr auto program = lamina::program([](lamina::block& main) {
#include "layers_1.inc"
    return more;
  });
}
constexpr auto program = lamina::program([](lamina::block& main) {
  auto state = layer::data<"state", float, 8>(main);
#include "layers_2.inc"
  auto x = layer::data<"x", float, 10>(main);
  auto positive = layer::data<"positive", bool>(main);
#include "layers_3.inc"
  auto rate = layer::fill_constant<float>(main, 0.1f), slow = rate, fast = rate, usual = rate;
  auto early = layer::less_than(i, n), late = early, warm = early;
#include "layers_4.inc"
#include "layers_5.inc"
  return std::tuple{state, y, rate};
});
constexpr auto over_sequences = lamina::program([](lamina::block& main) {
  auto embed = layer::sequence<"words", float, 32>(main);
#include "layers_6.inc"
  return hidden;
});
constexpr auto over_steps = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 7, 5>(main);
#include "layers_7.inc"
  return hidden;
});
}  // namespace layers

namespace optimizers {
void train() {
#include "optimizers_1.inc"
}
void schedules() {
#include "optimizers_2.inc"
}
#include "optimizers_3.inc"
void own() { sign_sgd{.learning_rate = 0.1f}.train(model, reader, {}); }
void test();
void averages() {
#include "optimizers_4.inc"
}
}  // namespace optimizers

// A main function is one only outside of a namespace.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wreturn-type"
namespace readers {
namespace generators {
#include "readers_1.inc"
}
namespace texts {
#include "readers_3.inc"
}
namespace files_of_samples {
#include "readers_4.inc"
}
namespace numbers {
namespace reader = lamina::reader;
struct sample {
  std::array<float, 8> image;
};
std::vector<sample> samples;
void flip(std::array<float, 8>&) {}
void random() {
#include "readers_2.inc"
  (void)augmented;
}
}  // namespace numbers
}  // namespace readers
namespace serving {
#include "serving_1.inc"
}  // namespace serving
#pragma GCC diagnostic pop

#if __has_include(<librdkafka/rdkafka.h>)
namespace kafka {
namespace reader = lamina::reader;
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 1>(main);
  return layer::mean(layer::fc<1>(x));
});
struct sample {
  float x;
};
std::vector<sample> parse(const std::vector<reader::kafka_message>&) { return {}; }
void online(const std::string& path) {
  lamina::model model{net};
  const lamina::optimizer::adam adam;
  lamina::trainer trainer{model, adam};
#include "serving_2.inc"
}
}  // namespace kafka
#endif

namespace book {
#include "book_1.inc"
}  // namespace book

namespace data {
#include "data_1.inc"
#include "data_2.inc"
#include "data_3.inc"
#if __has_include(<png.h>) && __has_include(<jpeglib.h>)
#include "data_4.inc"
#include "data_5.inc"
#endif
}  // namespace data

namespace sequences {
void polarity() {
#include "sequences_1.inc"
}
constexpr auto named = lamina::program([](lamina::block& main) {
  return layer::fc<64>(layer::sequence<"words", float, 8>(main), {.name = "hidden"});
});
void use(float);
void activations(lamina::evaluator<decltype(named)>& e) {
#include "sequences_2.inc"
}
constexpr int words = 20, end = 1;
constexpr auto encode(auto source) {
  return layer::fc<8>(layer::sequence_pool(layer::embedding<words, 8>(source)));
}
constexpr auto next_state(auto ids, auto state) {
  return layer::tanh(layer::fc<8>(std::tuple{layer::embedding<words, 8>(ids), state}));
}
void decode(int s) {
  std::vector<std::vector<std::int64_t>> sentences;
  std::vector<std::vector<std::vector<std::int64_t>>> begins;
  std::vector<std::vector<std::vector<float>>> zeros;
  constexpr auto net = lamina::program(
      [](lamina::block& main) { return encode(layer::sequence<"source", std::int64_t>(main)); });
  lamina::model model{net};
#include "sequences_3.inc"
}
}  // namespace sequences

namespace static_evaluator {
#include "static_evaluator_1.inc"
extern const float weights[lamina::static_evaluator<decltype(net)>::parameter_elements];
lamina::model model{net};
void play(float sample) {
#include "static_evaluator_2.inc"
}
namespace sound {
#include "static_evaluator_3.inc"
void play(std::array<float, 64>& block, lamina::static_evaluator<decltype(filter)>& e) {
#include "static_evaluator_4.inc"
}
}  // namespace sound
namespace embedded {
lamina::static_evaluator<decltype(net)> e;
#include "static_evaluator_5.inc"
}  // namespace embedded
}  // namespace static_evaluator

#if __has_include(<CLI/CLI.hpp>)
namespace command_line {
namespace reader = lamina::reader;
namespace reviews = lamina::dataset::movie_reviews;
#include "command_line_1.inc"
#include "command_line_2.inc"
}  // namespace command_line
#endif

namespace names_of_v2 {
#include "v2_1.inc"
static_assert(paddle::optimizer::Default.states.empty());
}  // namespace names_of_v2

namespace several_processes {
constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<10>(image), label));
});
auto reader = lamina::dataset::digits::train() | lamina::reader::batch(64);
namespace mpirun {
#include "distributed_1.inc"
}
namespace divided {
std::vector<std::tuple<std::vector<std::int64_t>, std::int64_t>> texts;
auto reader = texts | lamina::reader::batch(64);
#include "sharded_tables_1.inc"
void with_servers(int argc, char** argv) {
#include "parameter_servers_2.inc"
}
}  // namespace divided
namespace shards {
void read_shards() {
  lamina::model model{net};
  lamina::optimizer::adam adam;
  const auto samples = lamina::dataset::digits::train();
  constexpr std::uint64_t seed = 1;
  constexpr auto decode = [](const auto& sample) { return sample; };
  int argc = 0;
  char** argv = nullptr;
  lamina::distributed::session world{argc, argv};
#include "distributed_2.inc"
}
void take_chunks(const std::vector<std::string>& files) {
  lamina::model model{net};
  lamina::optimizer::adam adam;
  using lamina::dataset::digits::sample;
  int argc = 0;
  char** argv = nullptr;
  lamina::distributed::session world{argc, argv};
#include "distributed_3.inc"
}
void communicate(int argc, char** argv) {
#include "distributed_4.inc"
}
}  // namespace shards
namespace loops {
constexpr auto training = lamina::program([](lamina::block& main) {
  auto more = layer::fill_constant<bool>(main, true);
  layer::while_loop(more, [&](lamina::block& loop) {
    auto [image, label] =
        layer::read_minibatch<"train", lamina::field<float, 64>, lamina::field<std::int64_t>>(loop,
                                                                                              more);
    lamina::optimizer::sgd{}.minimize(
        layer::mean(layer::softmax_with_cross_entropy(layer::fc<10>(image), label)));
  });
});
#include "distributed_5.inc"
}  // namespace loops
namespace launched {
#include "cluster_1.inc"
}
namespace with_servers {
#include "parameter_servers_1.inc"
}
}  // namespace several_processes
