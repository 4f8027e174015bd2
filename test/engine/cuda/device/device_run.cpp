// SPDX-License-Identifier: Apache-2.0
// What host_run_test.cpp tests on the host, on the device itself: exit code 0 when all agrees, 1
// when not, 77 where there is no device. `test/engine/cuda/device/check.py` builds and runs it;
// `--small` leaves out large products.
// clang-format off
#include <lamina/lamina.cuh>  // before all others
// clang-format on

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/beam_programs.hpp"
#include "engine/cuda/choice_edges.hpp"
#include "engine/cuda/choice_programs.hpp"
#include "engine/cuda/dense_programs.hpp"
#include "engine/cuda/function_programs.hpp"
#include "engine/cuda/image_programs.hpp"
#include "engine/cuda/loop_programs.hpp"
#include "engine/cuda/made_sequence_programs.hpp"
#include "engine/cuda/norm_programs.hpp"
#include "engine/cuda/operator_programs.hpp"
#include "engine/cuda/product_programs.hpp"
#include "engine/cuda/recurrence_programs.hpp"
#include "engine/cuda/selected_rows_programs.hpp"
#include "engine/cuda/sequence_programs.hpp"
#include "engine/cuda/shape_programs.hpp"
#include "engine/cuda/training_programs.hpp"

namespace {

namespace optimizer = lamina::optimizer;
namespace cuda = lamina::engine::cuda;
using backend = cuda::place_backend<lamina::cuda::float32_type>;

int wrong = 0;

void report(const char* what, const test::difference& d, double most) {
  const bool agrees = d.worst() < most;
  wrong += agrees ? 0 : 1;
  std::printf("%s %-28s cost %.1e metrics %.1e parameters %.1e\n", agrees ? "ok   " : "WRONG", what,
              d.cost, d.metric, d.parameters);
}

void check(const char* what, bool holds) {
  wrong += holds ? 0 : 1;
  std::printf("%s %s\n", holds ? "ok   " : "WRONG", what);
}

void run_machines() {
  using P = std::remove_const_t<decltype(test::classes)>;
  const lamina::model model{test::classes, 3};
  const test::dense_samples s(6);
  lamina::evaluator on_cpu{model};
  lamina::evaluator on_device{model, lamina::cuda::place{0}};
  const std::span<const float> x(s.x);
  on_cpu.forward(lamina::feed<"x">(x));
  on_device.forward(lamina::feed<"x">(x));
  const auto a = on_cpu.activation<"logits">(), b = on_device.activation<"logits">();
  double apart = 0;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 5; ++j)
      apart = std::max(apart, static_cast<double>(std::abs(a(i, j) - b(i, j))));
  check("evaluator", apart < 1e-4);
  lamina::gradient_machine g{model, 5};
  lamina::gradient_machine h{model, lamina::cuda::place{0}, 5};
  const float c = g.backward(s.batch<P>(0, 6)), d = h.backward(s.batch<P>(0, 6));
  const auto u = g.gradient<"fc_0.w_0">(), v = h.gradient<"fc_0.w_0">();
  apart = std::abs(c - d);
  for (std::size_t i = 0; i < u.size(); ++i)
    apart = std::max(apart, static_cast<double>(std::abs(u.data()[i] - v.data()[i])));
  check("gradient machine", apart < 1e-4);
  lamina::evaluator by_tensor_cores{model, lamina::cuda::place{0, lamina::cuda::tf32}};
  by_tensor_cores.forward(lamina::feed<"x">(x));
  const auto t = by_tensor_cores.activation<"logits">();
  apart = 0;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 5; ++j)
      apart = std::max(apart, static_cast<double>(std::abs(a(i, j) - t(i, j))));
  check("evaluator, tf32", apart < 1e-2);
  using sample = std::tuple<std::vector<float>, std::int64_t, std::vector<float>>;
  const std::vector<std::vector<sample>> batches(
      3, {{std::vector<float>(13, 0.5f), 3, std::vector<float>(5)}});
  lamina::model trained{test::classes, 3};
  const optimizer::sgd sgd{.learning_rate = 0.1f};
  sgd.train(trained, batches, {.passes = 20}, lamina::cuda::place{0, lamina::cuda::bfloat16});
  lamina::evaluator before{model}, after{trained};
  check("trained by bfloat16", after.test(batches).cost < before.test(batches).cost);
}

