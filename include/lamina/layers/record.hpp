// SPDX-License-Identifier: Apache-2.0
// lamina/layers/record.hpp - records an operator by its slots and attributes. It is for programs
// that were converted from files, and for operators without a layer.
#pragma once

#include <lamina/core/config.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>

#include <lamina/layers/layer_helper.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace layer {

template <std::size_t N>
struct slot_inputs {
  std::string_view slot;
  std::array<int, N> ids;
};
/// Sets the variables of an input slot: `in("X", x)`, or `in("X", x, y)` for a slot that is a list.
template <class... V>
constexpr slot_inputs<sizeof...(V)> in(std::string_view slot, const V&... variables) {
  return {slot, {variables.id...}};
}

template <class Value>
struct set_attribute {
  std::string_view name;
  Value value;
};
/// Sets the value of an attribute: `set("axis", 1)`, `set("mode", "all")`, or, for a list,
/// `set("shape", std::array{2, 3})`.
template <class Value>
constexpr set_attribute<Value> set(std::string_view name, Value value) {
  return {name, value};
}
/// Sets an attribute that is a text.
constexpr set_attribute<std::string_view> set(std::string_view name, const char* value) {
  return {name, value};
}

template <class... V>
struct slot_outputs {
  std::string_view slot;
};
/// Makes new variables of the types V for an output slot: `out<variable<float, batch, 8>>("Out")`.
template <class... V>
constexpr slot_outputs<V...> out(std::string_view slot) {
  return {slot};
}
template <std::size_t N>
struct slot_targets {
  std::string_view slot;
  std::array<int, N> ids;
};
/// Makes the operator write an output slot to existing variables: `into("Out", x)`.
template <class... V>
constexpr slot_targets<sizeof...(V)> into(std::string_view slot, const V&... variables) {
  return {slot, {variables.id...}};
}

namespace detail {

/// The state of one call of record(). It finds the argument of record() that names a slot or an
/// attribute.
struct operator_recorder {
  layer_helper& layer;
  program_builder& b;
  bool known = true;  // whether each argument names a slot or an attribute of the operator

  template <class... V>
  constexpr std::tuple<V...> made(const slot_outputs<V...>&) {
    return std::tuple<V...>{layer.template output<V>()...};
  }
  template <class Part>
  constexpr std::tuple<> made(const Part&) {
    return {};
  }

  // If an argument of record() names the slot, appends its variables and returns true.
  template <std::size_t N, class Made>
  constexpr bool ids_of(const slot_inputs<N>& part, const Made&, std::string_view slot, bool input,
                        constexpr_vector<int>& ids) {
    if (!input || part.slot != slot) return false;
    for (const int id : part.ids) ids.push(id);
    return true;
  }
  template <std::size_t N, class Made>
  constexpr bool ids_of(const slot_targets<N>& part, const Made&, std::string_view slot, bool input,
                        constexpr_vector<int>& ids) {
    if (input || part.slot != slot) return false;
    for (const int id : part.ids) ids.push(id);
    return true;
  }
  template <class... V>
  constexpr bool ids_of(const slot_outputs<V...>& part, const std::tuple<V...>& made,
                        std::string_view slot, bool input, constexpr_vector<int>& ids) {
    if (input || part.slot != slot) return false;
    std::apply([&](const auto&... v) { (ids.push(v.id), ...); }, made);
    return true;
  }
  template <class Value, class Made>
  constexpr bool ids_of(const set_attribute<Value>&, const Made&, std::string_view, bool,
                        constexpr_vector<int>&) {
    return false;
  }

