// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/minimize_groups.hpp - finds the operators that calls of minimize have recorded
// in a program that was read from a file.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/program/program_desc.hpp>
#include <lamina/program/variable_name.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// The operators that one call of minimize has recorded, except the gradients.
struct minimize_group {
  const operator_desc* seed = nullptr;      // begins the gradient of the cost
  int cost = -1;                            // the variable of the cost
  const operator_desc* schedule = nullptr;  // counts the steps and computes the learning rate
  const operator_desc* product = nullptr;   // multiplies a rate variable by the correction
  std::vector<const operator_desc*> scales = {}, updates = {};
};

/// Finds the operators of each call of minimize by their roles. Each call has recorded them in the
/// same order: decayed_learning_rate, the gradient of the cost, gradients, gradient_scale, updates.
/// All operators in blocks of gradients belong to a call, and so do the copies `x@STEP` at the
/// beginning of the body of a loop.
class minimize_groups {
 public:
  /// A function that throws an error about an operator.
  using failure = std::function<void(const operator_desc& op, const std::string& what)>;

  minimize_groups() = default;
  minimize_groups(const program_view& program, const failure& fail)
      : p_(program), is_member_(static_cast<std::size_t>(program.count.operators)) {
    std::vector<minimize_group> open(static_cast<std::size_t>(program.count.blocks));
    for (int k = 0; k < p_.count.operators; ++k)
      look_at(k, open[static_cast<std::size_t>(p_.operators[k].block)], fail);
    for (minimize_group& g : open) close(g, fail);
    for (std::size_t k = 0; k < is_member_.size() && all_.empty(); ++k)
      if (is_member_[k])
        fail(p_.operators[k],
             "expected gradients and updates that minimize records, found an operator of training");
  }

  const std::vector<minimize_group>& all() const { return all_; }
  /// Whether a call of minimize has recorded an operator.
  bool contains(const operator_desc& op) const {
    return !is_member_.empty() && is_member_[static_cast<std::size_t>(&op - p_.operators)];
  }

 private:
  int only_output(const operator_desc& op) const {
    return op.end > op.outputs && op.schema->output_count > 0 && !op.schema->outputs[0].duplicable
               ? output_of(p_, op, 0)
               : -1;
  }
  void look_at(int k, minimize_group& open, const failure& fail) {
    const operator_desc& op = p_.operators[k];
    const std::string_view type = op.schema->type;
    const bool optimizes = op.role == op_role::optimize;
    const int out = only_output(op);
    bool member = true;
    if (p_.blocks[op.block].forward_block >= 0) {  // the operators are in a block of gradients
    } else if (optimizes && type == "decayed_learning_rate") {
      close(open, fail);
      open.schedule = &op;
    } else if (optimizes && type == "elementwise_mul" && is_product(op, open)) {
      open.product = &op;
    } else if (op.role == op_role::loss_gradient) {
      if (open.seed != nullptr) close(open, fail);
      if (type != "fill_constant" || out < 0 || p_.variables[out].of < 0)
        fail(op, "expected the gradient of a cost, found another operator of training");
      open.seed = &op;
      open.cost = p_.variables[out].of;
    } else if (op.role == op_role::backward) {
      const bool copies = type == "assign" && op.block > 0 && out >= 0 &&
                          variable_name(p_, out).find("@STEP") != std::string::npos;
      if (!copies && (open.seed == nullptr || !open.updates.empty()))
        fail(op,
             "expected gradients between that of a cost and the updates, found an operator of "
             "training elsewhere");
    } else if (optimizes && type == "gradient_scale") {
      require_open(op, open, fail);
      open.scales.push_back(&op);
    } else if (op.schema->kind == operator_kind::update) {
      require_open(op, open, fail);
      open.updates.push_back(&op);
    } else {
      close(open, fail);
      member = false;
    }
    is_member_[static_cast<std::size_t>(k)] = member;
  }
  bool is_product(const operator_desc& op, const minimize_group& open) const {
    return open.schedule != nullptr && open.seed == nullptr && open.product == nullptr &&
           input_of(p_, op, 1) == output_of(p_, *open.schedule, 0);
  }
  static void require_open(const operator_desc& op, const minimize_group& open,
                           const failure& fail) {
    if (open.seed == nullptr)
      fail(op, "expected gradients of a cost before it, found an operator of training alone");
  }
  void close(minimize_group& open, const failure& fail) {
    if (open.seed != nullptr && open.updates.empty())
      fail(*open.seed,
           "expected updates of parameters after the gradients of a cost, found an "
           "operator of training without them");
    if (open.seed == nullptr && open.schedule != nullptr)
      fail(*open.schedule,
           "expected the gradients of a cost after the learning rate of a step, "
           "found an operator of training without them");
    if (open.seed != nullptr) all_.push_back(std::move(open));
    open = minimize_group{};
  }

  program_view p_{};
  std::vector<bool> is_member_{};  // for each operator, whether a call of minimize has recorded it
  std::vector<minimize_group> all_{};
};

}}}  // namespace lamina::detail
