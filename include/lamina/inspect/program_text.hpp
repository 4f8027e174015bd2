// SPDX-License-Identifier: Apache-2.0
// lamina/inspect/program_text.hpp - prints a program as text, or as a graph for Graphviz.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/messages/text.hpp>
#include <lamina/io/fluid/program_message.hpp>
#include <lamina/io/fluid/to_program_message.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Returns the type of a variable as text, such as "float32 [-1, 4]"; if the rows form sequences,
/// with the number of levels.
inline std::string type_text(const variable_message& v) {
  switch (v.kind) {
    case variable_class::step_scopes:
      return "step scopes";
    case variable_class::lod_rank_table:
      return "rank table";
    case variable_class::feed_minibatch:
      return "feed";
    case variable_class::fetch_list:
      return "fetch";
    default:
      if (!v.has_tensor()) return "type " + std::to_string(static_cast<int>(v.kind));
  }
  std::string text = v.kind == variable_class::lod_tensor_array ? "array of " : "";
  text += std::string(name_of(v.type)) + " [";
  for (std::size_t d = 0; d < v.dims.size(); ++d)
    text += (d == 0 ? "" : ", ") + std::to_string(v.dims[d]);
  text += "]";
  if (v.lod_level > 0) text += ", sequences of " + std::to_string(v.lod_level) + " levels";
  return text;
}

inline std::string short_number(double x) { return text().print("%g", x); }

/// Returns the value of an attribute as text; of a list, only the first 8 elements.
inline std::string value_text(const attribute_message& a) {
  if (a.later_type != 0) return "?";
  const auto list = [](const auto& items, auto text_of) {
    std::string text = "[";
    for (std::size_t i = 0; i < items.size() && i < 8; ++i)
      text += (i == 0 ? "" : ", ") + text_of(items[i]);
    return text + (items.size() > 8 ? ", ...]" : "]");
  };
  switch (a.type) {
    case attribute_type::real:
      return short_number(a.real);
    case attribute_type::string:
      return "'" + a.text + "'";
    case attribute_type::reals:
      return list(a.reals, [](float x) { return short_number(x); });
    case attribute_type::strings:
      return list(a.texts, [](const std::string& s) { return "'" + s + "'"; });
    case attribute_type::boolean:
      return a.integer != 0 ? "true" : "false";
    case attribute_type::integers:
    case attribute_type::booleans:
    case attribute_type::blocks:
    case attribute_type::long_integers:
      return list(a.integers, [](std::int64_t i) { return std::to_string(i); });
    case attribute_type::block:
      return "block " + std::to_string(a.integer);
    default:
      return std::to_string(a.integer);
  }
}

/// Whether the text shows an attribute. Attributes that do not change results are omitted.
inline bool is_shown(const attribute_message& a) {
  const std::string_view name = a.name;
  return name.substr(0, 3) != "op_" && name.find("mkldnn") == std::string_view::npos &&
         name != "with_quant_attr";
}

inline std::string slots_text(const std::vector<slot_message>& slot_list) {
  std::string text;
  for (const slot_message& s : slot_list) {
    if (s.arguments.empty()) continue;
    text += (text.empty() ? "" : ", ") + s.slot + "=";
    for (std::size_t i = 0; i < s.arguments.size(); ++i)
      text += (i == 0 ? "" : "+") + s.arguments[i];
  }
  return text;
}

}  // namespace detail

/// Returns a text that lists, for each block, its variables and operators, one per line:
///   fc_0.tmp_0: float32 [-1, 8]
///   Out=fc_0.tmp_0 <- mul(X=x, Y=fc_0.w_0) {x_num_col_dims: 1, y_num_col_dims: 1}
inline std::string to_string(const program_message& p) {
  std::string text;
  for (const block_message& b : p.blocks) {
    text += "block " + std::to_string(b.index);
    if (b.parent >= 0) text += " in block " + std::to_string(b.parent);
    if (b.forward_block >= 0) text += ", gradients of block " + std::to_string(b.forward_block);
    text += "\n";
    for (const variable_message& v : b.variables) {
      text += "  " + v.name + ": " + detail::type_text(v);
      if (v.persistable) text += v.is_parameter ? ", parameter" : ", persistable";
      if (v.need_check_feed) text += ", fed";
      text += "\n";
    }
    for (const operator_message& op : b.operators) {
      const std::string outputs = detail::slots_text(op.outputs);
      text += "  " + (outputs.empty() ? "" : outputs + " <- ") + op.type + "(" +
              detail::slots_text(op.inputs) + ")";
      std::string attributes;
      for (const attribute_message& a : op.attributes)
        if (detail::is_shown(a))
          attributes += (attributes.empty() ? "" : ", ") + a.name + ": " + detail::value_text(a);
      text += (attributes.empty() ? "" : " {" + attributes + "}") + "\n";
    }
  }
  return text;
}
template <program_type P>
std::string to_string(P program) {
  return to_string(to_program_message(program));
}

namespace detail {

/// Draws a program. Operators are boxes; feeds, parameters and results are rounded boxes; blocks
/// are frames.
class dot_writer {
 public:
  explicit dot_writer(const program_message& program) : p_(program) {}

