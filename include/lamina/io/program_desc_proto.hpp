// SPDX-License-Identifier: Apache-2.0
// lamina/io/program_desc_proto.hpp - reads and writes programs as Fluid's protobuf bytes. Needs
// protozero.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <lamina/io/fluid/program_message.hpp>
#include <lamina/io/fluid/proto_fields.hpp>
#include <lamina/io/fluid/to_program_message.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// Returns the number of the field of OpDesc.Attr that holds a value of type `type`.
constexpr unsigned value_field(attribute_type type) {
  constexpr unsigned field[] = {3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15};
  return field[static_cast<int>(type)];
}
constexpr int attribute_types = 12;

inline attribute_message read_attribute(field_reader from) {
  attribute_message a;
  bool named = false, typed = false;
  std::string other;
  field_reader again = from;
  from.each(other, [&](unsigned field) {
    if (field == 1) return a.name = from.string(), named = true;
    if (field != 2) return false;
    const std::int32_t type = from.integer32();
    if (type < 0) from.fail(text("expected an AttrType, found ") << type);
    if (type < attribute_types)
      a.type = static_cast<attribute_type>(type);
    else
      a.later_type = type;
    return typed = true;
  });
  from.require(named, "name");
  from.require(typed, "type");
  const unsigned value = a.later_type != 0 ? 0 : value_field(a.type);
  again.each(a.unknown, [&](unsigned field) {
    if (field != value || value == 0) {
      if (field == 1) again.string();
      if (field == 2) again.integer();
      return field == 1 || field == 2;
    }
    switch (a.type) {
      case attribute_type::real:
        a.real = again.real();
        break;
      case attribute_type::string:
        a.text = again.string();
        break;
      case attribute_type::reals:
        again.reals(a.reals);
        break;
      case attribute_type::strings:
        a.texts.push_back(again.string());
        break;
      case attribute_type::integers:
      case attribute_type::booleans:
      case attribute_type::blocks:
      case attribute_type::long_integers:
        again.integers(a.integers);
        break;
      default:
        a.integer = again.integer();
    }
    return true;
  });
  return a;
}

inline slot_message read_slot(field_reader from) {
  slot_message s;
  bool named = false;
  from.each(s.unknown, [&](unsigned field) {
    if (field == 1) return s.slot = from.string(), named = true;
    if (field == 2) return s.arguments.push_back(from.string()), true;
    return false;
  });
  from.require(named, "parameter");
  return s;
}

inline operator_message read_operator(field_reader from) {
  operator_message op;
  op.offset = from.offset();
  bool typed = false;
  from.each(op.unknown, [&](unsigned field) {
    switch (field) {
      case 1:
        op.inputs.push_back(read_slot(from.message("OpDesc.Var")));
        return true;
      case 2:
        op.outputs.push_back(read_slot(from.message("OpDesc.Var")));
        return true;
      case 3:
        op.type = from.string();
        return typed = true;
      case 4:
        op.attributes.push_back(read_attribute(from.message("OpDesc.Attr")));
        return true;
      case 5:
        op.is_target = from.integer() != 0;
        return true;
      default:
        return false;
    }
  });
  from.require(typed, "type");
  return op;
}

/// Converts a number of VarType.Type to an element type. Throws format_error for any other number.
inline dtype checked_dtype(const field_reader& from, std::int64_t number) {
  if (number < 0 || (number > 6 && number != 20 && number != 21))
    from.fail(text("expected an element type (0 to 6, 20 or 21), found ") << number);
  return static_cast<dtype>(number);
}

/// Reads a TensorDesc, which parameter files contain too.
inline void read_tensor_desc(field_reader from, dtype& type, std::vector<std::int64_t>& dims,
                             std::string& unknown) {
  bool typed = false;
  from.each(unknown, [&](unsigned field) {
    if (field == 1) return type = checked_dtype(from, from.integer()), typed = true;
    if (field == 2) return from.integers(dims), true;
    return false;
  });
  from.require(typed, "data_type");
}

