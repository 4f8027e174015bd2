// SPDX-License-Identifier: Apache-2.0
// lamina/codegen/native_fusion.hpp - recognises groups of operators that one layer has recorded,
// such as an fc with several inputs, a bias and an activation.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/codegen/native_names.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Recognises layers that record several operators.
class native_fusion : protected native_names {
 protected:
  using native_names::native_names;

  /// The text of one call of a layer. The layer records the operators from operator k, at which the
  /// search begins, to before `end`.
  struct layer_text {
    std::string function, arguments, key, base;
    std::vector<std::string> templates, options;
    std::vector<int> results;
    std::size_t end = 0;
  };
  /// Recognises an fc with one input, or with several inputs whose products are summed.
  bool fc(std::size_t k, layer_text& made) {
    const auto weight_of = [&](std::size_t i) {
      if (i >= operators_.size() || operators_[i]->schema->type != std::string_view("mul"))
        return -1;
      const int w = input(*operators_[i], "Y");
      return is_parameter(w) && handles_.count(w) == 0 && dims_of(w).size() == 2 &&
                     number(*operators_[i], "y_num_col_dims") == 1
                 ? w
                 : -1;
    };
    const int w = weight_of(k);
    if (w < 0) return false;
    if (input(*operators_[k], "X") < 0) return false;
    const int size = dims_of(w)[1],
              flatten = static_cast<int>(number(*operators_[k], "x_num_col_dims"));
    std::size_t n = 1;
    for (; weight_of(k + n) >= 0 && dims_of(weight_of(k + n))[1] == size &&
           number(*operators_[k + n], "x_num_col_dims") == flatten &&
           base_of(output(*operators_[k + n], "Out")) == made.base;)
      ++n;
    if (n > 1) {  // several inputs only if a sum of exactly these products follows
      bool sums =
          k + n < operators_.size() && operators_[k + n]->schema->type == std::string_view("sum");
      const std::vector<int> added =
          sums ? in_slot(*operators_[k + n], "X", true) : std::vector<int>();
      sums = sums && added.size() == n;
      for (std::size_t i = 0; i < n && sums; ++i)
        sums = added[i] == output(*operators_[k + i], "Out") && reads_[at(added[i])] == 1;
      if (!sums) n = 1;
    }
    std::string parameter;
    bool shared = n > 1;
    for (std::size_t i = 1; i < n; ++i) shared = shared && weight_of(k + i) == w;
    for (std::size_t i = 0; i < n; ++i) {
      const std::string name = shared ? native_statement::name(name_of(w))
                                      : parameter_name(made.base, ".w_", weight_of(k + i));
      // Several weights with one name would be one parameter.
      if (n > 1 && !shared && !name.empty()) return false;
      parameter = name;
      made.arguments += (i > 0 ? ", " : "") + handle(input(*operators_[k + i], "X"), k);
    }
    if (n > 1) {
      made.arguments = "std::tuple{" + made.arguments + "}";
      made.end = k + n + 1;
      made.results = {output(*operators_[k + n], "Out")};
    }
    made.function = "fc";
    made.key = "fc";
    made.templates = {size_text(size), flatten == 1 ? "" : std::to_string(flatten)};
    for (std::size_t i = 1; i < n; ++i)
      if (options_of(weight_of(k + i)) != options_of(w)) return false;
    for (std::size_t i = 1; i < n; ++i) note_options(weight_of(k + i));
    const std::string option = parameter_option("param", parameter, w);
    if (!option.empty()) made.options.push_back(option);
    return true;
  }
  /// If a bias along dimension `axis` and an activation follow the layer, adds them to its call.
  bool fuse(layer_text& made, int axis, bool has_bias) {
    const auto follows = [&](int v) {  // whether the next operator is the only one that reads v
      if (made.end >= operators_.size() || reads_[at(v)] != 1 || writes_[at(v)] != 1) return false;
      const operator_desc& next = *operators_[made.end];
      const int x = input(next, "X");
      return x == v && output(next, "Out") >= 0 && base_of(output(next, "Out")) == made.base &&
             handles_.count(output(next, "Out")) == 0;
    };
    int& result = made.results[0];
    bool added = false;
    if (has_bias && follows(result)) {
      const operator_desc& next = *operators_[made.end];
      const int b = input(next, "Y");
      const bool adds = next.schema->type == std::string_view("elementwise_add") &&
                        is_parameter(b) && dims_of(b).size() == 1 && handles_.count(b) == 0 &&
                        number(next, "axis") == axis;
      if (adds) {
        const std::string option =
            parameter_option("bias_param", parameter_name(made.base, ".b_", b), b);
        if (!option.empty()) made.options.push_back(option);
        result = output(next, "Out");
        ++made.end;
        added = true;
      }
    }
    if (has_bias && !added) made.options.push_back(".bias = false");
    if (follows(result)) {
      const operator_desc& next = *operators_[made.end];
      constexpr std::string_view acts[] = {"relu",
                                           "tanh",
                                           "sigmoid",
                                           "logsigmoid",
                                           "softplus",
                                           "softsign",
                                           "tanh_shrink",
                                           "exp",
                                           "log",
                                           "sqrt",
                                           "rsqrt",
                                           "abs",
                                           "ceil",
                                           "floor",
                                           "round",
                                           "sin",
                                           "cos",
                                           "asin",
                                           "acos",
                                           "atan",
                                           "reciprocal",
                                           "square",
                                           "gelu",
                                           "selu",
                                           "leaky_relu",
                                           "elu",
                                           "relu6",
                                           "brelu",
                                           "soft_relu",
                                           "stanh",
                                           "hard_sigmoid",
                                           "swish",
                                           "hard_swish",
                                           "pow",
                                           "hard_shrink",
                                           "softshrink",
                                           "thresholded_relu",
                                           "mish",
                                           "softmax"};
      bool defaults = true;
      for (int i = 0; i < next.schema->attribute_count; ++i)
        defaults = defaults && is_default(next, i);
      for (const std::string_view act : acts) {
        if (act != next.schema->type || !defaults) continue;
        const std::string option = ".act = lamina::activation::" + std::string(act);
        const auto place = std::find(made.options.begin(), made.options.end(), "&act");
        if (place != made.options.end())
          *place = option;
        else
          made.options.insert(made.options.begin(), option);
        result = output(next, "Out");
        ++made.end;
        break;
      }
    }
    return true;
  }
};

}}}  // namespace lamina::detail
