// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/native_calls.hpp - writes the call of a layer for an operator, as the rows of
// layer_calls.hpp describe it.
#pragma once

#include <lamina/core/config.hpp>

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/codegen/cpp_text.hpp>
#include <lamina/codegen/native_fusion.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Writes the calls of layers.
class native_calls : protected native_fusion {
 protected:
  using native_fusion::native_fusion;

  static std::vector<std::string> split(std::string_view list) {
    std::vector<std::string> items;
    while (!list.empty()) {
      const std::size_t end = list.find(',');
      std::string_view item = list.substr(0, end);
      while (item.starts_with(' ')) item.remove_prefix(1);
      while (item.ends_with(' ')) item.remove_suffix(1);
      if (!item.empty()) items.emplace_back(item);
      if (end == std::string_view::npos) break;
      list.remove_prefix(end + 1);
    }
    return items;
  }
  void finish(layer_text& made) {
    std::erase(made.options, "&act");
    if (const std::string name = layer_name(made.key, made.base); !name.empty())
      made.options.push_back(".name = " + native_statement::name(name));
    while (!made.templates.empty() && made.templates.back().empty()) made.templates.pop_back();
    if (made.function == "fc" || made.function == "conv2d") kinds_[made.results[0]] = made.function;
    std::string text = "layer::" + made.function;
    for (std::size_t i = 0; i < made.templates.size(); ++i)
      text += (i == 0 ? "<" : ", ") + made.templates[i];
    if (!made.templates.empty()) text += ">";
    text += "(" + made.arguments;
    for (std::size_t i = 0; i < made.options.size(); ++i)
      text += (i == 0 ? ", {" : ", ") + made.options[i];
    text += made.options.empty() ? ");" : "});";
    assign(made.results, text, made.function == constant);
  }
  /// Writes the call that a row of layer_calls.hpp describes. Returns false if operator k does not
  /// fit the row.
  bool call(std::size_t k, std::string_view row, layer_text& made) {
    const operator_desc& op = *operators_[k];
    const std::size_t open = row.find('('), close = row.find(')');
    std::string_view head = row.substr(0, open), arguments = row.substr(open + 1, close - open - 1),
                     tail = row.substr(close + 1), templates, options;
    if (const std::size_t angle = head.find('<'); angle != std::string_view::npos) {
      templates = head.substr(angle + 1, head.size() - angle - 2);
      head = head.substr(0, angle);
    }
    if (const std::size_t semicolon = arguments.find(';'); semicolon != std::string_view::npos) {
      options = arguments.substr(semicolon + 1);
      arguments = arguments.substr(0, semicolon);
    }
    // Layers of two operands take one type.
    if (const int x = input(op, "X"), y = input(op, "Y");
        head.starts_with("elementwise_") && x >= 0 && y >= 0 &&
        p_.variables[x].type != p_.variables[y].type)
      return false;
    made.function = head;
    made.key = op.schema->type;
    std::string finishing;
    std::vector<std::string> results;
    if (const std::size_t key = tail.find("key "); key != std::string_view::npos) {
      made.key = tail.substr(key + 4);
      tail = tail.substr(0, key);
    }
    if (const std::size_t plus = tail.find('+'); plus != std::string_view::npos) {
      finishing = split(tail.substr(plus + 1)).at(0);
      tail = tail.substr(0, plus);
    }
    if (const std::size_t arrow = tail.find("->"); arrow != std::string_view::npos)
      results = split(tail.substr(arrow + 2));
    if (results.empty()) results.emplace_back(op.schema->outputs[0].name);

    used_slots_.clear();
    used_attributes_.clear();
    for (const std::string& slot : results) {
      std::vector<int> all = in_slot(op, slot, false);
      if (all.empty()) return false;
      if (made.function != "split") all.resize(1);  // the only layer that returns a list
      for (const int v : all)
        if (handles_.count(v) != 0) return false;
      made.results.insert(made.results.end(), all.begin(), all.end());
    }
    made.base = base_of(made.results[0]);
    if (trains() && made.function == constant && !p_.variables[made.results[0]].stop_gradient)
      return false;
    if (made.function == "$pool2d" && !pool(op, made)) return false;
    const bool is_fc = finishing == "$flatten" && fc(k, made);
    if (!is_fc) {
      if (finishing == "$flatten") made.key = "mul";
      for (const std::string& item : split(templates))
        if (!template_argument(op, item, made)) return false;
      for (const std::string& item : split(arguments))
        if (!argument(k, item, made)) return false;
      for (const std::string& item : split(options))
        if (!option(op, item, made)) return false;
      if (!is_complete(op, made)) return false;
    }
    if (finishing == "1") return fuse(made, 1, input(op, "Bias") < 0);
    if (finishing == "$act") return fuse(made, 0, false);
    if (is_fc)
      return fuse(made, made.templates.at(1).empty() ? 1 : number_of(made.templates[1]), true);
    return true;
  }
  // Whether slots and attributes that the row does not name are empty or have their defaults, and
  // whether results that the function does not return are unused.
  bool is_complete(const operator_desc& op, const layer_text& made) const {
    for (int s = 0; s < op.schema->input_count; ++s)
      if (used_slots_.count(op.schema->inputs[s].name) == 0 &&
          !in_slot(op, op.schema->inputs[s].name, true).empty())
        return false;
    for (int i = 0; i < op.schema->attribute_count; ++i)
      if (used_attributes_.count(op.schema->attributes[i].name) == 0 && !is_default(op, i))
        return false;
    bool fits = true;
    each(op, false, [&](int v) {
      for (const int r : made.results)
        if (r == v) return;
      // Nothing reads a statistic that the operator updates in place, except the operator.
      if (is_parameter(v) || p_.variables[v].persistable) return;
      fits = fits && reads_[at(v)] == 0;
    });
    return fits;
  }
  bool template_argument(const operator_desc& op, const std::string& item, layer_text& made) {
    if (item[0] == '$') return computed(op, item.substr(1), made);
    if (item.ends_with("...")) {
      const std::string name = item.substr(0, item.size() - 3);
      used_attributes_.insert(name);
      for (const int i : list(op, name)) made.templates.push_back(std::to_string(i));
      return true;
    }
    const std::size_t equals = item.find('=');
    const std::string name = item.substr(0, equals);
    const int i = attribute(op, name);
    if (i < 0) return false;
    used_attributes_.insert(name);
    const std::string text = literal(op, i);
    made.templates.push_back(equals != std::string::npos && text == item.substr(equals + 1) ? ""
                                                                                            : text);
    if (!made.templates.back().empty())  // then the arguments before it must be written too
      for (std::size_t n = 0; n + 1 < made.templates.size(); ++n)
        if (made.templates[n].empty()) made.templates[n] = defaults_.at(n);
    defaults_.resize(made.templates.size());
    defaults_.back() = equals == std::string::npos ? text : item.substr(equals + 1);
    return true;
  }
  static std::string pair(const std::vector<int>& two) {
    return two[0] == two[1] ? std::to_string(two[0])
                            : "{" + std::to_string(two[0]) + ", " + std::to_string(two[1]) + "}";
  }
  static std::string extent2_text(const std::vector<int>& two) {
    return two[0] == two[1] ? pair(two) : "lamina::extent2" + pair(two);
  }
  // Writes strides, paddings and dilations as the options of a window. Returns false if a list does
  // not have two numbers.
  bool window(const operator_desc& op, bool ceil_mode, std::string& text) const {
    std::string inside;
    const std::pair<const char*, const char*> members[] = {
        {"strides", "stride"}, {"paddings", "padding"}, {"dilations", "dilation"}};
    for (const auto& [attribute, member] : members) {
      const std::vector<int> two = list(op, attribute);
      const int usual = attribute == std::string_view("paddings") ? 0 : 1;
      if (two.empty() || two == std::vector{usual, usual}) continue;
      if (two.size() != 2) return false;
      inside += (inside.empty() ? "." : ", .") + std::string(member) + " = " + pair(two);
    }
    if (const double groups = number(op, "groups"); groups > 1)
      inside += (inside.empty() ? "." : ", .") + ("groups = " + number_text(groups));
    if (ceil_mode) inside += inside.empty() ? ".ceil_mode = true" : ", .ceil_mode = true";
    text = inside.empty() ? "" : "lamina::window{" + inside + "}";
    return true;
  }
  bool pool(const operator_desc& op, layer_text& made) {
    const bool all = number(op, "global_pooling") != 0, adaptive = number(op, "adaptive") != 0;
    const std::vector<int> size = list(op, "ksize");
    std::string text;
    if (!has_rows(input(op, "X")) || size.size() != 2 ||
        !window(op, number(op, "ceil_mode") != 0, text))
      return false;
    made.key = adaptive ? "adaptive_pool2d" : "pool2d";
    made.function = all ? "global_pool2d" : adaptive ? "adaptive_pool2d" : "pool2d";
    if (all && adaptive) return false;
    if (!all) made.templates.push_back(extent2_text(size));
    if (!all && !adaptive) made.templates.push_back(text);
    return true;
  }
  bool computed(const operator_desc& op, const std::string& item, layer_text& made) {
    const int result = made.results[0];
    const auto parameter_dim = [&](std::size_t offset, std::size_t d) {
      const int v = input(op, item.substr(offset));
      const std::vector<int> dims = is_parameter(v) ? dims_of(v) : std::vector<int>();
      if (dims.size() != 2) return false;
      made.templates.push_back(std::to_string(dims[d]));
      return true;
    };
    if (item.starts_with("rows ")) {
      const int v = input(op, item.substr(5));
      return v >= 0 && p_.variables[v].type == dtype::float32 && parameter_dim(5, 0);
    }
    if (item.starts_with("columns ")) return parameter_dim(8, 1);
    if (item == "type") {
      made.templates.push_back(cpp_type(p_.variables[result].type));
      return true;
    }
    if (item == "dims") {
      if (!is_known(result)) return false;
      const int x = input(op, "X");
      if (x >= 0 && (has_rows(x) != has_rows(result) || !is_known(x))) return false;
      std::int64_t from = 1, to = 1;
      if (x >= 0)
        for (const int d : inner(x)) from *= d;
      for (const int d : inner(result)) {
        to *= d;
        made.templates.push_back(size_text(d));
      }
      return x >= 0 ? from == to : !has_rows(result);
    }
    if (item == "reduced") {
      if (number(op, "reduce_all") != 0) return true;
      for (const int d : list(op, "dim")) made.templates.push_back(std::to_string(d));
      return !made.templates.empty();
    }
    if (item == "parts") {
      const int x = input(op, "X"), at = static_cast<int>(number(op, "axis"));
      std::string sections;
      for (const int d : list(op, "sections"))
        sections += (sections.empty() ? "" : ", ") + std::to_string(d);
      if (!sections.empty() == (number(op, "num") > 0) || x < 0 || !is_known(x)) return false;
      if (at + (at < 0 ? static_cast<int>(dims_of(x).size()) : 0) == 0 && has_rows(x)) return false;
      made.templates.push_back(sections.empty() ? number_text(number(op, "num"))
                                                : "layer::sections<" + sections + ">");
      if (at != -1) made.templates.push_back(std::to_string(at));
      return true;
    }
    if (item == "cuts") {
      const std::vector<int> axes = list(op, "axes"), starts = list(op, "starts"),
                             ends = list(op, "ends");
      if (axes.empty() || axes.size() != starts.size() || axes.size() != ends.size()) return false;
      const int x = input(op, "Input");
      for (std::size_t i = 0; i < axes.size(); ++i) {
        if (x < 0 || !is_known(x) || axes[i] < 0 || (axes[i] == 0 && has_rows(x))) return false;
        made.templates.push_back("layer::along<" + std::to_string(axes[i]) + ", " +
                                 std::to_string(starts[i]) + ", " + std::to_string(ends[i]) + ">");
      }
      return true;
    }
    if (item == "level") {  // the innermost level is the default
      const double level = number(op, "level");
      if (level + 1 != level_of(input(op, "X"))) made.templates.push_back(number_text(level));
      return true;
    }
    if (item == "matmul") {
      std::string form;
      if (number(op, "transpose_X") != 0) form = ".transpose_x = true";
      if (number(op, "transpose_Y") != 0)
        form += form.empty() ? ".transpose_y = true" : ", .transpose_y = true";
      if (!form.empty()) made.templates.push_back("layer::matmul_form{" + form + "}");
      return true;
    }
    if (item == "filters" || item == "size") {
      const int filter = input(op, "Filter");
      const std::vector<int> dims = is_parameter(filter) ? dims_of(filter) : std::vector<int>();
      if (dims.size() != 4 || !has_rows(input(op, "Input"))) return false;
      made.templates.push_back(item == "size" ? extent2_text({dims[2], dims[3]})
                                              : size_text(dims[0]));
      return true;
    }
    if (item == "window") {
      std::string text;
      if (!window(op, false, text)) return false;
      made.templates.push_back(text);
      // layer::conv2d records conv2d or depthwise_conv2d, depending on the channels of the image
      const std::vector<int> channels = dims_of(input(op, "Input"));
      const double groups = number(op, "groups");
      const bool depthwise = channels.size() == 4 && groups == channels[1] && groups > 1;
      return channels.size() == 4 && depthwise == (made.key == "depthwise_conv2d");
    }
    return false;
  }
  bool argument(std::size_t k, const std::string& item, layer_text& made) {
    const operator_desc& op = *operators_[k];
    std::string text;
    if (item == "$main") {
      text = here_;
    } else if (item == "$keep") {  // whether a reduced dimension stays
      used_attributes_.insert("keep_dim");
      if (number(op, "keep_dim") == 0) return true;
      if (number(op, "reduce_all") != 0) return false;
      text = "layer::keep_dim";
    } else if (item.starts_with("$column ")) {  // ids without a last dimension of 1
      const int v = input(op, item.substr(8));
      used_slots_.insert(item.substr(8));
      if (v < 0 || !has_rows(v) || !is_known(v)) return false;
      text = "layer::reshape<";
      for (const int d : inner(v)) text += std::to_string(d) + ", ";
      text += "1>(" + handle(v, k) + ")";
      ++counter(keys_, "reshape2");
    } else if (item[0] == '#') {  // a counter that the layer makes
      const int v = input(op, item.substr(1));
      used_slots_.insert(item.substr(1));
      if (v < 0 || !is_generated("_generated_var", name_of(v))) return false;
      ++counter(keys_, "_generated_var");
      return true;
    } else if (std::isupper(static_cast<unsigned char>(item[0])) != 0) {
      const bool all = item.back() == '*', braces = item.back() == '}';
      const std::string slot = item.substr(0, item.size() - (all ? 1 : braces ? 2 : 0));
      const std::vector<int> variables = in_slot(op, slot, true);
      if (variables.empty()) return false;
      used_slots_.insert(slot);
      for (const int v : variables) text += (text.empty() ? "" : ", ") + handle(v, k);
      for (const int v : variables)
        if (braces && handle_type(k, v) != handle_type(k, variables[0])) return false;
      if (all) text = "std::tuple{" + text + "}";
      if (braces) text = "{" + text + "}";
    } else {
      const int i = attribute(op, item);
      if (i < 0) return false;
      used_attributes_.insert(item);
      text = literal(op, i);
    }
    made.arguments += (made.arguments.empty() ? "" : ", ") + text;
    return true;
  }
  /// The function that marks its results itself as variables through which no gradient flows.
  static constexpr std::string_view constant = "fill_constant";
  /// Parses a number in the table or in a template argument.
  template <class T = int>
  static T number_of(std::string_view digits) {
    T found{};
    read_number(digits, found);
    return found;
  }
  bool option(const operator_desc& op, const std::string& item, layer_text& made) {
    if (item[0] == '~') return used_attributes_.insert(item.substr(1)), true;
    if (item == "&act") return made.options.push_back(item), true;
    if (const std::size_t mark = item.find('@'); mark != std::string::npos) {
      const std::size_t dot = item.find('.');
      const std::string slot = item.substr(mark + 1, dot - mark - 1), own = item.substr(0, mark);
      used_slots_.insert(slot);
      const int v = input(op, slot);
      if (v < 0) return true;
      if (!is_parameter(v) || handles_.count(v) != 0) return false;
      const std::string name = parameter_name(made.base, "." + item.substr(dot + 1) + "_", v);
      // An option of this kind needs a name, and its parameter is not trainable.
      const bool named = own.ends_with("_name");
      if (named && !has_own_options(v)) note_options(v);
      const std::string option =
          named ? (name.empty() ? "" : "." + own + " = " + name) : parameter_option(own, name, v);
      if (!option.empty()) made.options.push_back(option);
      return true;
    }
    if (const std::size_t mark = item.find('?'); mark != std::string::npos) {
      const std::string slot = item.substr(mark + 1);
      used_slots_.insert(slot);
      if (input(op, slot) < 0) made.options.push_back("." + item.substr(0, mark) + " = false");
      return true;
    }
    const std::size_t equals = item.find('='), colon = item.find(':');
    const std::string own = item.substr(0, colon != std::string::npos ? colon : equals);
    std::string name =
        colon == std::string::npos ? own : item.substr(colon + 1, equals - colon - 1);
    const bool enumerated = name[0] == '$';
    if (enumerated) name = name.substr(1);
    const int i = attribute(op, name);
    if (i < 0) return false;
    used_attributes_.insert(name);
    const std::string usual = equals == std::string::npos ? "" : item.substr(equals + 1);
    if (enumerated) {
      if (string(op, i) == usual) return true;
      const std::string text = enumerator(name, string(op, i));
      if (text.empty()) return false;
      made.options.push_back("." + own + " = " + text);
      return true;
    }
    const double found = value(op, i).number;
    if (!usual.empty() && float(found) == number_of<float>(usual)) return true;
    made.options.push_back("." + own + " = " + literal(op, i));
    return true;
  }
  static std::string enumerator(std::string_view attribute, std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const auto one_of = [&](auto... words) { return ((text == words) || ...); };
    if (attribute == "pooling_type" || attribute == "pooltype") {
      if (text == "avg") text = "average";
      if (one_of("average", "max", "sum", "sqrt", "last", "first"))
        return "lamina::pooling_type::" + text;
    } else if (attribute == "dropout_implementation") {
      if (one_of("upscale_in_train", "downgrade_in_infer"))
        return "layer::dropout_implementation::" + text;
    } else if (one_of("identity", "sigmoid", "tanh", "relu")) {
      return "lamina::recurrent_activation::" + text;
    }
    return {};
  }

  std::set<std::string, std::less<>> used_slots_, used_attributes_;
  std::vector<std::string> defaults_;
};

}}}  // namespace lamina::detail
