// SPDX-License-Identifier: Apache-2.0
// A run that stops and goes on equals one that never stopped, bit for bit.
#include <cstring>
#include <filesystem>

#include "stderr_text.hpp"
#include "train/net.hpp"

#include <lamina/train/checkpoints/checkpoint.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

namespace {

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto hidden = layer::fc<17>(x, {.act = lamina::activation::relu});
  auto logits = layer::fc<3>(layer::dropout(hidden, 0.3f), {.name = "output"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

const test::optimizer::adam adam{.learning_rate =
                                     lamina::schedule::exponential_decay{0.01f, 10, 0.9f}};

auto batches() { return test::samples(50) | test::reader::shuffle(50, 3) | test::reader::batch(8); }

// The bytes of the newest checkpoint: parameters, accumulators, step, position and seed.
std::string newest(const test::folder& folder) {
  const auto all = lamina::detail::checkpoints_in(folder.string());
  REQUIRE_FALSE(all.empty());
  return test::read(folder / ("checkpoint_" + std::to_string(all.back())));
}

lamina::train_options options(const test::folder& folder, int passes, int threads = 1) {
  lamina::train_options o;
  o.passes = passes;
  o.threads = threads;
  o.seed = 9;
  o.checkpoint.directory = folder.string();
  o.checkpoint.resume = true;
  return o;
}

}  // namespace

TEST_CASE("five passes and, from the checkpoint, five more are ten passes") {
  const test::folder whole, parts;
  lamina::model uninterrupted{net};
  adam.train(uninterrupted, batches(), options(whole, 10));
  {
    lamina::model first{net};
    CHECK(adam.train(first, batches(), options(parts, 5)).steps == 35);
  }
  lamina::model second{net, 99};  // its own first values must not matter
  std::vector<int> passes;
  auto o = options(parts, 10);
  o.on_event = [&](const lamina::event& e) {
    if (e.is_begin_pass()) passes.push_back(e.pass);
  };
  CHECK(adam.train(second, batches(), o).steps == 70);
  CHECK(passes == std::vector<int>{5, 6, 7, 8, 9});
  CHECK(test::bytes_of(second) == test::bytes_of(uninterrupted));
  CHECK(newest(parts) == newest(whole));
}

TEST_CASE("a run that was stopped in the middle of a pass goes on there") {
  const test::folder whole, parts;
  lamina::model uninterrupted{net};
  adam.train(uninterrupted, batches(), options(whole, 6));
  for (const auto& [pass, batch] : {std::pair{0, 0}, {2, 3}, {4, 6}}) {
    lamina::model m{net};
    auto o = options(parts, 6);
    o.on_event = [&, pass = pass, batch = batch](const lamina::event& e) {
      if (e.is_end_iteration() && e.pass == pass && e.batch == batch) e.stop();
    };
    CHECK(adam.train(m, batches(), o).stopped);
  }
  lamina::model last{net, 99};
  adam.train(last, batches(), options(parts, 6));
  CHECK(test::bytes_of(last) == test::bytes_of(uninterrupted));
  CHECK(newest(parts) == newest(whole));
}

TEST_CASE("a run that was stopped at the end of a pass goes on with the next one") {
  const test::folder whole, parts;
  lamina::model uninterrupted{net}, m{net};
  adam.train(uninterrupted, batches(), options(whole, 4));
  std::string ended;
  for (const int last : {1, 3}) {
    auto o = options(parts, 4);
    o.on_event = [&](const lamina::event& e) {
      if (!e.is_end_pass()) return;
      ended += std::to_string(e.pass) + ":" + std::to_string(e.samples) + " ";
      if (e.pass == last) e.stop();
    };
    adam.train(m, batches(), o);
  }
  CHECK(ended == "0:50 1:50 2:50 3:50 ");
  CHECK(test::bytes_of(m) == test::bytes_of(uninterrupted));
  CHECK(newest(parts) == newest(whole));
}

TEST_CASE("a run from the beginning wants no checkpoints of another in its directory") {
  const test::folder folder;
  lamina::model m{net}, other{net, 2};
  adam.train(m, batches(), options(folder, 5));
  const auto before = test::bytes_of(other);
  auto o = options(folder, 1);
  o.checkpoint.resume = false;
  CHECK(test::error_of([&] { adam.train(other, batches(), o); }) ==
        "lamina: train: expected a directory without checkpoints, or checkpoint.resume = true, "
        "found " +
            folder.string() + "/checkpoint_35");
  CHECK(test::bytes_of(other) == before);
}

TEST_CASE("a run that died goes on from its last checkpoint of mini-batches") {
  const test::folder whole, parts;
  lamina::model uninterrupted{net};
  adam.train(uninterrupted, batches(), options(whole, 4));
  lamina::model m{net};
  auto o = options(parts, 4);
  o.checkpoint.every_batches = 2;
  o.on_event = [](const lamina::event& e) {
    if (e.is_begin_iteration() && e.pass == 2 && e.batch == 5) throw std::bad_alloc();
  };
  CHECK_THROWS_AS(adam.train(m, batches(), o), std::bad_alloc);
  o.on_event = {};
  lamina::model last{net, 99};
  adam.train(last, batches(), o);
  CHECK(test::bytes_of(last) == test::bytes_of(uninterrupted));
}

TEST_CASE("empty mini-batches do not move the place where a run goes on") {
  std::vector<std::vector<test::sample>> sparse;
  for (std::uint64_t i = 0; i < 6; ++i) {
    sparse.emplace_back();
    sparse.push_back(test::samples(4, i));
  }
  const test::folder whole, parts;
  lamina::model uninterrupted{net};
  adam.train(uninterrupted, sparse, options(whole, 2));
  lamina::model m{net};
  auto o = options(parts, 2);
  o.on_event = [](const lamina::event& e) {
    if (e.is_end_iteration() && e.batch == 2) e.stop();
  };
  adam.train(m, sparse, o);
  lamina::model last{net, 99};
  adam.train(last, sparse, options(parts, 2));
  CHECK(test::bytes_of(last) == test::bytes_of(uninterrupted));
}

TEST_CASE("with several threads a run goes on bit for bit too", "[threads]") {
  const test::folder whole, parts;
  lamina::model uninterrupted{net}, m{net};
  adam.train(uninterrupted, batches(), options(whole, 4, 3));
  adam.train(m, batches(), options(parts, 2, 3));
  adam.train(m, batches(), options(parts, 4, 3));
  CHECK(newest(parts) == newest(whole));
}

TEST_CASE("only the newest checkpoints are kept, and no half of one is left") {
  const test::folder folder;
  lamina::model m{net};
  auto o = options(folder, 5);
  o.checkpoint.keep = 2;
  adam.train(m, batches(), o);
  const auto all = lamina::detail::checkpoints_in(folder.string());
  CHECK(all == std::vector<std::int64_t>{28, 35});
  CHECK(std::filesystem::exists(folder / "checkpoint_28"));
  CHECK(std::filesystem::exists(folder / "checkpoint_35"));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.string()), {}) == 2);
}