inline variable_message read_variable(field_reader from) {
  variable_message v;
  v.offset = from.offset();
  bool named = false, typed = false;
  const auto lod_tensor = [&](field_reader f) {
    f.each(v.unknown_of_lod, [&](unsigned field) {
      if (field == 1)
        return read_tensor_desc(f.message("TensorDesc"), v.type, v.dims, v.unknown_of_tensor), true;
      if (field == 2) return v.lod_level = f.integer32(), true;
      return false;
    });
    if (v.lod_level < 0 || v.lod_level > 16)
      f.fail(text("expected a lod_level from 0 to 16, found ") << v.lod_level);
  };
  const auto variable_type = [&](field_reader f) {
    bool kind = false;
    // Reads field 1, the kind of the variable, first, because the kind decides which other field
    // has the element type and the shape. Fields may come in any order, so all fields are read
    // twice.
    std::string rest;
    field_reader again = f;
    f.each(rest, [&](unsigned field) {
      if (field != 1) return false;
      const std::int32_t number = f.integer32();
      if (number < 7 || number > 1000)
        f.fail(text("expected the type of a variable (7 or more), found ") << number);
      v.kind = static_cast<variable_class>(number);
      return kind = true;
    });
    f.require(kind, "type");
    again.each(v.unknown_of_type, [&](unsigned field) {
      if (field == 1) return again.integer(), true;
      if ((field == 3 && v.kind == variable_class::lod_tensor) ||
          (field == 4 && v.kind == variable_class::lod_tensor_array))
        return lod_tensor(again.message("LoDTensorDesc")), true;
      if (field == 2 && v.kind == variable_class::selected_rows)
        return read_tensor_desc(again.message("TensorDesc"), v.type, v.dims, v.unknown_of_tensor),
               true;
      return false;
    });
  };
  from.each(v.unknown, [&](unsigned field) {
    switch (field) {
      case 1:
        v.name = from.string();
        return named = true;
      case 2:
        variable_type(from.message("VarType"));
        return typed = true;
      case 3:
        v.persistable = from.integer() != 0;
        return true;
      case 4:
        v.need_check_feed = from.integer() != 0;
        return true;
      case 5:
        v.is_parameter = from.integer() != 0;
        return true;
      case 6:
        v.stop_gradient = from.integer() != 0;
        return true;
      default:
        return false;
    }
  });
  from.require(named, "name");
  from.require(typed, "type");
  return v;
}

inline block_message read_block(field_reader from) {
  block_message b;
  b.offset = from.offset();
  bool indexed = false, has_parent = false;
  from.each(b.unknown, [&](unsigned field) {
    switch (field) {
      case 1:
        b.index = from.integer32();
        return indexed = true;
      case 2:
        b.parent = from.integer32();
        return has_parent = true;
      case 3:
        b.variables.push_back(read_variable(from.message("VarDesc")));
        return true;
      case 4:
        b.operators.push_back(read_operator(from.message("OpDesc")));
        return true;
      case 5:
        b.forward_block = from.integer32();
        return true;
      default:
        return false;
    }
  });
  from.require(indexed, "idx");
  from.require(has_parent, "parent_idx");
  return b;
}

}  // namespace detail

/// Reads a ProgramDesc; `file` is the name that errors use. The version may be in field 2, where
/// Fluid 1.0 to 1.5 write it, or in field 4. Fields may come in any order. Throws format_error with
/// the offset if the bytes are not a ProgramDesc. It does not check whether the program makes
/// sense; loaded_program does.
inline program_message from_proto(std::string_view bytes, const std::string& file = "bytes") {
  const detail::message_source source{file, bytes.data()};
  detail::field_reader from(source, {bytes.data(), bytes.size()}, "ProgramDesc");
  program_message p;
  from.each(p.unknown, [&](unsigned field) {
    if (field == 1) return p.blocks.push_back(detail::read_block(from.message("BlockDesc"))), true;
    if (field != 2 && field != 4) return false;
    std::string unknown;
    detail::field_reader version = from.message("Version");
    version.each(unknown, [&](unsigned f) {
      return f == 1 ? (p.version = version.integer(), true) : false;
    });
    return true;
  });
  if (p.blocks.empty())
    throw format_error(file, bytes.size(),
                       "expected at least one block of a ProgramDesc, found none");
  return p;
}

