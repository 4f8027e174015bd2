// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/transpile/distribute_transpiler.hpp - divides a training program of Fluid into
// programs of trainers and parameter servers.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/distributed/transpile/transpiled_operators.hpp>
#include <lamina/io/fluid/program_message.hpp>
#include <lamina/io/fluid_training.hpp>
#include <lamina/program/operator_schema.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The number of trainers and the parameter servers of one training.
struct transpiler_options {
  std::vector<std::string> endpoints{};  // one per server, as "10.0.0.1:6174"
  int trainers = 1;
  bool sync_mode = true;  // servers wait for the gradients of all trainers
};

/// Divides a training program into programs of trainers and parameter servers, as Fluid's
/// DistributeTranspiler does with slice_var_up=False: each server gets whole parameters, in turn. A
/// trainer sends the gradient of each parameter to its server and receives the parameter. A server
/// sums the gradients (and in sync_mode divides the sum by the number of trainers), and runs clip,
/// decay and update of each of its parameters in a separate block.
///
///   const auto all = lamina::training_messages_of(net, optimizer);
///   const lamina::distribute_transpiler t(all, {.endpoints = {"a:6174", "b:6174"}, .trainers =
///   2});
///   write(lamina::to_proto(t.trainer_program(0)));
///
/// Source: Fluid 1.x, transpiler/distribute_transpiler.py. lamina exports these programs and does
/// not run them; its own training runs parameter servers as processes of the same program (docs:
/// distributed).
class distribute_transpiler {
 public:
  distribute_transpiler(training_messages of, transpiler_options options)
      : of_(std::move(of)), options_(std::move(options)) {
    if (options_.endpoints.empty() || options_.trainers < 1)
      throw error(text() << "lamina: distribute_transpiler: expected at least one endpoint and one "
                            "trainer, found "
                         << options_.endpoints.size() << " and " << options_.trainers);
    for (const std::string& e : options_.endpoints)
      if (std::count(options_.endpoints.begin(), options_.endpoints.end(), e) != 1 ||
          e.find(':') == e.npos)
        throw error(text() << "lamina: distribute_transpiler: expected different endpoints, each "
                              "an address and a port, found "
                           << e);
    for (std::size_t k = 0; k < main().operators.size(); ++k) {
      const operator_message& op = main().operators[k];
      if (!ops::is_update(op)) continue;
      const std::string& param = op.input("Param").front();
      served_.push_back(
          {k, param, ops::gradient_of(main(), op), served_.size() % options_.endpoints.size(), {}});
    }
    if (served_.empty())
      throw error("lamina: distribute_transpiler: expected a program with updates, found none");
    find_rate();
    for (served& s : served_) find_operators(s);
  }

