// SPDX-License-Identifier: Apache-2.0
// What applications put together: named blocks, parameters of their own, copies of models, frozen
// layers, parameters by name.
#include <limits>

#include "model/samples.hpp"

#include <lamina/model/gradient_machine.hpp>
#include <lamina/model/load_by_name.hpp>
#include <lamina/optimizer/sgd.hpp>
#include <lamina/program/indexed.hpp>
#include <lamina/reader/reader.hpp>
#include <lamina/train/train.hpp>
#include <lamina/transform/freeze.hpp>

namespace layer = lamina::layer;
using Catch::Contains;

namespace {

// Eleven blocks, so that "block_1" is a prefix of "block_10".
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = layer::batch_norm(layer::fc<4>(x, {.name = "first"}), {.name = "norm"});
  for (int i = 0; i < 11; ++i)
    h = layer::relu(h + layer::fc<4>(h, {.name = lamina::indexed("block", i)}));
  auto logits = layer::fc<3>(h, {.name = "output"});
  return layer::mean(layer::softmax_with_cross_entropy(logits, label, {.name = "cost"}));
});
// The features of `net` under another head.
constexpr auto other_head = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 6>(main);
  auto h = layer::fc<4>(x, {.name = "first"});
  auto logits =
      layer::fc<5>(layer::fc<4>(h, {.name = lamina::indexed("block", 1)}), {.name = "output"});
  return layer::fc<2>(logits, {.name = "last"});
});
using model = lamina::model_of<net>;

template <class P>
std::vector<std::string> names_of(const lamina::model<P>& m) {
  std::vector<std::string> all;
  for (int i = 0; i < m.parameter_arrays(); ++i) all.push_back(m.describe(i).name);
  return all;
}
template <class M>
void train_one_step(M& m) {
  lamina::optimizer::sgd sgd{.learning_rate = 0.1f};
  const auto batch = test::samples(8);
  sgd.train(m, batch | lamina::reader::batch(8), {.passes = 1});
}

}  // namespace

TEST_CASE("indexed names number repeated blocks, and parts of them") {
  const model m{net};
  CHECK(m.describe(8).name == "block_1.w_0");
  CHECK(m.describe(27).name == "block_10.b_0");
  static_assert(std::string_view(lamina::indexed("block", 12, "first")) == "block_12.first");
  static_assert(
      lamina::belongs_to("block_1.w_0", "block_1") && lamina::belongs_to("block_1.w_0", "block") &&
      lamina::belongs_to("block_1.w_0", "block_1.w_0") && lamina::belongs_to("enc/fc.w_0", "enc/"));
  static_assert(!lamina::belongs_to("block_10.w_0", "block_1") &&
                !lamina::belongs_to("output.w_0", "out") && !lamina::belongs_to("out", "output") &&
                !lamina::belongs_to("out", ""));
}

TEST_CASE("a clone has the same values in memory of its own") {
  const model first{net, 3};
  const model shares{net, lamina::share_parameters_of(first), 4};
  model copy = shares.clone();
  CHECK(test::bytes_of(copy) == test::bytes_of(first));
  const lamina::array<float> before = first.parameter<"output.w_0">();
  copy.set_parameter<"output.w_0">(before + 1);
  CHECK(first.parameter<"output.w_0">() == before);
  CHECK(shares.parameter<"output.w_0">() == before);
}