/// Where rounding decides which of two numbers is larger, gradients go another way: few parameters
/// are far apart then, and costs are not.
void report_rounded(const char* what, test::difference d, double most_cost) {
  d.cost /= most_cost, d.metric /= 0.2, d.parameters /= 0.5;
  report(what, d, 1);
}

/// Operands of products are rounded: apart from the CPU by that. Differences are told as parts of
/// what is allowed.
template <class Arithmetic>
void run_tensors(const char* name, double most) {
  cuda::place_backend<Arithmetic> device(0);
  const optimizer::sgd sgd{.learning_rate = 0.1f};
  const std::vector<int> sizes = {7, 12, 70, 7, 7, 12, 1};
  std::printf("%s:\n", name);
  const auto run = [&](const char* what, auto program, const std::vector<int>& rows) {
    report_rounded(what, test::train_both(program, sgd, device, rows), most);
  };
  run("dense", test::classes, sizes);
  run("odd widths", test::uneven, {7, 12, 570, 7, 7, 12, 570});
  run("a classifier", test::classifier, {7, 70, 570, 7, 7});
  run("deep products", test::deep, sizes);
  run("every function", test::functions, sizes);
  run("lenet", test::lenet, {7, 64, 7, 7});
  run("residual blocks", test::residual, {7, 64, 7, 7});
  run("windows of every kind", test::windows, {7, 64, 7});
  report_rounded(
      "channels of every number",
      test::train_both(test::channels, optimizer::sgd{.learning_rate = 1e-4f}, device, {7, 64, 7}),
      most);
  run("attention", test::attention, sizes);
  run("heads", test::heads, sizes);
  run("recurrences", test::recurrences, {7, 64, 7, 7});
  run("loops in loops", test::nested, {7, 64, 7, 7});
}

/// Products that keep a device at work.
template <class Arithmetic>
void run_large(const char* name, double most) {
  cuda::place_backend<Arithmetic> device(0);
  report_rounded(name,
                 test::train_both(test::wide, optimizer::momentum{.learning_rate = 0.01f}, device,
                                  {256, 7, 256, 256, 256}),
                 most);
}

/// Statistics that go on when the rows grow.
void run_statistics() {
  using P = std::remove_const_t<decltype(test::areas)>;
  const lamina::model model{test::areas, 3};
  lamina::evaluator on_cpu{model};
  lamina::evaluator on_device{model, lamina::cuda::place{0}};
  const test::random_samples<P> s(30, 2);
  const auto area_of = [](auto& e, const lamina::batch_view<P>& batch) {
    batch.feed_to(e.machine());
    e.machine().run(~0ull, 0, 0);
    return *reinterpret_cast<const double*>(e.machine().template address<P::desc.outputs[1]>());
  };
  double apart = 0;
  for (const int n : {4, 12, 9, 30})
    apart = std::max(apart,
                     std::abs(area_of(on_cpu, s.batch(0, n)) - area_of(on_device, s.batch(0, n))));
  check("statistics over mini-batches", apart < 1e-2);
}

constexpr optimizer::adam limited_adam{.learning_rate = 0.02f,
                                       .clip = lamina::clip_by_global_norm(0.2f)};
constexpr optimizer::adam lazy_adam{
    .learning_rate = 0.01f, .lazy_mode = true, .clip = lamina::clip_by_global_norm(0.3f)};

/// Training loops that are programs.
void run_programs(backend& device) {
  report("a program that trains",
         test::run_both(test::trained<limited_adam>, device, test::row_minibatches()), 1e-3);
  report("as long as the cost says",
         test::run_both(test::until_learned<limited_adam>, device, test::row_minibatches()), 1e-3);
  report("passes over sentences",
         test::run_both(test::passes<lazy_adam>, device, test::sentence_minibatches()), 1e-3);
}

