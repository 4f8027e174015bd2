// SPDX-License-Identifier: Apache-2.0
// lamina/io/fluid/fluid_attributes.hpp - attributes of Fluid's operators that have only one value
// in lamina.
//
// The gradient operators of later versions of PaddlePaddle require these attributes, so lamina
// writes them. If an operator in a file has another value of such an attribute, lamina cannot
// compute the operator and throws an error.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <lamina/io/fluid/program_message.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// An attribute of the operators of one type and of their gradient operators, with its only value.
struct fixed_attribute {
  std::string_view type;
  const char* name;
  attribute_type kind;
  double number;
  const char* text;
};

inline constexpr fixed_attribute fixed_attributes[] = {
    {"reduce_sum", "in_dtype", attribute_type::integer, -1, ""},
    {"reduce_sum", "out_dtype", attribute_type::integer, -1, ""},
    {"reduce_mean", "in_dtype", attribute_type::integer, -1, ""},
    {"reduce_mean", "out_dtype", attribute_type::integer, -1, ""},
    {"reduce_max", "in_dtype", attribute_type::integer, -1, ""},
    {"reduce_max", "out_dtype", attribute_type::integer, -1, ""},
    {"reduce_min", "in_dtype", attribute_type::integer, -1, ""},
    {"reduce_min", "out_dtype", attribute_type::integer, -1, ""},
    {"reduce_prod", "in_dtype", attribute_type::integer, -1, ""},
    {"reduce_prod", "out_dtype", attribute_type::integer, -1, ""},
    {"softplus", "beta", attribute_type::real, 1, ""},
    {"softplus", "threshold", attribute_type::real, 20, ""},
    {"maxout", "axis", attribute_type::integer, 1, ""},
    {"norm", "is_test", attribute_type::boolean, 0, ""},
    {"pool2d", "padding_algorithm", attribute_type::string, 0, "EXPLICIT"},
    {"auc", "slide_steps", attribute_type::integer, 0, ""},
    {"batch_norm", "trainable_statistics", attribute_type::boolean, 0, ""},
    {"conv2d_transpose", "output_padding", attribute_type::integers, 0, ""},
    {"lrn", "data_format", attribute_type::string, 0, "NCHW"},
    {"bilinear_interp", "data_layout", attribute_type::string, 0, "NCHW"},
    {"nearest_interp", "data_layout", attribute_type::string, 0, "NCHW"},
    {"bilinear_interp", "interp_method", attribute_type::string, 0, "bilinear"},
    {"nearest_interp", "interp_method", attribute_type::string, 0, "nearest"},
    {"sequence_pool", "is_test", attribute_type::boolean, 0, ""},
    {"prelu", "data_format", attribute_type::string, 0, "NCHW"},
    {"arg_max", "flatten", attribute_type::boolean, 0, ""},
    {"arg_min", "flatten", attribute_type::boolean, 0, ""},
    {"pool3d", "padding_algorithm", attribute_type::string, 0, "EXPLICIT"},
    {"gather", "axis", attribute_type::integer, 0, ""},
    {"gather", "overwrite", attribute_type::boolean, 1, ""},
    {"slice", "infer_flags", attribute_type::integers, 0, ""},
    {"slice", "decrease_axis", attribute_type::integers, 0, ""},
    {"softmax_with_cross_entropy", "use_softmax", attribute_type::boolean, 1, ""}};

/// Returns the operator type without the suffix "_grad".
inline std::string_view forward_type(std::string_view type) {
  constexpr std::string_view suffix = "_grad";
  const bool gradient =
      type.size() > suffix.size() && type.substr(type.size() - suffix.size()) == suffix;
  return gradient ? type.substr(0, type.size() - suffix.size()) : type;
}

/// Adds the fixed attributes that the operator does not have yet.
inline void add_fixed_attributes(operator_message& op) {
  const std::string_view type = forward_type(op.type);
  for (const fixed_attribute& f : fixed_attributes) {
    if (f.type != type || op.attribute(f.name) != nullptr) continue;
    attribute_message& a = op.attributes.emplace_back();
    a.name = f.name;
    a.type = f.kind;
    if (f.kind == attribute_type::real)
      a.real = static_cast<float>(f.number);
    else if (f.kind == attribute_type::string)
      a.text = f.text;
    else if (f.kind != attribute_type::integers)
      a.integer = static_cast<std::int64_t>(f.number);
  }
}