  /// Returns the program of a trainer: forward and backward, then send, send_barrier, recv,
  /// fetch_barrier.
  program_message trainer_program(int trainer) const {
    require_trainer(trainer);
    program_message p = of_.main;
    block_message& block = p.blocks.front();
    std::vector<operator_message> kept;
    for (operator_message& op : block.operators)
      if (!ops::is_optimize(op)) kept.push_back(std::move(op));
    std::vector<std::string> sent;
    for (const served& s : served_) {
      const std::string name = sent_name(s, trainer);
      for (operator_message& op : kept) rename(op, s.gradient, name);
      for (variable_message& v : block.variables)
        if (v.name == s.gradient) v.name = name;
      sent.push_back(dummy(block));
      kept.push_back(ops::made("send", {{"X", {name}}}, {{"Out", {sent.back()}}},
                               {ops::texts("epmap", {endpoint(s)}), id(trainer), rpc(),
                                ops::texts("op_role_var", {s.param, name})}));
    }
    if (options_.sync_mode) {
      const std::string all = dummy(block);
      kept.push_back(ops::made("send_barrier", {{"X", sent}}, {{"Out", {all}}},
                               {ops::texts("endpoints", options_.endpoints), id(trainer), rpc()}));
      sent = {all};
    }
    add_receives(kept, trainer, sent, options_.sync_mode);
    if (options_.sync_mode) kept.push_back(fetch_barrier(block, trainer));
    block.operators = std::move(kept);
    forget_unused(block);
    return p;
  }
  /// Returns the startup program of a trainer, which receives all parameters from the servers.
  program_message trainer_startup_program(int trainer) const {
    require_trainer(trainer);
    program_message p = of_.startup;
    block_message& block = p.blocks.front();
    std::vector<operator_message> kept;
    for (operator_message& op : block.operators)
      if (!is_of_server(op)) kept.push_back(std::move(op));
    add_receives(kept, trainer, {}, options_.sync_mode);
    kept.push_back(fetch_barrier(block, trainer));
    block.operators = std::move(kept);
    return p;
  }
  /// Returns the program of a server: listen_and_serv, whose blocks update its parameters.
  program_message server_program(const std::string& at) const {
    const std::size_t number = number_of(at);
    program_message p;
    p.version = of_.main.version;
    block_message& global = p.blocks.emplace_back();
    std::vector<std::string> received, block_of;
    attribute_message blocks;
    blocks.name = "optimize_blocks";
    blocks.type = attribute_type::blocks;
    int rate_block = -1;
    std::vector<block_message> made;
    const auto begin = [&] {
      block_message& b = made.emplace_back();
      b.index = static_cast<int>(made.size());
      b.parent = 0;
      blocks.integers.push_back(b.index);
      return b.index;
    };
    if (!rate_.empty()) {
      rate_block = begin();
      for (const std::size_t k : rate_) add(made.back(), global, main().operators[k]);
    }
    for (const served& s : served_) {
      if (s.server != number) continue;
      const int index = begin();
      block_message& b = made.back();
      const variable_message* const gradient = main().find(s.gradient);
      std::vector<std::string> parts;
      for (int t = 0; t < options_.trainers; ++t) {
        const std::string name = sent_name(s, t);
        if (options_.sync_mode || t == 0) parts.push_back(options_.sync_mode ? name : s.gradient);
        if (options_.sync_mode) declare(global, *gradient, name, false);
      }
      declare(global, *gradient, s.gradient, false);
      for (const std::string& part : parts) received.push_back(part);
      block_of.push_back(s.gradient + ":" + std::to_string(index));
      if (options_.sync_mode && options_.trainers > 1) {
        constexpr int optimize = static_cast<int>(op_role::optimize);
        b.operators.push_back(
            ops::made("sum", {{"X", parts}}, {{"Out", {s.gradient}}}, {ops::role(optimize)}));
        b.operators.push_back(ops::scaled(s.gradient, 1.0 / options_.trainers, optimize));
      }
      for (const std::size_t k : s.operators) add(b, global, main().operators[k]);
    }
    if (blocks.integers.empty() || received.empty())
      throw error(text() << "lamina: distribute_transpiler: expected a parameter for each of "
                         << options_.endpoints.size() << " servers, found " << served_.size());
    global.operators.push_back(
        ops::made("listen_and_serv", {{"X", received}}, {},
                  {std::move(blocks), text_of("endpoint", at),
                   ops::integer("pserver_id", static_cast<std::int64_t>(number)),
                   ops::integer("Fanin", options_.trainers),
                   ops::integer("distributed_mode", options_.sync_mode ? 0 : 1),
                   ops::texts("grad_to_block_id", block_of),
                   ops::integer("lr_decay_block_id", rate_block), rpc()}));
    for (block_message& b : made) p.blocks.push_back(std::move(b));
    return p;
  }
  /// Returns the startup program of a server, which initialises its parameters and the variables of
  /// their updates.
  program_message server_startup_program(const std::string& at) const {
    const program_message program = server_program(at);
    const block_message& global = program.blocks.front();
    program_message p = of_.startup;
    block_message& block = p.blocks.front();
    std::vector<operator_message> kept;
    for (operator_message& op : block.operators) {
      bool here = false;
      ops::each(op.outputs,
                [&](const std::string& name) { here = here || global.find(name) != nullptr; });
      if (here) kept.push_back(std::move(op));
    }
    block.operators = std::move(kept);
    forget_unused(block);
    return p;
  }

