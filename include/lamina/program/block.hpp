// SPDX-License-Identifier: Apache-2.0
// lamina/program/block.hpp - the types of the objects with which a user records a program: block
// and variable.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>
#include <utility>

#include <lamina/core/dtype.hpp>
#include <lamina/core/messages/check.hpp>
#include <lamina/core/rows.hpp>
#include <lamina/program/program_builder.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The block of a program to which layers append their operators: Fluid's Block.
struct block {
  program_builder* builder;
  int index;
};

namespace detail {

/// Whether a source file is the user's, that is, belongs neither to this library nor to the
/// standard library.
constexpr bool is_of_user(std::string_view file) {
  constexpr std::string_view own = __FILE__, name = "program/block.hpp";
  // The single header (tools/single_header) is one file without folders.
  constexpr std::size_t folder = own.ends_with(name) ? own.size() - name.size() : own.size();
  return !file.starts_with(own.substr(0, folder)) && file.find("/c++/") == std::string_view::npos;
}

/// Records a mistake of the given kind with the name of the variable.
constexpr void report_variable(program_builder& b, fault_kind kind, int variable, int line) {
  const struct {
    const variable_desc* variables;
    const name_desc* names;
    const char* characters;
  } named{b.variables.items, b.names.items, b.characters.items};
  char* text = new char[static_cast<unsigned>(name_length(named, variable)) + 1];
  name_writer w{text};
  write_name(named, variable, w);
  b.report(kind, line, std::string_view(text, static_cast<std::size_t>(w.length)), nullptr, 0,
           nullptr, 0);
  delete[] text;
}
/// Records the mistake that a variable is used outside of its block.
constexpr void report_out_of_block(program_builder& b, int variable, int line) {
  report_variable(b, fault_kind::out_of_block, variable, line);
}

/// Whether a variable may be used in the current block: it must be of this block or a block around
/// it. For an omitted variable, -1, it is true.
constexpr bool is_visible(const program_builder& b, int variable) {
  return b.blocks.count < 2 || variable < 0 ||
         is_inside(b, b.current_block, b.variables.items[variable].block);
}
/// While line_of (program.hpp) looks for the line that records variable `traced`, stores each line
/// of the user until this variable exists.
constexpr void note_line(program_builder& b, int line) {
  if (b.variables.count <= b.traced) b.traced_line = line;
}
/// Does the same for a line of `file`, unless this file belongs to the library.
constexpr void note_line(program_builder& b, int line, const char* file) {
  if (b.traced >= 0 && is_of_user(file)) note_line(b, line);
}
/// Records a mistake if a variable is used after its block was closed. `line` is the user's line.
constexpr void require_visible(program_builder& b, int variable, int line) {
  if (b.blocks.count < 2) return;
  note_line(b, line);
  if (!is_visible(b, variable)) report_out_of_block(b, variable, line);
}

}  // namespace detail

/// The base of every handle: a C++ object that names a variable of the program. The member `home`
/// is the block in which the object was made: if the body of a loop assigns to a handle of an outer
/// block, the loop carries the variable to the next iteration. Only the handle itself can notice
/// this assignment (operators/control/block/layer_while.hpp).
struct variable_handle {
  program_builder* builder;
  int id;
  int home;  // the block in which this object was constructed

  constexpr variable_handle(program_builder* to, int variable)
      : builder(to), id(variable), home(to->current_block) {}
  constexpr variable_handle(const variable_handle& from)
      : builder(from.builder), id(from.id), home(from.builder->current_block) {}
  /// Makes this handle name another variable. If the assignment is in a block inside the handle's
  /// own block, records it.
  constexpr variable_handle& operator=(const variable_handle& from) {
    if (home != builder->current_block) note_write();
    builder = from.builder;
    id = from.id;
    return *this;
  }

  /// Records that the innermost open body assigns to this handle. One body records a handle only
  /// once.
  constexpr void note_write() {
    program_builder& b = *builder;
    if (home == b.current_block || !is_inside(b, b.current_block, home)) return;
    for (int i = b.written_begin; i < b.written.count; ++i)
      if (b.written[i].to == this) return;
    b.written.push({this, id});
  }

 protected:
  /// Copies a handle at line `line` of `file`, usually to pass it to a layer by value, and checks
  /// that the variable is visible in the current block. Copies in the library's own files are not
  /// checked, because their lines would not help the user; layers that take several handles check
  /// their handles themselves.
  constexpr variable_handle(const variable_handle& from, int line, const char* file)
      : builder(from.builder), id(from.id), home(from.builder->current_block) {
    if (builder->blocks.count < 2) return;
    const bool visible = detail::is_visible(*builder, id);
    if ((visible && builder->traced < 0) || !detail::is_of_user(file)) return;
    detail::note_line(*builder, line);
    if (!visible) detail::report_out_of_block(*builder, id, line);
  }
};

/// A variable as a layer sees it. The type contains the element type, the row domain and the inner
/// dimensions, so that a wrong shape is an error at the user's own line. The operators that compute
/// the variable are in the builder. `Dims` are the inner dimensions or, for variables of domain
/// `once`, the whole shape.
template <element T, row_domain Rows, int... Dims>
struct variable : variable_handle {
  using value_type = T;
  using rows_type = Rows;
  static constexpr int rank = static_cast<int>(sizeof...(Dims));
  static constexpr int size = (1 * ... * Dims);

  using variable_handle::variable_handle;
  /// Copies the handle and stores the line, for mistakes that are reported at the end of the
  /// recording.
  constexpr variable(const variable& from, int line = __builtin_LINE(),
                     const char* file = __builtin_FILE())
      : variable_handle(from, line, file) {}
  constexpr variable& operator=(const variable&) = default;

  /// Reports a handle of another type with an error that names both types. The return type is
  /// `auto`, so that the compiler compiles the body together with the user's function and shows
  /// only the user's line.
  template <class U, class S, int... E>
  constexpr auto& operator=(const variable<U, S, E...>&) {
    static_assert(check<never<U>, expects_type<variable>, gets_type<variable<U, S, E...>>>,
                  "lamina: variable: a handle keeps its element type, rows and dimensions");
    return *this;
  }
};

/// Whether V is a handle of a variable.
template <class V>
inline constexpr bool is_variable = false;
template <class T, class R, int... D>
inline constexpr bool is_variable<variable<T, R, D...>> = true;

namespace detail {
template <class T, class R, class Shape, class Sequence>
struct shaped;
template <class T, class R, class Shape, int... Index>
struct shaped<T, R, Shape, std::integer_sequence<int, Index...>> {
  using type = variable<T, R, Shape::extent[Index]...>;
};
}  // namespace detail

/// The handle type for a shape that a constexpr function computed: `Shape::rank` and
/// `Shape::extent[i]`.
template <class T, class R, class Shape>
using variable_of_shape =
    typename detail::shaped<T, R, Shape, std::make_integer_sequence<int, Shape::rank>>::type;

}}  // namespace lamina
