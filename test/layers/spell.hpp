// SPDX-License-Identifier: Apache-2.0
// Spells a recorded program as text, one line an operator, for tests.
#pragma once

#include <string>
#include <vector>

#include <lamina/core/messages/text.hpp>
#include <lamina/program/names.hpp>
#include <lamina/program/program_desc.hpp>

/// "X=x -> Out=relu_0.tmp_0[-1,4] alpha=0.1": slots with names, outputs with shapes, attributes.
inline std::vector<std::string> spell(const lamina::program_view& p) {
  const auto number = [](double v) {
    std::string s = lamina::text().print("%f", v);
    while (s.back() == '0') s.pop_back();
    if (s.back() == '.') s.pop_back();
    return s;
  };
  const auto name = [&](int v) {
    if (v < 0) return std::string("-");
    std::string text(static_cast<std::size_t>(lamina::name_length(p, v)), ' ');
    lamina::name_writer w{text.data()};
    lamina::write_name(p, v, w);
    return text;
  };
  const auto shaped = [&](int v) {
    std::string s = name(v) + "[";
    for (int i = 0; i < p.variables[v].rank; ++i)
      s += (i > 0 ? "," : "") + std::to_string(p.dims[p.variables[v].dims + i]);
    s += "]";
    if (p.variables[v].type != lamina::dtype::float32) s += lamina::name_of(p.variables[v].type);
    return s;
  };
  std::vector<std::string> lines;
  for (int k = 0; k < p.count.operators; ++k) {
    const lamina::operator_desc& op = p.operators[k];
    const lamina::operator_schema& s = *op.schema;
    if (std::string(s.type) == "data") continue;
    std::string line = std::string(s.type) + ":";
    int at = op.inputs;
    for (int i = 0; i < s.input_count; ++i) {
      const int n = s.inputs[i].duplicable ? p.arguments[at++] : 1;
      for (int j = 0; j < n; ++j) {
        const int v = p.arguments[at++];
        if (v >= 0) line += std::string(" ") + s.inputs[i].name + "=" + name(v);
      }
    }
    line += " ->";
    for (int i = 0; i < s.output_count; ++i) {
      const int n = s.outputs[i].duplicable ? p.arguments[at++] : 1;
      for (int j = 0; j < n; ++j) {
        const int v = p.arguments[at++];
        if (v >= 0) line += std::string(" ") + s.outputs[i].name + "=" + shaped(v);
      }
    }
    if (at != op.end) line += " BROKEN";
    for (int i = 0; op.attributes >= 0 && i < s.attribute_count; ++i) {
      const lamina::attribute_value& a = p.attributes[op.attributes + i];
      line += std::string(" ") + s.attributes[i].name + "=";
      switch (s.attributes[i].type) {
        case lamina::attribute_type::string:
          line += std::string(p.characters + a.offset, static_cast<std::size_t>(a.count));
          break;
        case lamina::attribute_type::integers:
        case lamina::attribute_type::long_integers:
          for (int j = 0; j < a.count; ++j)
            line += (j > 0 ? "," : "") + std::to_string(p.integers[a.offset + j]);
          break;
        default:
          line += number(a.number);
      }
    }
    lines.push_back(line);
  }
  return lines;
}