  template <class Value>
  constexpr bool value_of(const set_attribute<Value>& part, std::string_view name,
                          attribute_value& value) {
    if (part.name != name) return false;
    if constexpr (requires { part.value.data() + part.value.size(); } &&
                  !__is_same(Value, std::string_view)) {
      const int n = static_cast<int>(part.value.size());
      if constexpr (__is_same(typename Value::value_type, float))
        value = b.real_list(part.value.data(), n);
      else
        value = b.integer_list(part.value.data(), n);
    } else if constexpr (__is_same(Value, std::string_view)) {
      value = b.text(part.value);
    } else {
      value = {static_cast<double>(part.value), 0, 0};
    }
    return true;
  }
  template <class Part>
  constexpr bool value_of(const Part&, std::string_view, attribute_value&) {
    return false;
  }
};

template <class Part>
inline constexpr bool is_attribute = false;
template <class Value>
inline constexpr bool is_attribute<set_attribute<Value>> = true;

}  // namespace detail

/// Makes a variable of type V that no operator has written yet. The body of a record_block can
/// write it by into().
template <class V>
constexpr V declare(const block& main, std::string_view name) {
  layer_helper layer(*main.builder, "declare", name);
  return layer.returns(layer.template output<V>());
}

/// Records one operator: `record<lamina::operators::lrn>(main, "lrn_0", in("X", x), set("n", 3),
/// out<variable<float, batch, 8, 5, 5>>("Out"))`. `Op` is the definition of the operator. The
/// arguments after the name set its slots and attributes; all other slots are empty, and all other
/// attributes have their defaults. The new variables have the types that are given to `out`;
/// whether the operator makes such shapes is not checked. Returns the new variable, or a tuple of
/// several; their names begin with `name`. If the operator has a layer, the layer is better,
/// because it checks its inputs. A slot or attribute that the operator does not have is an error.
/// Fluid: LayerHelper.append_op.
template <class Op, class... Part>
constexpr auto record(const block& main, std::string_view name, const Part&... parts) {
  program_builder& b = *main.builder;
  const int line = 0;
  layer_helper layer(b, Op::type, name);
  detail::operator_recorder to{layer, b};
  const auto made = std::tuple{to.made(parts)...};
  const operator_schema& schema = schema_of<Op>();
  operator_desc op = b.begin(schema);
  int used = 0;
  for (const bool input : {true, false}) {
    if (!input) op.outputs = b.arguments.count;
    const slot_desc* const slot = input ? schema.inputs : schema.outputs;
    for (int s = 0; s < (input ? schema.input_count : schema.output_count); ++s) {
      constexpr_vector<int> ids;
      const bool found =
          std::apply(
              [&](const auto&... m) {
                return (int{to.ids_of(parts, m, slot[s].name, input, ids)} + ... + 0);
              },
              made) != 0;
      used += found ? 1 : 0;
      if (slot[s].duplicable) {
        b.argument(ids.count);
        for (int i = 0; i < ids.count; ++i) b.argument(ids[i]);
      } else {
        b.argument(ids.count > 0 ? ids[0] : -1);
        if (ids.count > 1) to.known = false;
      }
    }
  }
  op.end = b.arguments.count;
  constexpr int given = (int{detail::is_attribute<Part>} + ... + 0);
  if constexpr (given > 0) {
    constexpr_vector<attribute_value> values;
    int named = 0;
    for (int i = 0; i < schema.attribute_count; ++i) {
      const attribute_desc& a = schema.attributes[i];
      attribute_value value{a.number, 0, 0};
      const bool is = (int{to.value_of(parts, a.name, value)} + ... + 0) != 0;
      if (!is && a.type == attribute_type::string) value = b.text(a.text);
      named += is ? 1 : 0;
      values.push(value);
    }
    op.attributes = b.attributes.count;
    for (int i = 0; i < values.count; ++i) b.attributes.push(values[i]);
    to.known = to.known && named == given;
  }
  to.known = to.known && used == static_cast<int>(sizeof...(Part)) - given;
  b.require_option(to.known, line, "record: slots and attributes that the operator has");
  b.operators.push(op);
  auto results = std::apply([](const auto&... m) { return std::tuple_cat(m...); }, made);
  if constexpr (std::tuple_size_v<decltype(results)> == 1)
    return layer.returns(std::get<0>(results));
  else
    return results;
}

}}}  // namespace lamina::layer
