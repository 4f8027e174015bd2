// SPDX-License-Identifier: Apache-2.0
// What schedule/machine_test.cpp tests on the host, on the device itself: exit code 0 when all
// agrees, 1 when not, 77 where there is no device. `test/engine/cuda/device/check.py` builds and
// runs it;
// `--small` leaves out large products, `--from=N` the first N checks.
// clang-format off
#include <lamina/lamina.cuh>  // before all others
// clang-format on

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/beam_programs.hpp"
#include "engine/cuda/choice_edges.hpp"
#include "engine/cuda/choice_programs.hpp"
#include "engine/cuda/dense_programs.hpp"
#include "engine/cuda/dynamic_sequence_programs.hpp"
#include "engine/cuda/function_programs.hpp"
#include "engine/cuda/image_programs.hpp"
#include "engine/cuda/loop_programs.hpp"
#include "engine/cuda/norm_programs.hpp"
#include "engine/cuda/operator_programs.hpp"
#include "engine/cuda/product_programs.hpp"
#include "engine/cuda/recurrence_programs.hpp"
#include "engine/cuda/selected_rows_programs.hpp"
#include "engine/cuda/sequence_programs.hpp"
#include "engine/cuda/shape_programs.hpp"
#include "engine/cuda/training_programs.hpp"
#include <unistd.h>

namespace {

namespace optimizer = lamina::optimizer;
namespace cuda = lamina::engine::cuda;
using backend = cuda::place_backend<lamina::cuda::float32_type>;

/// Which check this process runs next, and how many were wrong. A check that throws or that does
/// not end may have left the device unusable: the next one runs in a process of its own.
struct {
  char** arguments = nullptr;
  int first = 0, next = 0, wrong = 0;
  const char* name = "";
} state;

constexpr unsigned seconds_per_check = 120;

[[noreturn]] void go_on_anew() {
  static char from[32], wrong[32];
  std::snprintf(from, sizeof from, "--from=%d", state.next);
  std::snprintf(wrong, sizeof wrong, "--wrong=%d", state.wrong + 1);
  std::vector<char*> arguments{state.arguments[0], from, wrong};
  for (char** a = state.arguments + 1; *a != nullptr; ++a)
    if (!std::string_view(*a).starts_with("--from=") &&
        !std::string_view(*a).starts_with("--wrong="))
      arguments.push_back(*a);
  arguments.push_back(nullptr);
  std::fflush(stdout);
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  sigprocmask(SIG_UNBLOCK, &alarms, nullptr);
  execv("/proc/self/exe", arguments.data());
  std::_Exit(1);
}

void out_of_time(int) {
  std::printf("WRONG %s: not done after %u s\n", state.name, seconds_per_check);
  go_on_anew();
}

template <class Check>
void run_check(const char* what, const Check& holds) {
  if (state.next++ < state.first) return;
  state.name = what;
  alarm(seconds_per_check);
  try {
    state.wrong += holds() ? 0 : 1;
  } catch (const std::exception& e) {
    std::printf("WRONG %s: %s\n", what, e.what());
    go_on_anew();
  }
  alarm(0);
  std::fflush(stdout);
}

template <class Compare>
void report(const char* what, const Compare& compare, double most) {
  run_check(what, [&] {
    const test::difference d = compare();
    const bool agrees = d.worst() < most;
    std::printf("%s %-28s cost %.1e metrics %.1e parameters %.1e\n", agrees ? "ok   " : "WRONG",
                what, d.cost, d.metric, d.parameters);
    return agrees;
  });
}

template <class Check>
void check(const char* what, const Check& check_it) {
  run_check(what, [&] {
    const bool holds = check_it();
    std::printf("%s %s\n", holds ? "ok   " : "WRONG", what);
    return holds;
  });
}

template <class E, class F>
double logits_apart(const E& a, const F& b) {
  double apart = 0;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 5; ++j)
      apart = std::max(apart, static_cast<double>(std::abs(a(i, j) - b(i, j))));
  return apart;
}

