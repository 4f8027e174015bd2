// SPDX-License-Identifier: Apache-2.0
// Training programs in Fluid's form for several processes: what trainers and servers compute
// together is what the whole program computes.
#include <cstddef>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "distributed/thread_group.hpp"
#include <catch2/catch.hpp>
#include <executor/shared_executor.hpp>

#include <lamina/distributed/transpile/all_reduced_messages.hpp>
#include <lamina/distributed/transpile/distribute_transpiler.hpp>
#include <lamina/io/fluid_training.hpp>
#include <lamina/io/loaded_program.hpp>
#include <lamina/io/program_desc_json.hpp>
#include <lamina/io/program_desc_proto.hpp>
#include <lamina/lamina.hpp>
#include <lamina/train/world_calls.hpp>

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
using Catch::Contains;
using lamina::loaded_program;
using lamina::tensor;

namespace {

// A weight with a factor, a clip and a decay of its own, and a bias without.
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 2>(main);
  auto y = layer::data<"y", float, 1>(main);
  auto h = layer::fc<3>(x, {.act = lamina::activation::tanh});
  auto found = layer::fc<1>(h, {.param = {.learning_rate = 0.5f,
                                          .regularizer = lamina::l1_decay(0.01f),
                                          .gradient_clip = lamina::clip_by_value(0.2f)}});
  return layer::mean(layer::square_error_cost(found, y));
});
const std::vector<float> xs{1, 2, -1, 0.5f, 0.25f, -1, 2, 2}, ys{3, -2, 1, 0.5f};
lamina::feed_map feeds(std::size_t first, std::size_t end) {
  const auto part = [&](const std::vector<float>& of, std::size_t columns) {
    return tensor({end - first, columns},
                  std::vector<float>(of.begin() + static_cast<std::ptrdiff_t>(first * columns),
                                     of.begin() + static_cast<std::ptrdiff_t>(end * columns)));
  };
  return {{"x", part(xs, 2)}, {"y", part(ys, 1)}};
}
std::string name_of_parameter(int i) {
  return lamina::variable_name(net.view(), net.view().parameters[i].variable);
}
const lamina::optimizer::adam adam{
    .learning_rate = lamina::schedule::exponential_decay{
        .learning_rate = 0.1f, .decay_steps = 2, .decay_rate = 0.5f}};
const std::vector<std::string> no_fetches;

using parameters = std::vector<std::vector<float>>;
parameters parameters_in(lamina::scope& scope) {
  parameters all;
  for (int i = 0; i < 4; ++i) {
    const auto& a = scope.var(name_of_parameter(i)).as<float>();
    all.emplace_back(a.begin(), a.end());
  }
  return all;
}
/// Runs the startup program, and sets the parameters.
void begin(lamina::executor& executor, const lamina::program_message& startup,
           lamina::scope& scope) {
  executor.run(loaded_program(startup, "startup"), scope, {}, no_fetches);
  lamina::model model{net, 3};
  for (int i = 0; i < 4; ++i) scope.var(name_of_parameter(i)) = tensor(model.get(i));
}
/// What the whole program reaches in three steps.
parameters reached_alone(const lamina::training_messages& all) {
  lamina::executor executor;
  lamina::scope scope;
  begin(executor, all.startup, scope);
  const loaded_program main(all.main, "main");
  for (int step = 0; step < 3; ++step) executor.run(main, scope, feeds(0, 4), no_fetches);
  return parameters_in(scope);
}
void require_near(const parameters& a, const parameters& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < a[i].size(); ++k) REQUIRE(a[i][k] == Approx(b[i][k]).margin(1e-6));
}
/// The program after it was written as protobuf and as JSON.
lamina::program_message written(const lamina::program_message& p) {
  const lamina::program_message read = lamina::from_proto(lamina::to_proto(p));
  CHECK(read == p);
  CHECK(lamina::from_json(lamina::to_json(p)) == p);
  return read;
}
std::vector<std::string> types_of(const lamina::block_message& b) {
  std::vector<std::string> all;
  for (const auto& op : b.operators) all.push_back(op.type);
  return all;
}

