// SPDX-License-Identifier: Apache-2.0
// Which evaluator and which trainer a call makes, with a model that fits, that was refused, and of
// a program with a mistake.
#include <type_traits>
#include <utility>

#include <catch2/catch.hpp>

#include <lamina/layers/data.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/operators/matrix/fc/layer.hpp>
#include <lamina/operators/reduce/dimensions/layer.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/train/trainer.hpp>

using namespace lamina;

namespace {

constexpr auto net = program([](block& main) {
  auto x = layer::data<"x", float, 2>(main);
  return layer::mean(layer::fc<1>(x, {.name = "output"}));
});
using net_type = std::remove_const_t<decltype(net)>;
struct faulty {
  static constexpr program_desc desc = [] {
    program_desc made = net_type::desc;
    made.fault.kind = fault_kind::name_used_twice;
    return made;
  }();
};

TEST_CASE("an evaluator is that of the model, whatever follows") {
  model m{net};
  const auto& unchanged = m;
  evaluator plain{m};
  evaluator of_constant{unchanged};
  evaluator seeded{m, 7};
  evaluator braced{m, {.threads = 2}};
  evaluator optioned{m, evaluator_options{.threads = 2}};
  using expected = evaluator<net_type>;
  STATIC_REQUIRE(std::is_same_v<decltype(plain), expected>);
  STATIC_REQUIRE(std::is_same_v<decltype(of_constant), expected>);
  STATIC_REQUIRE(std::is_same_v<decltype(seeded), expected>);
  STATIC_REQUIRE(std::is_same_v<decltype(braced), expected>);
  STATIC_REQUIRE(std::is_same_v<decltype(optioned), expected>);
  for (auto* e : {&plain, &of_constant, &seeded, &braced, &optioned}) {
    e->forward(feed<"x">({1.f, 2.f}));
    CHECK(e->activation<"output">()(0, 0) ==
          m.parameter<"output.w_0">()(0, 0) + 2 * m.parameter<"output.w_0">()(1, 0));
  }
}

TEST_CASE("a trainer is that of the model and the type of the optimizer, constant or not") {
  model m{net};
  optimizer::adam adam;
  const optimizer::adam fixed;
  trainer plain{m, adam};
  trainer of_constant{m, fixed};
  trainer of_temporary{m, optimizer::adam{}};
  trainer braced{m, adam, {.threads = 2}};
  trainer optioned{m, optimizer::adam{}, optimizer::train_options{.threads = 2}};
  using expected = trainer<net_type, optimizer::adam>;
  STATIC_REQUIRE(std::is_same_v<decltype(plain), expected>);
  STATIC_REQUIRE(std::is_same_v<decltype(of_constant), expected>);
  STATIC_REQUIRE(std::is_same_v<decltype(of_temporary), expected>);
  STATIC_REQUIRE(std::is_same_v<decltype(braced), expected>);
  STATIC_REQUIRE(std::is_same_v<decltype(optioned), expected>);
  CHECK(&plain.optimizer() == &adam);
}

TEST_CASE("what is made of a program with a mistake compiles and does nothing") {
  using evaluates = evaluator<faulty>;
  using trains = trainer<faulty, optimizer::adam>;
  STATIC_REQUIRE(std::is_base_of_v<refused_evaluator, evaluates>);
  STATIC_REQUIRE(std::is_base_of_v<trainer_diagnostics, trains>);
  STATIC_REQUIRE(std::is_constructible_v<evaluates, const model<faulty>&>);
  STATIC_REQUIRE(std::is_constructible_v<evaluates, const model<faulty>&, int>);
  STATIC_REQUIRE(std::is_constructible_v<evaluates, const model<faulty>&, evaluator_options>);
  STATIC_REQUIRE(std::is_constructible_v<trains, model<faulty>&, optimizer::adam&>);
  STATIC_REQUIRE(
      std::is_constructible_v<trains, model<faulty>&, optimizer::adam&, optimizer::train_options>);
}

TEST_CASE("a call without a model makes what explains it") {
  using nothing = detail::no_program;
  STATIC_REQUIRE(
      std::is_same_v<decltype(evaluator{std::declval<model<nothing>&>()}), evaluator<nothing>>);
  STATIC_REQUIRE(std::is_same_v<detail::evaluated_in<int>, nothing>);
  STATIC_REQUIRE(std::is_same_v<detail::evaluated_in<model<net_type>>, net_type>);
  STATIC_REQUIRE(std::is_same_v<detail::evaluated_in<net_type>, net_type>);
  using adam = optimizer::adam;
  using fits = detail::trained<model<net_type>, adam, train_options>;
  STATIC_REQUIRE(std::is_same_v<fits::program, net_type>);
  STATIC_REQUIRE(std::is_same_v<fits::rule, adam>);
  STATIC_REQUIRE(std::is_same_v<detail::net_in<net_type, adam, train_options>, net_type>);
  STATIC_REQUIRE(std::is_same_v<detail::net_in<model<net_type>, int, train_options>, nothing>);
  STATIC_REQUIRE(std::is_same_v<detail::net_in<model<net_type>, left_out, train_options>, nothing>);
  STATIC_REQUIRE(std::is_same_v<detail::net_in<model<net_type>, adam, int>, nothing>);
}

}  // namespace