void run_machines() {
  using P = std::remove_const_t<decltype(test::classes)>;
  const lamina::model model{test::classes, 3};
  const test::dense_samples s(6);
  const std::span<const float> x(s.x);
  lamina::evaluator on_cpu{model};
  on_cpu.forward(lamina::feed<"x">(x));
  check("evaluator", [&] {
    lamina::evaluator on_device{model, lamina::cuda::place{0}};
    on_device.forward(lamina::feed<"x">(x));
    return logits_apart(on_cpu.activation<"logits">(), on_device.activation<"logits">()) < 1e-4;
  });
  check("gradient machine", [&] {
    lamina::gradient_machine g{model, 5};
    lamina::gradient_machine h{model, lamina::cuda::place{0}, 5};
    const float c = g.backward(s.batch<P>(0, 6)), d = h.backward(s.batch<P>(0, 6));
    const auto u = g.gradient<"fc_0.w_0">(), v = h.gradient<"fc_0.w_0">();
    double apart = std::abs(c - d);
    for (std::size_t i = 0; i < u.size(); ++i)
      apart = std::max(apart, static_cast<double>(std::abs(u.data()[i] - v.data()[i])));
    return apart < 1e-4;
  });
  check("evaluator, tf32", [&] {
    lamina::evaluator on_device{model, lamina::cuda::place{0, lamina::cuda::tf32}};
    on_device.forward(lamina::feed<"x">(x));
    return logits_apart(on_cpu.activation<"logits">(), on_device.activation<"logits">()) < 1e-2;
  });
  check("trained by bfloat16", [&] {
    using sample = std::tuple<std::vector<float>, std::int64_t, std::vector<float>>;
    const std::vector<std::vector<sample>> batches(
        3, {{std::vector<float>(13, 0.5f), 3, std::vector<float>(5)}});
    lamina::model trained{test::classes, 3};
    const optimizer::sgd sgd{.learning_rate = 0.1f};
    sgd.train(trained, batches, {.passes = 20}, lamina::cuda::place{0, lamina::cuda::bfloat16});
    lamina::evaluator before{model}, after{trained};
    return after.test(batches).cost < before.test(batches).cost;
  });
}