TEST_CASE("checkpoints that are damaged or of another run are errors and change nothing") {
  const test::folder folder;
  lamina::model m{net};
  adam.train(m, batches(), options(folder, 2));
  lamina::model other{net, 2};
  const auto before = test::bytes_of(other);

  auto o = options(folder, 4);
  o.seed = 10;
  CHECK_THAT(test::error_of([&] { adam.train(other, batches(), o); }), Contains("seed 10"));
  CHECK_THAT(
      test::error_of([&] { test::optimizer::sgd{}.train(other, batches(), options(folder, 4)); }),
      Contains("optimizer sgd") && Contains("found adam"));

  std::filesystem::remove(folder / "checkpoint_7");
  const std::string path = folder.string() + "/checkpoint_14", bytes = test::read(path);
  for (std::size_t n = 0; n < bytes.size(); n += 97) {
    test::write(path, bytes.substr(0, n));
    CHECK_THROWS_AS(adam.train(other, batches(), options(folder, 4)), lamina::format_error);
  }
  test::write(path, bytes);
  for (const char* name : {"fc_7.b_0", "fc_7.b_0_moment1_0"}) {
    auto entries = lamina::read_tensor_file(path);
    entries.insert(entries.begin() + 4, lamina::tensor_entry::letters(name, "abc"));
    lamina::write_tensor_file(folder / "checkpoint_15", entries);
    CHECK_THAT(test::error_of([&] { adam.train(other, batches(), options(folder, 4)); }),
               Contains("expected a checkpoint of this program, found " + std::string(name) +
                        " [3], which it does not have"));
  }
  auto entries = lamina::read_tensor_file(path);
  REQUIRE(entries[3].name == "output.b_0");
  entries.erase(entries.begin() + 3);
  lamina::write_tensor_file(folder / "checkpoint_15", entries);
  CHECK_THAT(test::error_of([&] { adam.train(other, batches(), options(folder, 4)); }),
             Contains("expected a parameter output.b_0, found none"));
  CHECK(test::bytes_of(other) == before);
}

