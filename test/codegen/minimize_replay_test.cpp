// SPDX-License-Identifier: Apache-2.0
// What a file has of a call of minimize is compared with what the call records: no change is lost.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <codegen/imported_training.hpp>
#include <codegen/trained_programs.hpp>

using Catch::Contains;
using imported_training::saved;

namespace {

/// The text of a changed program, or the error.
struct outcome {
  std::string text, error;
};
outcome outcome_of(const lamina::program_message& m) {
  try {
    return {lamina::native_source(lamina::loaded_program(m, "m")), ""};
  } catch (const lamina::format_error& e) {
    return {"", e.what()};
  }
}
bool trains(const lamina::operator_message& op) {
  const lamina::attribute_message* role = op.attribute("op_role");
  return role != nullptr && role->integer != 0 && op.type != "assign";
}
/// Whether no operator of a range has the type of `op`.
bool no_other(auto begin, auto end, const lamina::operator_message& op) {
  return std::none_of(begin, end, [&](const auto& other) { return other.type == op.type; });
}
/// Another value of an attribute.
void change(lamina::attribute_message& a) {
  switch (a.type) {
    case lamina::attribute_type::real:
      a.real = a.real == 0.75f ? 0.5f : 0.75f;
      break;
    case lamina::attribute_type::string:
      a.text += "1";
      break;
    case lamina::attribute_type::boolean:
      a.integer = 1 - a.integer;
      break;
    case lamina::attribute_type::integers:
    case lamina::attribute_type::long_integers:
      a.integers.push_back(7);
      break;
    case lamina::attribute_type::reals:
      a.reals.push_back(7);
      break;
    case lamina::attribute_type::strings:
      a.texts.emplace_back("other");
      break;
    default:
      a.integer += a.name == "op_role" ? 1024 : 1;
  }
}

}  // namespace

TEST_CASE("native minimize: no change of a file is lost", "[damage]") {
  for (const lamina::program_view& p :
       {trained_programs::rules.view(), trained_programs::options.view(),
        trained_programs::inner.view()}) {
    const bool few = p.count.operators <= 100;  // of many the first alone
    const lamina::program_message m = saved(p);
    const std::string whole = outcome_of(m).text;
    REQUIRE(whole.find(".minimize(") != std::string::npos);
    int refused = 0, written = 0;
    const auto check = [&](const lamina::program_message& changed) {
      const outcome found = outcome_of(changed);
      CHECK(found.text != whole);
      ++(found.text.empty() ? refused : written);
    };
    for (std::size_t b = 0; b < m.blocks.size(); ++b)
      for (std::size_t k = 0; k < m.blocks[b].operators.size(); ++k) {
        // The same lines read all operators of one type: the first and the last are changed.
        const auto it = m.blocks[b].operators.begin() + static_cast<std::ptrdiff_t>(k);
        if (!trains(*it) || !(no_other(m.blocks[b].operators.begin(), it, *it) ||
                              (few && no_other(it + 1, m.blocks[b].operators.end(), *it))))
          continue;
        lamina::program_message changed = m;
        std::vector<lamina::operator_message>& operators = changed.blocks[b].operators;
        INFO("block " << b << ", operator " << k << ", " << operators[k].type);
        for (lamina::attribute_message& a : operators[k].attributes) {
          INFO(a.name);
          const lamina::attribute_message before = a;
          change(a);
          check(changed);
          a = before;
        }
        for (auto* slots : {&operators[k].inputs, &operators[k].outputs})
          for (lamina::slot_message& s : *slots)
            for (std::string& name : s.arguments) {
              INFO(s.slot << " " << name);
              const std::string before = name, variable = changed.blocks[0].variables[0].name;
              name = changed.blocks[0].variables[name == variable ? 1 : 0].name;
              check(changed);
              name = before;
            }
        operators.insert(operators.begin() + static_cast<std::ptrdiff_t>(k), operators[k]);
        check(changed);
        operators.erase(operators.begin() + static_cast<std::ptrdiff_t>(k));
        operators.erase(operators.begin() + static_cast<std::ptrdiff_t>(k));
        check(changed);
      }
    CHECK(refused > 100);
    CHECK(written > 0);
  }
}

TEST_CASE("native minimize: errors name what minimize records and what the file has") {
  const lamina::program_message m = saved(trained_programs::inner.view());
  const auto changed = [&](const std::string& type, auto&& f) {
    lamina::program_message made = m;
    for (lamina::block_message& b : made.blocks)
      for (lamina::operator_message& op : b.operators)
        if (op.type == type) {
          f(op);
          return outcome_of(made).error;
        }
    return std::string();
  };
  CHECK_THAT(changed("mean_grad", [](auto& op) { op.type = "abs_grad"; }),
             Contains("expected 'mean_grad', which minimize records, found another operator"));
  CHECK_THAT(changed("mul_grad", [](auto& op) { op.attributes[0].integer = 2; }),
             Contains("expected attribute 'x_num_col_dims' of the value 1, as minimize records it, "
                      "found 2") &&
                 Contains("'mul_grad')"));
  // A decay of a parameter would also be one of the other call of minimize that updates it.
  CHECK_THAT(changed("momentum", [](auto& op) { op.attributes[4].real = 0.5f; }),
             Contains("expected attribute 'l1_decay' of the value 0.5f, as minimize records it, "
                      "found 0") &&
                 Contains("'sgd')"));
  // An accumulator that is not kept.
  lamina::program_message lost = m;
  for (lamina::variable_message& v : lost.blocks[0].variables)
    if (v.name == "inner.w_0_velocity_0") v.persistable = false;
  CHECK_THAT(
      outcome_of(lost).error,
      Contains("expected the variable 'inner.w_0_velocity_0' of block 0 that minimize makes, "
               "found another"));
}