TEST_CASE("Processes that sum gradients reach what one reaches") {
  const auto all = lamina::training_messages_of(net, adam);
  const auto divided = lamina::all_reduced_messages(all, 2, 2);
  const lamina::program_message main = written(divided.main);
  int sums = 0;
  std::set<std::int64_t> rings;
  for (const auto& op : main.blocks[0].operators)
    if (op.type == "c_allreduce_sum") {
      ++sums, rings.insert(op.attribute("ring_id")->integer);
      CHECK(op.input("X") == op.output("Out"));
    }
  CHECK(sums == 4);
  CHECK(rings.size() == 2);
  parameters reached[2];
  test::in_ranks(2, [&](test::thread_group& w) {
    lamina::executor executor;
    lamina::scope scope;
    begin(executor, divided.startup, scope);
    const loaded_program program(main, "main");
    lamina::world_calls calls(w);
    lamina::run_options options;
    options.processes = &calls;
    const std::size_t first = w.rank() == 0 ? 0 : 2;
    for (int step = 0; step < 3; ++step)
      executor.run(program, scope, feeds(first, first + 2), no_fetches, options);
    reached[w.rank()] = parameters_in(scope);
  });
  CHECK(reached[0] == reached[1]);
  require_near(reached[0], reached_alone(all));
  CHECK_THROWS_WITH(lamina::all_reduced_messages(all, 0), Contains("found 0 and 1"));
  CHECK_THROWS_WITH(lamina::all_reduced_messages({lamina::to_program_message(net), {}}, 2),
                    Contains("expected a program with updates, found none"));
}

/// The operators of a block of a server as a program.
loaded_program program_of(const lamina::program_message& server, std::size_t block) {
  lamina::program_message p;
  p.blocks.push_back(server.blocks[0]);
  p.blocks[0].operators = server.blocks[block].operators;
  for (auto& v : p.blocks[0].variables) v.persistable = true;  // the blocks share a scope
  return loaded_program(p, "server");
}

TEST_CASE("Trainers and servers reach what one program reaches") {
  const auto all = lamina::training_messages_of(net, adam);
  const std::vector<std::string> endpoints{"10.0.0.1:6174", "10.0.0.2:6174"};
  const lamina::distribute_transpiler t(all, {.endpoints = endpoints, .trainers = 2});

  // The parameters and the gradients travel through these.
  std::map<std::string, tensor> on_wire;
  lamina::executor executor;
  lamina::scope trainers[2], servers[2];
  std::vector<lamina::program_message> trainer_programs, server_programs;
  for (int i = 0; i < 2; ++i) {
    trainer_programs.push_back(written(t.trainer_program(i)));
    server_programs.push_back(written(t.server_program(endpoints[static_cast<std::size_t>(i)])));
    const auto startup = written(t.server_startup_program(endpoints[static_cast<std::size_t>(i)]));
    begin(executor, startup, servers[i]);
    written(t.trainer_startup_program(i));
    lamina::model model{net, 3};
    for (int k = 0; k < 4; ++k) trainers[i].var(name_of_parameter(k)) = tensor(model.get(k));
  }
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < 2; ++i) {
      lamina::program_message local = trainer_programs[static_cast<std::size_t>(i)];
      std::vector<std::string> sent;
      std::erase_if(local.blocks[0].operators, [&](const lamina::operator_message& op) {
        if (op.type == "send") sent.push_back(op.input("X").front());
        return op.type == "send" || op.type == "recv" || op.type == "send_barrier" ||
               op.type == "fetch_barrier";
      });
      REQUIRE(sent.size() == 4);
      const std::size_t first = i == 0 ? 0 : 2;
      const auto found = executor.run(loaded_program(local, "trainer"), trainers[i],
                                      feeds(first, first + 2), sent);
      for (std::size_t k = 0; k < sent.size(); ++k) on_wire[sent[k]] = found[k];
    }
    for (std::size_t i = 0; i < 2; ++i) {
      const auto& listen = server_programs[i].blocks[0].operators.at(0);
      REQUIRE(listen.type == "listen_and_serv");
      for (const std::string& name : listen.input("X")) servers[i].var(name) = on_wire.at(name);
      for (const std::int64_t block : listen.attribute("optimize_blocks")->integers)
        executor.run(program_of(server_programs[i], static_cast<std::size_t>(block)), servers[i],
                     {}, no_fetches);
    }
    for (int i = 0; i < 2; ++i)
      for (const auto& op : trainer_programs[static_cast<std::size_t>(i)].blocks[0].operators)
        if (op.type == "recv") {
          const std::size_t from = op.attribute("epmap")->texts.front() == endpoints[0] ? 0 : 1;
          const std::string& name = op.output("Out").front();
          trainers[i].var(name) = servers[from].var(name);
        }
  }
  CHECK(parameters_in(trainers[0]) == parameters_in(trainers[1]));
  require_near(parameters_in(trainers[0]), reached_alone(all));
}