namespace detail {

inline std::string bytes_of(const attribute_message& a) {
  message_writer w;
  w.text(1, a.name);
  if (a.later_type != 0) return w.integer(2, a.later_type).raw(a.unknown).take();
  w.integer(2, static_cast<int>(a.type));
  const unsigned field = value_field(a.type);
  switch (a.type) {
    case attribute_type::real:
      a.require_kept();
      w.real(field, a.real);
      break;
    case attribute_type::string:
      w.text(field, a.text);
      break;
    case attribute_type::reals:
      for (const float x : a.reals) w.real(field, x);
      break;
    case attribute_type::strings:
      for (const std::string& s : a.texts) w.text(field, s);
      break;
    case attribute_type::integers:
    case attribute_type::booleans:
    case attribute_type::blocks:
    case attribute_type::long_integers:
      for (const std::int64_t i : a.integers) w.integer(field, i);
      break;
    default:
      w.integer(field, a.integer);
  }
  return w.raw(a.unknown).take();
}
inline std::string bytes_of(const slot_message& s) {
  message_writer w;
  w.text(1, s.slot);
  for (const std::string& a : s.arguments) w.text(2, a);
  return w.raw(s.unknown).take();
}
inline std::string bytes_of(const operator_message& op) {
  message_writer w;
  for (const slot_message& s : op.inputs) w.message(1, bytes_of(s));
  for (const slot_message& s : op.outputs) w.message(2, bytes_of(s));
  w.text(3, op.type);
  for (const attribute_message& a : op.attributes) w.message(4, bytes_of(a));
  return w.flag(5, op.is_target).raw(op.unknown).take();
}
/// Returns the bytes of a TensorDesc. Dimensions are written unpacked, as Fluid writes them.
inline std::string tensor_desc_bytes(dtype type, const std::vector<std::int64_t>& dims,
                                     const std::string& unknown = {}) {
  message_writer w;
  w.integer(1, static_cast<int>(type));
  for (const std::int64_t d : dims) w.integer(2, d);
  return w.raw(unknown).take();
}
inline std::string bytes_of(const variable_message& v) {
  message_writer type;
  type.integer(1, static_cast<int>(v.kind));
  if (v.has_tensor()) {
    const std::string tensor = tensor_desc_bytes(v.type, v.dims, v.unknown_of_tensor);
    if (v.kind == variable_class::selected_rows) {
      type.message(2, tensor);
    } else {
      message_writer lod;
      lod.message(1, tensor);
      lod.integer(2, v.lod_level);
      type.message(v.kind == variable_class::lod_tensor ? 3 : 4, lod.raw(v.unknown_of_lod).take());
    }
  }
  message_writer w;
  w.text(1, v.name).message(2, type.raw(v.unknown_of_type).take()).flag(3, v.persistable);
  w.flag(4, v.need_check_feed).flag(5, v.is_parameter).flag(6, v.stop_gradient);
  return w.raw(v.unknown).take();
}
inline std::string bytes_of(const block_message& b) {
  message_writer w;
  w.integer(1, b.index).integer(2, b.parent);
  for (const variable_message& v : b.variables) w.message(3, bytes_of(v));
  for (const operator_message& op : b.operators) w.message(4, bytes_of(op));
  if (b.forward_block != -1) w.integer(5, b.forward_block);
  return w.raw(b.unknown).take();
}

}  // namespace detail

/// Returns the bytes of a ProgramDesc, in the format of Fluid's framework.proto, with the version
/// in field 4.
inline std::string to_proto(const program_message& p) {
  detail::message_writer w;
  for (const block_message& b : p.blocks) w.message(1, detail::bytes_of(b));
  return w.message(4, detail::message_writer().integer(1, p.version).take()).raw(p.unknown).take();
}

/// Returns the main program of a recorded program as protobuf bytes.
template <program_type P>
std::string to_proto(P program) {
  return to_proto(to_program_message(program));
}

}}  // namespace lamina