void run_all(backend& device) {
  // Sizes that come back: with LAMINA_CUDA_GRAPHS=1 these are captured, and then replayed.
  const std::vector<int> sizes = {7, 12, 7, 7, 7, 12, 12, 1};
  report("sgd",
         test::train_both(test::classes, optimizer::sgd{.learning_rate = 0.1f}, device, sizes),
         1e-4);
  report("momentum",
         test::train_both(test::classes, optimizer::momentum{.learning_rate = 0.1f}, device, sizes),
         1e-4);
  report("adam, every function",
         test::train_both(test::functions, optimizer::adam{.learning_rate = 0.01f}, device, sizes),
         1e-3);
  report("larger mini-batches",
         test::train_both(test::functions, optimizer::sgd{.learning_rate = 0.01f}, device,
                          {300, 1000, 300, 300}),
         1e-3);
  const optimizer::sgd sgd{.learning_rate = 0.1f};
  report("many short lines", test::train_both(test::classes, sgd, device, {8200, 7, 8200, 8200}),
         1e-4);
  constexpr auto halves = test::sequence_lengths::halves;
  report("equal layers", test::train_both(test::narrow, sgd, device, sizes), 1e-4);
  report("odd widths", test::train_both(test::uneven, sgd, device, {7, 1000, 7, 7}), 1e-4);
  report("a classifier", test::train_both(test::classifier, sgd, device, {7, 70, 7, 7, 570, 7}),
         1e-4);
  report("weighed rows", test::train_both(test::weighed, sgd, device, {7, 70, 7, 7, 570, 7}), 1e-4);
  report("a broad layer", test::train_both(test::broad_layer, sgd, device, {7, 70, 7, 7}), 1e-4);
  report("towers", test::train_both(test::towers, sgd, device, {7, 70, 7, 7}), 1e-4);
  report("deep products", test::train_both(test::deep, sgd, device, sizes), 1e-4);
  const optimizer::momentum limited{.learning_rate = 0.1f, .clip = lamina::clip_by_global_norm(1)};
  report("limited norms", test::train_both(test::classes, limited, device, sizes), 1e-4);
  report("lamb",
         test::train_both(test::classes, optimizer::lamb{.learning_rate = 0.02f}, device, sizes),
         1e-3);
  report("lars momentum",
         test::train_both(test::classes,
                          optimizer::lars_momentum{.learning_rate = 3.0f,
                                                   .lars_coeff = 0.1f,
                                                   .clip = lamina::clip_by_global_norm(0.5f)},
                          device, sizes),
         1e-3);
  report("lenet", test::train_both(test::lenet, sgd, device, {7, 64, 7, 7}), 1e-3);
  report("residual blocks", test::train_both(test::residual, limited, device, {7, 64, 7, 7}), 1e-3);
  report("windows of every kind", test::train_both(test::windows, sgd, device, {7, 64, 7}), 1e-3);
  report(
      "channels of every number",
      test::train_both(test::channels, optimizer::sgd{.learning_rate = 1e-4f}, device, {7, 64, 7}),
      1e-3);
  report("attention", test::train_both(test::attention, sgd, device, sizes), 1e-3);
  report("normalised images",
         test::train_both(test::normalised_images<28, 28>, sgd, device, {11, 64, 11, 11}), 1e-3);
  report("normalised odd images",
         test::train_both(test::normalised_images<27, 31>, sgd, device, {11, 64, 11, 11}), 1e-3);
  report("normalised columns",
         test::train_both(test::normalised_columns, sgd, device, {300, 40, 2000, 300, 300}), 1e-3);
  report("normalised rows",
         test::train_both(test::normalised_rows, sgd, device, {300, 40, 2000, 300, 300}), 1e-3);
  report("normalised groups",
         test::train_both(test::normalised_groups<27, 31>, sgd, device, {11, 64, 11, 11}), 1e-3);
  report("shapes", test::train_both(test::shapes, sgd, device, sizes), 1e-4);
  report("reductions", test::train_both(test::reductions, sgd, device, {7, 64, 7, 7}), 1e-3);
  report("lookups", test::train_both(test::lookups, sgd, device, {7, 64, 7, 7}), 1e-4);
  const optimizer::adam lazy{.learning_rate = 0.01f, .lazy_mode = true};
  report("rows of tables", test::train_both(test::tables, lazy, device, sizes), 1e-3);
  report("all rows of tables, norms",
         test::train_both(
             test::tables,
             optimizer::lamb{.learning_rate = 0.02f, .clip = lamina::clip_by_global_norm(0.1f)},
             device, sizes),
         1e-3);
  report("rows of made sequences", test::train_both(test::kept_words, sgd, device, {7, 64, 7, 7}),
         1e-3);
  report("sentences", test::train_both(test::sentences, sgd, device, {7, 64, 7, 7}), 1e-3);
  report("paragraphs", test::train_both(test::paragraphs, sgd, device, {7, 64, 7, 7}), 1e-3);
  report("recurrences", test::train_both(test::recurrences, sgd, device, {7, 64, 7, 7}), 1e-3);
  report("recurrences, initial states",
         test::train_both(test::recurrences_of<67>, sgd, device, {7, 64, 7, 7}), 1e-3);
  const optimizer::sgd slow{.learning_rate = 0.001f};
  report("functions of numbers", test::train_both(test::unary, slow, device, sizes), 1e-3);
  report("functions of pairs", test::train_both(test::pairs, slow, device, sizes), 1e-3);
  check("decisions", test::outputs_apart<backend>(test::decisions, sizes) < 1e-6);
  report("likenesses", test::train_both(test::likenesses, sgd, device, {7, 64, 7, 7}), 1e-3);
  report("regions", test::train_both(test::regions, sgd, device, {7, 64, 7, 7}), 1e-3);
  report("orders", test::train_both(test::orders, sgd, device, {7, 64, 7, 7}), 1e-3);
  check("orders and choices at their edges", test::wrong_edges<backend>() == 0);
  report("chosen rows", test::train_both(test::chosen_rows, sgd, device, {7, 64, 7, 7}), 1e-3);
  report("volumes", test::train_both(test::volumes, sgd, device, {7, 64, 7, 7}), 1e-3);
  report("measures", test::train_both(test::measures, sgd, device, {7, 64, 7, 7}), 1e-3);
  report("patches", test::train_both(test::patches, sgd, device, {7, 64, 7, 7}), 1e-3);
  report("units", test::train_both(test::units, sgd, device, {7, 64, 7, 7}), 1e-3);
  report("costs", test::train_both(test::costs, sgd, device, {7, 64, 7, 7}), 1e-3);
  report("tags", test::train_both(test::tags, sgd, device, {7, 64, 7, 7}), 1e-3);
  report("spoken", test::train_both(test::spoken, sgd, device, {7, 64, 7, 7}, 5, halves), 1e-3);
  report("noises", test::train_both(test::noises, sgd, device, {7, 64, 7, 7}), 1e-4);
  report("printed", test::train_both(test::printed, sgd, device, {2, 2}), 1e-4);
  // Sequences of new lengths, by lengths and by values.
  report("pieces of sequences", test::train_both(test::pieces, sgd, device, {7, 64, 7, 7}), 1e-3);
  report("words", test::train_both(test::words, sgd, device, {7, 64, 7, 7}), 1e-3);
  report("copies of sequences", test::train_both(test::copies, sgd, device, {7, 64, 7, 7}), 1e-3);
  check("a step of a beam search",
        test::outputs_apart<backend>(test::beam::equal_scores, {7, 64, 7, 7}) < 1e-4);
  check("few candidates",
        test::outputs_apart<backend>(test::beam::few_candidates, {7, 64, 7, 7}) < 1e-4);
  check("decoder of hypotheses",
        test::outputs_apart<backend>(test::beam::decoder<4, 4, -1>, {7, 64, 7, 7},
                                     test::beam::dictionary) < 1e-3);
  report("parts of rows", test::train_both(test::parts, sgd, device, {3, 3}), 1e-4);
  report("ways of sequences", test::train_both(test::ways, sgd, device, {7, 64, 7, 7}), 1e-3);
  report("decoder", test::train_both(test::decoder, sgd, device, {7, 64, 7, 7}), 1e-3);
  report("made in steps", test::train_both(test::made_in_steps, sgd, device, {7, 64, 7}), 1e-3);
  report("steps in steps", test::train_both(test::steps_in_steps, sgd, device, {7, 64, 7}), 1e-3);
  report("steps in branches", test::train_both(test::steps_in_branches, sgd, device, {7, 64, 7}),
         1e-3);
  report("steps of a dimension", test::train_both(test::steps, sgd, device, {7, 64, 7, 7}), 1e-3);
  report("loops in loops", test::train_both(test::nested, sgd, device, {7, 64, 7, 7}), 1e-3);
  report("steps of sequences", test::train_both(test::ragged, sgd, device, {7, 64, 7, 7}), 1e-3);
  // Recurrences by hand: sequences, products of products, broad cells, no arrays, many rows.
  report("a recurrence by hand", test::train_both(test::recurrence, sgd, device, {7, 64, 7, 7}),
         1e-3);
  report("a gated one", test::train_both(test::gated, sgd, device, {7, 64, 7, 7, 7}), 1e-3);
  report("a broad one", test::train_both(test::broad, sgd, device, {7, 64, 7}), 1e-3);
  report("what a loop carries", test::train_both(test::carried, sgd, device, {7, 700, 7, 7}), 1e-3);
  report("cells of an operator", test::train_both(test::unit_cells, sgd, device, {7, 64, 7, 7}),
         1e-3);
  report("a recurrence in a loop", test::train_both(test::repeated, sgd, device, {7, 64, 7, 7}),
         1e-3);
  report("as long as values say", test::train_both(test::halved, sgd, device, sizes), 1e-3);
  report("loops told by values",
         test::train_both(test::told_by_values, sgd, device, std::vector<int>(12, 7)), 1e-3);
  report("decided by values", test::train_both(test::decided, sgd, device, sizes), 1e-3);
  report("branches", test::train_both(test::branches, sgd, device, {7, 64, 7, 7}), 1e-3);
  report("branches in a loop", test::train_both(test::choices, sgd, device, {7, 64, 7, 7}), 1e-3);
  report("rows in parts", test::train_both(test::parted, sgd, device, {7, 64, 7, 7, 64, 1, 1, 1}),
         1e-3);
  // The same seed gives the same bits.
  const auto a =
      test::train_both(test::functions, optimizer::adam{.learning_rate = 0.01f}, device, sizes);
  const auto b =
      test::train_both(test::functions, optimizer::adam{.learning_rate = 0.01f}, device, sizes);
  check("twice the same bits", a.parameters == b.parameters && a.cost == b.cost);
  const std::string message = test::message_of_wrong_label(device);
  check(message.c_str(), message == test::wrong_label_message);
}

}  // namespace

int main(int count, char** arguments) {
  // Large products take minutes where there is no device.
  const bool small = count > 1 && std::string_view(arguments[1]) == "--small";
  try {
    backend device(0);
    run_all(device);
    run_programs(device);
    run_machines();
    run_tensors<lamina::cuda::tf32_type>("tf32", 5e-3);
    run_tensors<lamina::cuda::bfloat16_type>("bfloat16", 3e-2);
    if (!small) {
      std::printf("large products:\n");
      run_large<lamina::cuda::float32_type>("float32", 1e-4);
      run_large<lamina::cuda::tf32_type>("tf32", 5e-3);
      run_large<lamina::cuda::bfloat16_type>("bfloat16", 3e-2);
    }
    run_statistics();
  } catch (const lamina::error& e) {
    std::printf("%s\n", e.what());
    return std::string(e.what()).find("found none") != std::string::npos ? 77 : 1;
  }
  return wrong == 0 ? 0 : 1;
}