TEST_CASE("Trainers' and servers' programs have Fluid's operators") {
  const auto all = lamina::training_messages_of(net, optimizer::sgd{.learning_rate = 0.1f});
  const lamina::distribute_transpiler t(all, {.endpoints = {"a:1", "b:2"}, .trainers = 3});
  const auto trainer = t.trainer_program(2);
  const auto types = types_of(trainer.blocks[0]);
  const std::vector<std::string> last(types.end() - 10, types.end());
  CHECK(last == std::vector<std::string>{"send", "send", "send", "send", "send_barrier", "recv",
                                         "recv", "recv", "recv", "fetch_barrier"});
  for (const auto& op : trainer.blocks[0].operators)
    if (op.type == "send")
      CHECK(op.input("X").front().find("@GRAD.trainer_2") != std::string::npos);
  const auto server = t.server_program("b:2");
  // The learning rate of the weight with a factor, and the updates of two parameters.
  REQUIRE(server.blocks.size() == 4);
  CHECK(types_of(server.blocks[1]) == std::vector<std::string>{"scale"});
  const auto& listen = server.blocks[0].operators.front();
  CHECK(listen.attribute("Fanin")->integer == 3);
  CHECK(listen.attribute("endpoint")->text == "b:2");
  CHECK(listen.attribute("pserver_id")->integer == 1);
  CHECK(listen.attribute("distributed_mode")->integer == 0);
  CHECK(listen.attribute("grad_to_block_id")->texts.size() == 2);
  CHECK(listen.input("X").size() == 6);
  CHECK(listen.attribute("lr_decay_block_id")->integer == 1);
  for (const std::size_t b : {2u, 3u}) {
    const auto ran = types_of(server.blocks[b]);
    CHECK(ran.front() == "sum");
    CHECK(ran[1] == "scale");
    CHECK(ran.back() == "sgd");
  }
  // Without barriers, gradients of each trainer are used as they come.
  const lamina::distribute_transpiler loose(
      all, {.endpoints = {"a:1"}, .trainers = 2, .sync_mode = false});
  for (const std::string& type : types_of(loose.trainer_program(0).blocks[0]))
    CHECK((type != "send_barrier" && type != "fetch_barrier"));
  CHECK(loose.server_program("a:1")
            .blocks[0]
            .operators.front()
            .attribute("distributed_mode")
            ->integer == 1);
}

TEST_CASE("A training that cannot be divided so is an error") {
  const auto all = lamina::training_messages_of(net, optimizer::sgd{.learning_rate = 0.1f});
  using transpiler = lamina::distribute_transpiler;
  CHECK_THROWS_WITH(transpiler(all, {}), Contains("expected at least one endpoint"));
  CHECK_THROWS_WITH(transpiler(all, {.endpoints = {"a:1", "a:1"}}),
                    Contains("expected different endpoints"));
  CHECK_THROWS_WITH(transpiler(all, {.endpoints = {"a"}}), Contains("an address and a port"));
  const transpiler t(all, {.endpoints = {"a:1"}});
  CHECK_THROWS_WITH(t.trainer_program(1), Contains("expected a trainer from 0 to 0, found 1"));
  CHECK_THROWS_WITH(t.server_program("b:1"), Contains("expected one of the endpoints, found b:1"));
  const transpiler many(all, {.endpoints = {"a:1", "b:1", "c:1", "d:1", "e:1"}});
  CHECK_THROWS_WITH(many.server_program("e:1"), Contains("for each of 5 servers, found 4"));
  const auto clipped = lamina::training_messages_of(
      net, optimizer::sgd{.learning_rate = 0.1f, .clip = lamina::clip_by_global_norm(1)});
  CHECK_THROWS_WITH(transpiler(clipped, {.endpoints = {"a:1"}}),
                    Contains("as clip_by_global_norm does"));
}

}  // namespace