TEST_CASE("a soft copy moves parameters by tau and copies moving statistics") {
  model online{net, 3};
  train_one_step(online);
  model target{net, 4};
  const lamina::array<float> p = target.parameter<"block_3.w_0">();
  const lamina::array<float> q = online.parameter<"block_3.w_0">();
  target.copy_parameters(online, 0.25);
  const lamina::array<float> moved = target.parameter<"block_3.w_0">();
  for (std::size_t i = 0; i < p.size(); ++i)
    CHECK(moved.flat(i) == Approx(0.75f * p.flat(i) + 0.25f * q.flat(i)));
  // The statistics are those of what `online` has seen, at once; a factor is a parameter.
  CHECK(online.parameter<"norm.w_1">() != model(net).parameter<"norm.w_1">());
  CHECK(target.parameter<"norm.w_1">() == online.parameter<"norm.w_1">());
  CHECK(target.parameter<"norm.w_2">() == online.parameter<"norm.w_2">());
  CHECK(target.parameter<"norm.w_0">() != online.parameter<"norm.w_0">());

  const auto before = test::bytes_of(target);
  target.copy_parameters(online, 0);
  CHECK(test::bytes_of(target) == before);
  // A whole copy is exact, whatever the target holds.
  target.set_parameter<"output.b_0">(
      p.flat(0) * 0 + lamina::array<float>{0.f, 0.f, std::numeric_limits<float>::quiet_NaN()});
  target.copy_parameters(online, 1);
  CHECK(test::bytes_of(target) == test::bytes_of(online));
  target.copy_parameters(target, 0.5);
  CHECK(test::bytes_of(target) == test::bytes_of(online));
  model shares{net, lamina::share_parameters_of(online)};
  shares.copy_parameters(online, 0.5);
  CHECK(test::bytes_of(shares) == test::bytes_of(target));
  for (const double tau : {-0.1, 1.5, std::numeric_limits<double>::quiet_NaN()})
    CHECK_THAT(test::error_of([&] { target.copy_parameters(online, tau); }),
               Contains("copy_parameters: expected a tau between 0 and 1"));
}

TEST_CASE("a soft copy in double has the digits of double") {
  constexpr auto in_double = lamina::program([](lamina::block& main) {
    return layer::fc<3>(layer::data<"x", double, 2>(main), {.name = "output"});
  });
  const lamina::model online{in_double, 3};
  lamina::model target{in_double, 4};
  const lamina::array<double> p = target.parameter<"output.w_0">();
  target.copy_parameters(online, 0.1);
  const lamina::array<double> moved = target.parameter<"output.w_0">();
  const lamina::array<double> wanted = 0.9 * p + 0.1 * online.parameter<"output.w_0">();
  for (std::size_t i = 0; i < p.size(); ++i)
    CHECK(moved.flat(i) == Approx(wanted.flat(i)).epsilon(1e-14));
}

TEST_CASE("parameters of another program are copied by name, all or none") {
  const model from{net, 3};
  lamina::model to{other_head, 4};
  const auto before = test::bytes_of(to);
  CHECK_THAT(test::error_of([&] { to.copy_parameters(from); }),
             Contains("parameter output.w_0: expected float32 [4, 5], found float32 [4, 3]"));
  CHECK_THAT(test::error_of([&] { model(net).copy_parameters(to); }),
             Contains("expected a parameter norm.w_0 in the other model, found none"));
  CHECK(test::bytes_of(to) == before);
}

TEST_CASE("parameters are shared with several models, layer by layer") {
  const model a{net, 3}, b{net, 4};
  const lamina::model c{other_head, lamina::share_parameters_of<"first.b_0", "block_1">(a),
                        lamina::share_parameters_of<"first">(b), 5};
  const auto at = [](const auto& m, int i) { return m.memory()[i]; };
  REQUIRE(names_of(c)[2] == "block_1.w_0");
  CHECK(at(c, 0) == at(b, 0));  // first.w_0
  CHECK(at(c, 1) == at(a, 1));  // first.b_0: of the first model that is named for it
  CHECK(at(c, 2) == at(a, 8));
  CHECK(at(c, 3) == at(a, 9));
  const lamina::model alone{other_head, 5};
  CHECK(c.parameter<"output.w_0">() == alone.parameter<"output.w_0">());
}

TEST_CASE("frozen layers and their moving statistics stay as they are in training") {
  const model trained{net, 3};
  lamina::model m{lamina::transform::freeze<"norm", "block_1", "output.b_0">(net), 7};
  m.copy_parameters(trained);
  train_one_step(m);
  const auto before = test::bytes_of(trained), after = test::bytes_of(m);
  std::vector<std::string> same;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i] == after[i]) same.push_back(names_of(m)[i]);
  CHECK(same == std::vector<std::string>{"norm.w_0", "norm.b_0", "norm.w_1", "norm.w_2",
                                         "block_1.w_0", "block_1.b_0", "output.b_0"});
}