  std::string draw() {
    text_ =
        "digraph program {\n"
        "  rankdir=TB; nodesep=0.25; ranksep=0.35; compound=true;\n"
        "  node [fontname=\"Helvetica\", fontsize=11, height=0.3, style=filled, "
        "color=\"#5b6b7b\"];\n"
        "  edge [fontname=\"Helvetica\", fontsize=9, color=\"#7a8896\", fontcolor=\"#5b6b7b\", "
        "arrowsize=0.6];\n";
    draw_block(0, "  ");
    // The blocks so far are those that operators run; draws the remaining blocks.
    for (const block_message& b : p_.blocks)
      if (!drawn(b.index)) draw_block(b.index, "  ");
    return text_ + edges_ + "}\n";
  }

 private:
  struct last_writer {
    std::string name, node;
    int block;
  };

  static std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      if (c == '\n')
        out += "\\n";
      else
        out += c;
    }
    return out + "\"";
  }
  bool drawn(int block) const {
    for (const int b : drawn_)
      if (b == block) return true;
    return false;
  }
  const variable_message* variable(int block, std::string_view name) const {
    for (; block >= 0 && block < static_cast<int>(p_.blocks.size());
         block = p_.blocks[static_cast<std::size_t>(block)].parent)
      if (const variable_message* v = p_.blocks[static_cast<std::size_t>(block)].find(name))
        return v;
    return nullptr;
  }

  void draw_block(int index, const std::string& indent) {
    drawn_.push_back(index);
    const block_message& b = p_.blocks[static_cast<std::size_t>(index)];
    for (const operator_message& op : b.operators) {
      if (op.type == "feed" || op.type == "fetch") continue;
      const std::string node = "op" + std::to_string(operators_++);
      const bool gradient = op.type.size() > 5 && op.type.substr(op.type.size() - 5) == "_grad";
      const attribute_message* sub = op.attribute("sub_block");
      text_ += indent + node + " [shape=box, label=" + quoted(op.type) + ", fillcolor=\"" +
               (sub != nullptr ? "#ffe3b3"
                : gradient     ? "#f6d5d5"
                               : "#d5e8f6") +
               "\"];\n";
      for (const slot_message& s : op.inputs)
        for (const std::string& name : s.arguments) connect(index, name, node);
      if (sub != nullptr && sub->type == attribute_type::block && sub->integer > index &&
          sub->integer < static_cast<std::int64_t>(p_.blocks.size()) &&
          !drawn(static_cast<int>(sub->integer))) {
        const std::string inner = std::to_string(sub->integer);
        text_ += indent + "subgraph cluster_" + inner + " {\n" + indent +
                 "  style=\"rounded,dashed\"; color=\"#c08a2e\"; fontname=\"Helvetica\"; label=" +
                 quoted(op.type + ": block " + inner) + ";\n";
        draw_block(static_cast<int>(sub->integer), indent + "  ");
        text_ += indent + "}\n";
      }
      for (const slot_message& s : op.outputs)
        for (const std::string& name : s.arguments) writers_.push_back({name, node, index});
    }
  }

  // Draws an edge to `node` from the last operator that has written a variable, or from the
  // variable if no operator has.
  void connect(int block, const std::string& name, const std::string& node) {
    const variable_message* v = variable(block, name);
    std::string label;
    if (v != nullptr && v->has_tensor()) {
      label = "[";
      for (std::size_t d = 0; d < v->dims.size(); ++d)
        label += (d == 0 ? "" : ", ") + (v->dims[d] < 0 ? "?" : std::to_string(v->dims[d]));
      label += "]";
    }
    for (std::size_t i = writers_.size(); i-- > 0;) {
      if (writers_[i].name != name || writers_[i].node == node) continue;
      edges_ += "  " + writers_[i].node + " -> " + node + " [label=" + quoted(label) + "];\n";
      return;
    }
    if (v == nullptr) return;
    for (const std::string& known : leaves_)
      if (known == name) {
        edges_ += "  " + quoted(name) + " -> " + node + ";\n";
        return;
      }
    leaves_.push_back(name);
    text_ += "  " + quoted(name) + " [shape=ellipse, label=" + quoted(name + "\n" + label) +
             ", fillcolor=\"" + (v->persistable ? "#dff0d8" : "#ffffff") + "\"];\n";
    edges_ += "  " + quoted(name) + " -> " + node + ";\n";
  }

  const program_message& p_;
  std::string text_, edges_;
  std::vector<last_writer> writers_;
  std::vector<std::string> leaves_;
  std::vector<int> drawn_;
  int operators_ = 0;
};

}  // namespace detail

/// Returns a program as a graph for Graphviz, which `dot -Tsvg` draws. Operators are boxes,
/// gradient operators are red, parameters are green, and loops and branches are frames.
inline std::string to_dot(const program_message& p) { return detail::dot_writer(p).draw(); }
template <program_type P>
std::string to_dot(P program) {
  return to_dot(to_program_message(program));
}

}}  // namespace lamina