 private:
  using ops = detail::transpiled_operators;
  struct served {
    std::size_t update;
    std::string param, gradient;
    std::size_t server;
    std::vector<std::size_t> operators;  // the operators that its server runs, in order
  };

  const block_message& main() const { return of_.main.blocks.front(); }
  const std::string& endpoint(const served& s) const { return options_.endpoints[s.server]; }
  static attribute_message rpc() { return ops::role(ops::rpc_role); }
  static attribute_message id(int trainer) { return ops::integer("trainer_id", trainer); }
  static attribute_message text_of(const char* name, const std::string& value) {
    attribute_message a;
    a.name = name;
    a.type = attribute_type::string;
    a.text = value;
    return a;
  }
  void require_trainer(int trainer) const {
    if (trainer < 0 || trainer >= options_.trainers)
      throw error(text() << "lamina: distribute_transpiler: expected a trainer from 0 to "
                         << options_.trainers - 1 << ", found " << trainer);
  }
  std::size_t number_of(const std::string& at) const {
    const auto found = std::find(options_.endpoints.begin(), options_.endpoints.end(), at);
    if (found == options_.endpoints.end())
      throw error(text() << "lamina: distribute_transpiler: expected one of the endpoints, found "
                         << at);
    return static_cast<std::size_t>(found - options_.endpoints.begin());
  }
  /// Returns the name under which a trainer sends a gradient.
  std::string sent_name(const served& s, int trainer) const {
    return options_.sync_mode && options_.trainers > 1
               ? s.gradient + ".trainer_" + std::to_string(trainer)
               : s.gradient;
  }

  /// Finds the operators that compute learning rates: they depend neither on a gradient nor on a
  /// parameter.
  void find_rate() {
    std::set<std::string> changing;
    for (const served& s : served_) changing.insert(s.gradient), changing.insert(s.param);
    for (std::size_t k = 0; k < main().operators.size(); ++k) {
      const operator_message& op = main().operators[k];
      if (!ops::is_optimize(op) || ops::is_update(op)) continue;
      bool changes = false;
      ops::each(op.inputs,
                [&](const std::string& n) { changes = changes || changing.count(n) != 0; });
      if (changes)
        ops::each(op.outputs, [&](const std::string& n) { changing.insert(n); });
      else if (!is_state_of_update(op))
        rate_.push_back(k);
    }
  }
  /// Tells whether an operator advances a variable that only one update reads, such as a power of
  /// beta.
  bool is_state_of_update(const operator_message& op) const {
    bool found = false;
    ops::each(op.outputs, [&](const std::string& n) {
      for (const served& s : served_)
        for (const slot_message& slot : main().operators[s.update].inputs)
          found = found || (slot.slot != "LearningRate" && ops::has({slot}, n));
    });
    return found;
  }
  /// Finds the operators of a parameter's update: the earlier operators that it needs, and the
  /// later ones that advance its states.
  void find_operators(served& s) {
    const std::vector<operator_message>& all = main().operators;
    std::set<std::string> needed;
    const std::set<std::size_t> rate(rate_.begin(), rate_.end());
    std::vector<std::size_t> found;
    ops::each(all[s.update].inputs, [&](const std::string& n) { needed.insert(n); });
    const std::set<std::string> states = needed;
    for (std::size_t k = s.update; k-- > 0;) {
      if (!ops::is_optimize(all[k]) || rate.count(k) != 0 || ops::is_update(all[k])) continue;
      bool makes = false;
      ops::each(all[k].outputs,
                [&](const std::string& n) { makes = makes || needed.count(n) != 0; });
      if (!makes) continue;
      found.push_back(k);
      ops::each(all[k].inputs, [&](const std::string& n) { needed.insert(n); });
    }
    for (const served& other : served_)
      if (other.param != s.param && needed.count(other.gradient) != 0)
        throw error(text() << "lamina: distribute_transpiler: expected an update of " << s.param
                           << " that reads its own gradient, found one that reads "
                           << other.gradient << " too, as clip_by_global_norm does");
    std::reverse(found.begin(), found.end());
    found.push_back(s.update);
    for (std::size_t k = s.update + 1; k < all.size(); ++k) {
      if (!ops::is_optimize(all[k]) || rate.count(k) != 0 || ops::is_update(all[k])) continue;
      bool advances = false, others = false;
      ops::each(all[k].outputs,
                [&](const std::string& n) { advances = advances || states.count(n) != 0; });
      ops::each(all[k].inputs,
                [&](const std::string& n) { others = others || states.count(n) == 0; });
      if (advances && !others) found.push_back(k);
    }
    s.operators = std::move(found);
  }