TEST_CASE("all layers but some are frozen") {
  constexpr auto frozen = lamina::transform::freeze_except<"output", "norm.b_0">(net);
  const lamina::program_view p = frozen.view();
  std::vector<std::string> trained;
  for (int i = 0; i < p.count.parameters; ++i)
    if (p.parameters[i].trainable)
      trained.push_back(lamina::variable_name(p, p.parameters[i].variable));
  CHECK(trained == std::vector<std::string>{"norm.b_0", "output.w_0", "output.b_0"});
}

TEST_CASE("a frozen batch_norm computes with its moving statistics") {
  model m{net, 3};
  train_one_step(m);
  constexpr auto frozen = lamina::transform::freeze<"norm", "block_1", "output.b_0">(net);
  const lamina::model same{frozen, lamina::share_parameters_of(m)};
  const auto batch = test::samples(8, 9);
  const double tested = lamina::evaluator{m}.test(batch | lamina::reader::batch(8)).cost;
  CHECK(lamina::gradient_machine{same}.backward(batch) == Approx(tested));
}

TEST_CASE("loading by name reports what was loaded, missing, surplus and of another shape") {
  const test::folder folder;
  const model from{net, 3};
  from.save(folder / "net");
  lamina::model to{other_head, 4};
  const lamina::model first{other_head, 4};
  const auto before = test::bytes_of(to);
  CHECK_THAT(test::error_of([&] { (void)load_by_name(folder / "net", to); }),
             Contains("net: output.w_0: expected float32 [4, 5], found float32 [4, 3]"));
  CHECK(test::bytes_of(to) == before);

  const lamina::load_report r = load_by_name(folder / "net", to, {.skip_other_shapes = true});
  CHECK(r.loaded ==
        std::vector<std::string>{"first.w_0", "first.b_0", "block_1.w_0", "block_1.b_0"});
  CHECK(r.missing == std::vector<std::string>{"last.w_0", "last.b_0"});
  CHECK(r.surplus.size() == names_of(from).size() - 6);
  CHECK(r.other_shapes.size() == 2);
  CHECK_FALSE(r.complete());
  CHECK_THAT(r.text(), Contains("2 missing in the file: last.w_0, last.b_0\n"));
  CHECK(to.parameter<"block_1.w_0">() == from.parameter<"block_1.w_0">());
  CHECK(to.parameter<"output.w_0">() == first.parameter<"output.w_0">());
  CHECK(to.parameter<"last.w_0">() == first.parameter<"last.w_0">());
}

TEST_CASE("loading by name from one layer to another, and from a file that has nothing") {
  const model from{net, 3};
  lamina::model to{other_head, 4};
  // "block_1" is not "block_10", and the report is about these layers alone.
  const lamina::load_report r = load_by_name(from, to, {.from = "block_10", .to = "block_1"});
  CHECK(r.complete());
  CHECK(r.surplus.empty());
  CHECK(r.loaded == std::vector<std::string>{"block_1.w_0", "block_1.b_0"});
  CHECK(to.parameter<"block_1.w_0">() == from.parameter<"block_10.w_0">());

  std::vector<lamina::tensor_entry> wrapped = from.entries();
  for (lamina::tensor_entry& e : wrapped) e.name = "module." + e.name;
  CHECK_THAT(
      test::error_of([&] { (void)load_by_name(wrapped, to); }),
      Contains("expected an array for a parameter such as first.w_0, first.b_0, block_1.w_0, "
               "found 30 others (module.first.w_0,"));
  lamina::model back{net, 5};
  CHECK(load_by_name(wrapped, back, {.from = "module."}).complete());
  CHECK(test::bytes_of(back) == test::bytes_of(from));
}