/// Where rounding decides which of two numbers is larger, gradients go another way: few parameters
/// are far apart then, and costs are not.
template <class Compare>
void report_rounded(const char* what, const Compare& compare, double most_cost) {
  report(
      what,
      [&] {
        test::difference d = compare();
        d.cost /= most_cost, d.metric /= 0.2, d.parameters /= 0.5;
        return d;
      },
      1);
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
    report_rounded(
        what, [&] { return test::train_both(program, sgd, device, rows); }, most);
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
      [&] {
        return test::train_both(test::channels, optimizer::sgd{.learning_rate = 1e-4f}, device,
                                {7, 64, 7});
      },
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
  report_rounded(
      name,
      [&] {
        return test::train_both(test::wide, optimizer::momentum{.learning_rate = 0.01f}, device,
                                {256, 7, 256, 256, 256});
      },
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
  check("statistics over mini-batches", [&] {
    double apart = 0;
    for (const int n : {4, 12, 9, 30})
      apart = std::max(
          apart, std::abs(area_of(on_cpu, s.batch(0, n)) - area_of(on_device, s.batch(0, n))));
    return apart < 1e-2;
  });
}

constexpr optimizer::adam limited_adam{.learning_rate = 0.02f,
                                       .clip = lamina::clip_by_global_norm(0.2f)};
constexpr optimizer::adam lazy_adam{
    .learning_rate = 0.01f, .lazy_mode = true, .clip = lamina::clip_by_global_norm(0.3f)};

/// Training loops that are programs.
void run_programs(backend& device) {
  report(
      "a program that trains",
      [&] { return test::run_both(test::trained<limited_adam>, device, test::row_minibatches()); },
      1e-3);
  report(
      "as long as the cost says",
      [&] {
        return test::run_both(test::until_learned<limited_adam>, device, test::row_minibatches());
      },
      1e-3);
  report(
      "passes over sentences",
      [&] { return test::run_both(test::passes<lazy_adam>, device, test::sentence_minibatches()); },
      1e-3);
}

void run_all(backend& device) {
  // Sizes that come back: these are captured, and then replayed.
  const std::vector<int> sizes = {7, 12, 7, 7, 7, 12, 12, 1};
  report(
      "sgd",
      [&] {
        return test::train_both(test::classes, optimizer::sgd{.learning_rate = 0.1f}, device,
                                sizes);
      },
      1e-4);
  report(
      "momentum",
      [&] {
        return test::train_both(test::classes, optimizer::momentum{.learning_rate = 0.1f}, device,
                                sizes);
      },
      1e-4);
  report(
      "adam, every function",
      [&] {
        return test::train_both(test::functions, optimizer::adam{.learning_rate = 0.01f}, device,
                                sizes);
      },
      1e-3);
  report(
      "larger mini-batches",
      [&] {
        return test::train_both(test::functions, optimizer::sgd{.learning_rate = 0.01f}, device,
                                {300, 1000, 300, 300});
      },
      1e-3);
  const optimizer::sgd sgd{.learning_rate = 0.1f};
  report(
      "many short lines",
      [&] {
        return test::train_both(test::classes, sgd, device, {8200, 7, 8200, 8200});
      },
      1e-4);
  constexpr auto halves = test::sequence_lengths::halves;
  report(
      "equal layers", [&] { return test::train_both(test::narrow, sgd, device, sizes); }, 1e-4);
  report(
      "odd widths",
      [&] {
        return test::train_both(test::uneven, sgd, device, {7, 1000, 7, 7});
      },
      1e-4);
  report(
      "a classifier",
      [&] {
        return test::train_both(test::classifier, sgd, device, {7, 70, 7, 7, 570, 7});
      },
      1e-4);
  report(
      "weighed rows",
      [&] {
        return test::train_both(test::weighed, sgd, device, {7, 70, 7, 7, 570, 7});
      },
      1e-4);
  report(
      "a broad layer",
      [&] {
        return test::train_both(test::broad_layer, sgd, device, {7, 70, 7, 7});
      },
      1e-4);
  report(
      "towers",
      [&] {
        return test::train_both(test::towers, sgd, device, {7, 70, 7, 7});
      },
      1e-4);
  report(
      "deep products", [&] { return test::train_both(test::deep, sgd, device, sizes); }, 1e-4);
  const optimizer::momentum limited{.learning_rate = 0.1f, .clip = lamina::clip_by_global_norm(1)};
  report(
      "limited norms", [&] { return test::train_both(test::classes, limited, device, sizes); },
      1e-4);
  report(
      "lamb",
      [&] {
        return test::train_both(test::classes, optimizer::lamb{.learning_rate = 0.02f}, device,
                                sizes);
      },
      1e-3);
  report(
      "lars momentum",
      [&] {
        return test::train_both(test::classes,
                                optimizer::lars_momentum{.learning_rate = 3.0f,
                                                         .lars_coeff = 0.1f,
                                                         .clip = lamina::clip_by_global_norm(0.5f)},
                                device, sizes);
      },
      1e-3);
  report(
      "lenet",
      [&] {
        return test::train_both(test::lenet, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "residual blocks",
      [&] {
        return test::train_both(test::residual, limited, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "windows of every kind",
      [&] {
        return test::train_both(test::windows, sgd, device, {7, 64, 7});
      },
      1e-3);
  report(
      "windows of many terms",
      [&] {
        return test::train_both(test::deep_windows, sgd, device, {7, 64, 7, 1});
      },
      1e-3);
  report(
      "channels of every number",
      [&] {
        return test::train_both(test::channels, optimizer::sgd{.learning_rate = 1e-4f}, device,
                                {7, 64, 7});
      },
      1e-3);
  report(
      "attention", [&] { return test::train_both(test::attention, sgd, device, sizes); }, 1e-3);
  report(
      "normalised images",
      [&] {
        return test::train_both(test::normalised_images<28, 28>, sgd, device, {11, 64, 11, 11});
      },
      1e-3);
  report(
      "normalised odd images",
      [&] {
        return test::train_both(test::normalised_images<27, 31>, sgd, device, {11, 64, 11, 11});
      },
      1e-3);
  report(
      "normalised columns",
      [&] {
        return test::train_both(test::normalised_columns, sgd, device, {300, 40, 2000, 300, 300});
      },
      1e-3);
  report(
      "normalised rows",
      [&] {
        return test::train_both(test::normalised_rows, sgd, device, {300, 40, 2000, 300, 300});
      },
      1e-3);
  report(
      "normalised groups",
      [&] {
        return test::train_both(test::normalised_groups<27, 31>, sgd, device, {11, 64, 11, 11});
      },
      1e-3);
  report(
      "shapes", [&] { return test::train_both(test::shapes, sgd, device, sizes); }, 1e-4);
  report(
      "reductions",
      [&] {
        return test::train_both(test::reductions, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "lookups",
      [&] {
        return test::train_both(test::lookups, sgd, device, {7, 64, 7, 7});
      },
      1e-4);
  const optimizer::adam lazy{.learning_rate = 0.01f, .lazy_mode = true};
  report(
      "rows of tables", [&] { return test::train_both(test::tables, lazy, device, sizes); }, 1e-3);
  report(
      "all rows of tables, norms",
      [&] {
        return test::train_both(
            test::tables,
            optimizer::lamb{.learning_rate = 0.02f, .clip = lamina::clip_by_global_norm(0.1f)},
            device, sizes);
      },
      1e-3);
  report(
      "rows of made sequences",
      [&] {
        return test::train_both(test::kept_words, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "sentences",
      [&] {
        return test::train_both(test::sentences, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "paragraphs",
      [&] {
        return test::train_both(test::paragraphs, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "recurrences",
      [&] {
        return test::train_both(test::recurrences, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "recurrences, initial states",
      [&] {
        return test::train_both(test::recurrences_of<67>, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  // Weights in registers, in shared memory as well, and where neither has the capacity.
  report(
      "recurrent operators of 64",
      [&] {
        return test::train_both(test::recurrent_operators<64>, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "recurrent operators of 101",
      [&] {
        return test::train_both(test::recurrent_operators<101>, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "recurrent operators of 128",
      [&] {
        return test::train_both(test::recurrent_operators<128>, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "recurrent operators of 129",
      [&] {
        return test::train_both(test::recurrent_operators<129>, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  const optimizer::sgd slow{.learning_rate = 0.001f};
  report(
      "functions of numbers", [&] { return test::train_both(test::unary, slow, device, sizes); },
      1e-3);
  report(
      "functions of pairs", [&] { return test::train_both(test::pairs, slow, device, sizes); },
      1e-3);
  check("decisions", [&] { return test::outputs_apart<backend>(test::decisions, sizes) < 1e-6; });
  report(
      "likenesses",
      [&] {
        return test::train_both(test::likenesses, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "regions",
      [&] {
        return test::train_both(test::regions, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "orders",
      [&] {
        return test::train_both(test::orders, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  check("orders and choices at their edges", [&] { return test::wrong_edges<backend>() == 0; });
  report(
      "chosen rows",
      [&] {
        return test::train_both(test::chosen_rows, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "volumes",
      [&] {
        return test::train_both(test::volumes, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "measures",
      [&] {
        return test::train_both(test::measures, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "patches",
      [&] {
        return test::train_both(test::patches, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "units",
      [&] {
        return test::train_both(test::units, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "costs",
      [&] {
        return test::train_both(test::costs, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "tags",
      [&] {
        return test::train_both(test::tags, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "spoken",
      [&] {
        return test::train_both(test::spoken, sgd, device, {7, 64, 7, 7}, 5, halves);
      },
      1e-3);
  report(
      "noises",
      [&] {
        return test::train_both(test::noises, sgd, device, {7, 64, 7, 7});
      },
      1e-4);
  report(
      "printed",
      [&] {
        return test::train_both(test::printed, sgd, device, {2, 2});
      },
      1e-4);
  // Sequences of new lengths, by lengths and by values.
  report(
      "pieces of sequences",
      [&] {
        return test::train_both(test::pieces, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "words",
      [&] {
        return test::train_both(test::words, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "copies of sequences",
      [&] {
        return test::train_both(test::copies, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  check("a step of a beam search", [&] {
    return test::outputs_apart<backend>(test::beam::equal_scores, {7, 64, 7, 7}) < 1e-4;
  });
  check("few candidates", [&] {
    return test::outputs_apart<backend>(test::beam::few_candidates, {7, 64, 7, 7}) < 1e-4;
  });
  check("decoder of hypotheses", [&] {
    return test::outputs_apart<backend>(test::beam::decoder<4, 4, -1>, {7, 64, 7, 7},
                                        test::beam::dictionary) < 1e-3;
  });
  report(
      "parts of rows",
      [&] {
        return test::train_both(test::parts, sgd, device, {3, 3});
      },
      1e-4);
  report(
      "ways of sequences",
      [&] {
        return test::train_both(test::ways, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "decoder",
      [&] {
        return test::train_both(test::decoder, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "made in steps",
      [&] {
        return test::train_both(test::made_in_steps, sgd, device, {7, 64, 7});
      },
      1e-3);
  report(
      "steps in steps",
      [&] {
        return test::train_both(test::steps_in_steps, sgd, device, {7, 64, 7});
      },
      1e-3);
  report(
      "steps in branches",
      [&] {
        return test::train_both(test::steps_in_branches, sgd, device, {7, 64, 7});
      },
      1e-3);
  report(
      "steps of a dimension",
      [&] {
        return test::train_both(test::steps, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "loops in loops",
      [&] {
        return test::train_both(test::nested, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "steps of sequences",
      [&] {
        return test::train_both(test::ragged, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  // Recurrences by hand: sequences, products of products, broad cells, no arrays, many rows.
  report(
      "a recurrence by hand",
      [&] {
        return test::train_both(test::recurrence, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "a gated one",
      [&] {
        return test::train_both(test::gated, sgd, device, {7, 64, 7, 7, 7});
      },
      1e-3);
  report(
      "a broad one",
      [&] {
        return test::train_both(test::broad, sgd, device, {7, 64, 7});
      },
      1e-3);
  report(
      "what a loop carries",
      [&] {
        return test::train_both(test::carried, sgd, device, {7, 700, 7, 7});
      },
      1e-3);
  report(
      "cells of an operator",
      [&] {
        return test::train_both(test::unit_cells, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "a recurrence in a loop",
      [&] {
        return test::train_both(test::repeated, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "as long as values say", [&] { return test::train_both(test::halved, sgd, device, sizes); },
      1e-3);
  report(
      "loops told by values",
      [&] { return test::train_both(test::told_by_values, sgd, device, std::vector<int>(12, 7)); },
      1e-3);
  report(
      "decided by values", [&] { return test::train_both(test::decided, sgd, device, sizes); },
      1e-3);
  report(
      "branches",
      [&] {
        return test::train_both(test::branches, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "branches in a loop",
      [&] {
        return test::train_both(test::choices, sgd, device, {7, 64, 7, 7});
      },
      1e-3);
  report(
      "rows in parts",
      [&] {
        return test::train_both(test::parted, sgd, device, {7, 64, 7, 7, 64, 1, 1, 1});
      },
      1e-3);
  // The same seed gives the same bits.
  check("twice the same bits", [&] {
    const optimizer::adam adam{.learning_rate = 0.01f};
    const auto a = test::train_both(test::functions, adam, device, sizes);
    const auto b = test::train_both(test::functions, adam, device, sizes);
    return a.parameters == b.parameters && a.cost == b.cost;
  });
  check("a label out of range", [&] {
    const std::string message = test::message_of_wrong_label(device);
    if (message != test::wrong_label_message) std::printf("%s\n", message.c_str());
    return message == test::wrong_label_message;
  });
}

}  // namespace

int main(int count, char** arguments) {
  bool small = false;
  state.arguments = arguments;
  for (int i = 1; i < count; ++i) {
    const std::string_view option = arguments[i];
    const auto value = [&](std::string_view name) { return std::atoi(arguments[i] + name.size()); };
    if (option == "--small")
      small = true;  // large products take minutes where there is no device
    else if (option.starts_with("--from="))
      state.first = value("--from=");
    else if (option.starts_with("--wrong="))
      state.wrong = value("--wrong=");
  }
  std::signal(SIGALRM, out_of_time);
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
  std::printf("%d checks, %d wrong\n", state.next, state.wrong);
  return state.wrong == 0 ? 0 : 1;
}