  static void rename(operator_message& op, const std::string& from, const std::string& to) {
    for (std::vector<slot_message>* const all : {&op.inputs, &op.outputs})
      for (slot_message& s : *all)
        for (std::string& name : s.arguments)
          if (name == from) name = to;
  }
  static void declare(block_message& block, variable_message v, const std::string& name,
                      bool persistable) {
    if (block.find(name) != nullptr) return;
    v.name = name;
    v.persistable = persistable;
    block.variables.push_back(std::move(v));
  }
  /// Copies an operator to a block of a server, and declares its variables in block 0.
  void add(block_message& to, block_message& global, const operator_message& op) const {
    for (const std::vector<slot_message>* const all : {&op.inputs, &op.outputs})
      ops::each(*all, [&](const std::string& name) {
        if (const variable_message* const v = main().find(name))
          declare(global, *v, name, v->persistable);
      });
    to.operators.push_back(op);
  }
  /// Declares a dummy variable, which only orders operators.
  static std::string dummy(block_message& block) {
    std::string name;
    for (int n = 0; name.empty() || block.find(name) != nullptr; ++n)
      name = "RPC_ORDER_" + std::to_string(n);
    variable_message v;
    v.name = name;
    v.dims = {1};
    v.stop_gradient = true;
    block.variables.push_back(v);
    return name;
  }
  void add_receives(std::vector<operator_message>& to, int trainer,
                    const std::vector<std::string>& after, bool with_barrier) const {
    for (const served& s : served_)
      to.push_back(
          ops::made("recv", {{"X", after}}, {{"Out", {s.param}}},
                    {ops::texts("epmap", {endpoint(s)}), id(trainer),
                     ops::integer("with_barrier", with_barrier ? 1 : 0, attribute_type::boolean),
                     rpc(), ops::texts("op_role_var", {s.param, s.gradient})}));
  }
  operator_message fetch_barrier(block_message& block, int trainer) const {
    return ops::made("fetch_barrier", {}, {{"Out", {dummy(block)}}},
                     {ops::texts("endpoints", options_.endpoints), id(trainer), rpc()});
  }
  /// Tells whether a startup operator initialises a variable that only servers have, or a parameter
  /// that a trainer receives.
  bool is_of_server(const operator_message& op) const {
    bool found = false;
    ops::each(op.outputs, [&](const std::string& name) {
      for (const served& s : served_)
        for (const std::size_t k : s.operators)
          found = found || ops::has(main().operators[k].inputs, name);
      for (const std::size_t k : rate_) found = found || ops::has(main().operators[k].inputs, name);
    });
    return found;
  }
  /// Removes the variables of a block that no operator of the block uses.
  static void forget_unused(block_message& block) {
    std::set<std::string> used;
    for (const operator_message& op : block.operators)
      for (const std::vector<slot_message>* const all : {&op.inputs, &op.outputs})
        ops::each(*all, [&](const std::string& name) { used.insert(name); });
    std::erase_if(block.variables, [&](const variable_message& v) {
      return used.count(v.name) == 0 && !v.need_check_feed && v.has_tensor();
    });
  }

  training_messages of_;
  transpiler_options options_;
  std::vector<served> served_;     // in the order of the updates
  std::vector<std::size_t> rate_;  // operators that compute learning rates
};

}}  // namespace lamina