TEST_CASE("parameters may be called as accumulators of others, and as what a checkpoint counts") {
  constexpr auto named = lamina::program([](lamina::block& main) {
    auto x = layer::data<"x", float, 6>(main);
    auto label = layer::data<"label", std::int64_t>(main);
    auto h = layer::fc<6>(x, {.param = {.name = "w"}, .bias = false});
    auto logits = layer::fc<3>(
        layer::fc<6>(h, {.param = {.name = "w_velocity_0"}, .bias_param = {.name = "@step@"}}),
        {.bias_param = {.name = "@optimizer@"}});
    return layer::mean(layer::softmax_with_cross_entropy(logits, label));
  });
  const test::optimizer::momentum momentum{.learning_rate = 0.05f};
  const test::folder whole, parts;
  lamina::model uninterrupted{named}, m{named}, last{named, 99};
  momentum.train(uninterrupted, batches(), options(whole, 3));
  momentum.train(m, batches(), options(parts, 1));
  momentum.train(last, batches(), options(parts, 3));
  CHECK(test::bytes_of(last) == test::bytes_of(uninterrupted));
  CHECK(newest(parts) == newest(whole));
}

// Sources: huggingface/transformers#21271, bghira/SimpleTuner#3093.
TEST_CASE(
    "a run that is resumed in the middle of a pass wants the samples that it was stopped on") {
  const auto stopped_at = [](const test::folder& folder, auto reader) {
    lamina::model m{net};
    auto o = options(folder, 2);
    o.on_event = [](const lamina::event& e) {
      if (e.is_end_iteration() && e.pass == 0 && e.batch == 2) e.stop();
    };
    adam.train(m, reader, o);
  };
  const auto resumed = [](const test::folder& folder, auto reader) {
    lamina::model m{net};
    return test::error_of([&] { adam.train(m, reader, options(folder, 2)); });
  };
  const auto of = [](int count, std::size_t size) {
    return test::samples(count) | test::reader::batch(size);
  };
  const test::folder folder;
  stopped_at(folder, of(50, 8));
  CHECK_THAT(resumed(folder, of(50, 16)),
             Contains("after mini-batch 3 of pass 0") &&
                 Contains("expected the same reader, which had read 24 samples (is the batch size "
                          "another one?) by then, found 48"));
  CHECK_THAT(resumed(folder, of(15, 8)),
             Contains("which had read 3 mini-batches by then, found 2"));
  CHECK_THAT(resumed(folder, of(50, 8) | test::reader::shuffle(3, 1)),
             Contains("expected the same 24 samples in the same order and mini-batches, found"));
  CHECK_THAT(
      resumed(folder, test::samples(50) | test::reader::shuffle(50, 4) | test::reader::batch(8)),
      Contains("expected the same 24 samples in the same order and mini-batches, found"));
  auto changed = test::samples(50);
  changed[23].x[5] += 1;
  CHECK_THAT(resumed(folder, changed | test::reader::batch(8)), Contains("found others"));
  changed = test::samples(50);
  changed[24].x[5] += 1;  // nobody has seen it
  lamina::model m{net};
  CHECK(adam.train(m, changed | test::reader::batch(8), options(folder, 2)).steps == 14);
}

TEST_CASE("a damaged newest checkpoint is told of, and the newest whole one is gone on from") {
  const test::folder whole, folder;
  lamina::model uninterrupted{net}, m{net}, other{net, 7};
  adam.train(uninterrupted, batches(), options(whole, 3));
  adam.train(m, batches(), options(folder, 2));
  const std::string path = folder.string() + "/checkpoint_14";
  test::write(path, test::read(path).substr(0, 1000));
  auto o = options(folder, 3);
  o.checkpoint.keep = 2;
  std::int64_t steps = 0;
  const std::string told = test::written_by([&] { steps = adam.train(other, batches(), o).steps; });
  CHECK(steps == 21);
  CHECK_THAT(told, Contains(path + " is damaged and now called .damaged: training goes on from " +
                            folder.string() + "/checkpoint_7"));
  CHECK(test::bytes_of(other) == test::bytes_of(uninterrupted));
  CHECK(lamina::detail::checkpoints_in(folder.string()) == std::vector<std::int64_t>{14, 21});
}

// Sources: OpenNMT/OpenNMT-py#1709, PrimeIntellect-ai/prime-rl#1763.
TEST_CASE("an old checkpoint that cannot be removed is told of, and training goes on") {
  const test::folder folder;
  lamina::model first{net}, second{net};
  CHECK(adam.train(first, batches(), options(folder, 1)).steps == 7);
  std::filesystem::create_directories(folder.string() + "/checkpoint_1/inner");
  auto o = options(folder, 2);
  o.checkpoint.keep = 1;
  std::int64_t steps = 0;
  const std::string told =
      test::written_by([&] { steps = adam.train(second, batches(), o).steps; });
  CHECK(steps == 14);
  CHECK_THAT(told,
             Contains(std::string("checkpoint_1 cannot be removed: ") + std::strerror(ENOTEMPTY)));
  CHECK(lamina::detail::checkpoints_in(folder.string()) == std::vector<std::int64_t>{1, 14});
}