/// Returns the name of the first attribute of a forward operator whose value lamina does not
/// support; null if there is none.
inline const char* unknown_meaning(const operator_message& op) {
  for (const fixed_attribute& f : fixed_attributes) {
    const attribute_message* a = f.type == op.type ? op.attribute(f.name) : nullptr;
    if (a == nullptr || a->type != f.kind) continue;
    bool same = true;
    if (f.kind == attribute_type::real)
      same = a->real == static_cast<float>(f.number);
    else if (f.kind == attribute_type::string)
      same = a->text == f.text;
    else if (std::string_view(f.name) == "decrease_axis")
      same = a->integers.empty();
    else if (std::string_view(f.name) == "output_padding")
      for (const std::int64_t n : a->integers) same = same && n == 0;
    else if (f.kind == attribute_type::integer)
      same = a->integer == static_cast<std::int64_t>(f.number);
    else if (std::string_view(f.name) == "flatten")
      same = a->integer == 0;
    // Other boolean attributes change how an operator is computed, not its result. Element types
    // may be given as names, so they are not compared.
    if (std::string_view(f.name).find("dtype") != std::string_view::npos) same = true;
    if (!same) return f.name;
  }
  return nullptr;
}

/// An operator of PaddlePaddle 2 that differs from an operator of Fluid only in the names of its
/// type and of two attributes: the names in PaddlePaddle 2, and the names in lamina (`type`,
/// `first_here`, `second_here`).
struct later_name {
  std::string_view later, type;
  const char *first, *first_here, *second, *second_here;
};
inline constexpr later_name later_names[] = {
    {"matmul_v2", "matmul", "trans_x", "transpose_X", "trans_y", "transpose_Y"},
    {"matmul_v2_grad", "matmul_grad", "trans_x", "transpose_X", "trans_y", "transpose_Y"}};

/// The attribute of an elementwise_mul in a file that is an elementwise_keep in lamina.
inline constexpr const char* keeps_attribute = "keeps_where_not_0";

/// Whether an attribute, which is a number in lamina, is a list with one value per parameter since
/// PaddlePaddle 2.2, where one operator may update several parameters.
inline bool is_listed_in_paddle2(std::string_view type, std::string_view name) {
  return type == "lars_momentum" && name == "lars_weight_decay";
}
/// Converts an attribute that is a number to a list of one number.
inline void as_list(attribute_message& a) {
  a.reals = {a.real};
  a.real = 0;
  a.type = attribute_type::reals;
}

/// Renames the slot `from` of a list of slots to `to`.
inline void rename_slot(std::vector<slot_message>& slot_list, std::string_view from,
                        const char* to) {
  for (slot_message& s : slot_list)
    if (s.slot == from) s.slot = to;
}

/// Converts an operator that has other names in PaddlePaddle, or a list of one number in place of a
/// number, to lamina's form. Returns nothing if the operator already has this form.
inline std::optional<operator_message> translated(const operator_message& op) {
  if (op.type == "reorder_lod_tensor_by_rank_grad" && !op.output("Out").empty()) {
    operator_message made = op;
    rename_slot(made.inputs, "X", "Out@GRAD");
    rename_slot(made.outputs, "Out", "X@GRAD");
    return made;
  }
  if (op.type == "tensor_array_to_tensor_grad") {
    operator_message made = op;
    made.type = "tensor_to_tensor_array";
    made.inputs = {{"X", op.input("Out@GRAD")}};
    made.outputs = {{"Out", op.output("X@GRAD")}};
    return made;
  }
  for (std::size_t i = 0; i < op.attributes.size(); ++i) {
    const attribute_message& a = op.attributes[i];
    if (a.type != attribute_type::reals || a.reals.size() != 1 ||
        !is_listed_in_paddle2(op.type, a.name))
      continue;
    operator_message made = op;
    made.attributes[i].type = attribute_type::real;
    made.attributes[i].real = a.reals[0];
    made.attributes[i].reals.clear();
    return made;
  }
  if (op.type.starts_with("elementwise_mul") && op.attribute(keeps_attribute) != nullptr) {
    operator_message made = op;
    const bool gradient = op.type == "elementwise_mul_grad";
    made.type = gradient ? "elementwise_keep_grad" : "elementwise_keep";
    if (gradient) std::erase_if(made.inputs, [](const slot_message& s) { return s.slot == "X"; });
    std::erase_if(made.attributes,
                  [](const attribute_message& a) { return a.name == keeps_attribute; });
    return made;
  }
  for (const later_name& n : later_names) {
    if (op.type != n.later) continue;
    operator_message made = op;
    made.type = n.type;
    for (attribute_message& a : made.attributes) {
      if (a.name == n.first) a.name = n.first_here;
      if (a.name == n.second) a.name = n.second_here;
    }
    return made;
  }
  return {};
}

}}}  // namespace lamina::detail
