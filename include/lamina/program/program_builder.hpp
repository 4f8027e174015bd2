// SPDX-License-Identifier: Apache-2.0
// lamina/program/program_builder.hpp - the program that recording and transforms append to during
// constant evaluation.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <string_view>

#include <lamina/core/compile_time/constexpr_vector.hpp>
#include <lamina/core/compile_time/fixed_buffer.hpp>
#include <lamina/core/compile_time/same_address.hpp>
#include <lamina/core/rows.hpp>
#include <lamina/program/initializer.hpp>
#include <lamina/program/names.hpp>
#include <lamina/program/program_desc.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// A counter of unique_name for a user's own name ("my_fc.tmp").
struct name_counter {
  int base;
  const char* suffix;
  int next;
};

/// A counter of unique_name for a kind of layer ("fc").
struct key_counter {
  const char* key;
  int next;
};

/// Whether two texts are equal. The comparison starts at the front, because most pairs differ in an
/// early character.
constexpr bool is_same_text(const char* a, const char* b) {
  for (; *a == *b && *a != 0; ++a) ++b;
  return *a == *b;
}

struct variable_handle;

/// A handle of an outer block to which an inner body assigned, and the variable that the handle
/// named before.
struct written_handle {
  variable_handle* to;
  int before;
};

/// An entry of the hash table of user-given names.
struct own_name_entry {
  int name;
  unsigned hash;
  int before;     // the previous entry of the same hash list, or -1
  int parameter;  // the parameter variable with this name, or -1
};

/// Per parameter, the data that its parameter_desc does not contain: the initializer and the user's
/// line.
struct parameter_origin {
  lamina::initializer initializer;
  int line;
};

/// A row domain that a branch or a time step opened. The C++ type of its rows is identified by
/// `mark`, the address of domain_mark<R>.
struct opened_domain {
  const char* mark;
  int domain;
};

/// The state of append_backward while it works (operators/gradient.hpp).
struct gradient_state;

/// The program under construction, to which recording and every transform append. No function
/// throws, because a constant expression cannot catch: a mistake that depends on values is stored
/// in `fault`.
struct program_builder {
  fixed_buffer<variable_desc, program_limits.variables> variables;
  fixed_buffer<operator_desc, program_limits.operators> operators;
  fixed_buffer<int, program_limits.arguments> arguments;
  fixed_buffer<attribute_value, program_limits.attributes> attributes;
  fixed_buffer<int, program_limits.dims> dims;
  fixed_buffer<int, program_limits.integers> integers;
  fixed_buffer<float, program_limits.reals> reals;
  fixed_buffer<char, program_limits.characters> characters;
  fixed_buffer<name_desc, program_limits.names> names;
  fixed_buffer<block_desc, program_limits.blocks> blocks;
  fixed_buffer<parameter_desc, program_limits.parameters> parameters;
  fixed_buffer<int, program_limits.data> data;
  fixed_buffer<operator_desc, program_limits.startup> startup;
  fixed_buffer<int, program_limits.outputs> outputs;
  fixed_buffer<domain_desc, program_limits.domains> domains;
  constexpr_vector<name_counter> counters;  // one per user-given name and suffix
  constexpr_vector<key_counter> keys;       // one per kind of layer
  constexpr_vector<own_name_entry> own_names;
  constexpr_vector<int> made_parameters;       // parameters with generated names
  constexpr_vector<parameter_origin> origins;  // by parameter
  constexpr_vector<opened_domain> open_domains;
  constexpr_vector<written_handle> written;  // assignments by the bodies that are being recorded;
                                             // those of the innermost body are last
  int written_begin = 0;                     // first assignment of the innermost body
  int traced = -1, traced_line = 0;          // used by line_of
  fault_desc fault;
  int cost;
  int accumulators;
  int current_block = 0;
  op_role role = op_role::forward;
  bool is_test;
  second_gradient_rule again;  // see program_desc
  gradient_state* gradients = nullptr;

  /// Appends to `program`; call finish() at the end, or its count, cost and fault are not valid.
  explicit constexpr program_builder(program_desc& program)
      : variables(program.variables, program.count.variables),
        operators(program.operators, program.count.operators),
        arguments(program.arguments, program.count.arguments),
        attributes(program.attributes, program.count.attributes),
        dims(program.dims, program.count.dims),
        integers(program.integers, program.count.integers),
        reals(program.reals, program.count.reals),
        characters(program.characters, program.count.characters),
        names(program.names, program.count.names),
        blocks(program.blocks, program.count.blocks),
        parameters(program.parameters, program.count.parameters),
        data(program.data, program.count.data),
        startup(program.startup, program.count.startup),
        outputs(program.outputs, program.count.outputs),
        domains(program.domains, program.count.domains),
        fault(program.fault),
        cost(program.cost),
        accumulators(program.accumulators),
        is_test(program.is_test),
        again(program.again),
        made(program) {}

  /// Whether an array of the program is full.
  constexpr bool is_full() const {
    return variables.full || operators.full || arguments.full || attributes.full || dims.full ||
           integers.full || reals.full || characters.full || names.full || blocks.full ||
           parameters.full || data.full || startup.full || outputs.full || domains.full;
  }

  /// Writes the members that are not arrays to the program. Reports a fault if the program is too
  /// large.
  constexpr void finish() {
    if (is_full()) {
      made.count = {};
      fault.kind = fault_kind::program_size;
    }
    made.fault = fault;
    made.cost = cost;
    made.accumulators = accumulators;
    made.is_test = is_test;
    made.again = again;
  }

  // -- names ------------------------------------------------------------------------------------

  /// Returns the next number for a kind of layer: 0 for the first fc.
  constexpr int next_of(const char* key) {
    for (int i = 0; i < keys.count; ++i)
      if (is_same_text(keys.items[i].key, key)) return keys.items[i].next++;
    keys.push({key, 1});
    return 0;
  }

  /// Returns the name of a layer: the user's name unchanged, or the next generated one, such as
  /// "fc_0".
  constexpr int layer_name(const char* key, std::string_view user) {
    if (!user.empty()) return own_name(user);
    return names.push({key, 0, 0, next_of(key), -1});
  }

  /// Returns the index of a user-given name. The same name always has the same index.
  constexpr int own_name(std::string_view user) { return entry_of(user).name; }

  /// Returns the entry of a user-given name, and makes it if there is none. Names are found by
  /// hash, so that a program with thousands of names stays within the compiler's limit of steps.
  /// The text of an entry is compared too, because entries of a body that rollback has undone may
  /// remain in the table.
  constexpr own_name_entry& entry_of(std::string_view user) {
    if (hashed_names_ > names.count) hashed_names_ = names.count;
    for (; hashed_names_ < names.count; ++hashed_names_)
      if (names[hashed_names_].key == nullptr) add_entry(hashed_names_);
    const unsigned hash = hash_of(user);
    for (int e = newest_entry_[hash % name_lists] - 1; e >= 0; e = own_names[e].before)
      if (own_names[e].hash == hash && is_own_name(own_names[e].name, user)) return own_names[e];
    add_entry(names.push({nullptr, put(user), static_cast<int>(user.size()), -1, -1}));
    return own_names[own_names.count - 1];
  }

  /// Copies text into the pool of characters; returns the position of its first character.
  constexpr int put(std::string_view text) {
    const int n = static_cast<int>(text.size());
    const int at = characters.take(n);
    if (characters.full) return at;
    for (int i = 0; i < n; ++i) characters.items[at + i] = text[static_cast<std::size_t>(i)];
    return at;
  }

  // -- shapes -----------------------------------------------------------------------------------

  /// Appends a shape to the pool of dimensions; returns the position of its first extent.
  template <class... D>
  constexpr int shape(D... extent) {
    int at = dims.take(static_cast<int>(sizeof...(D)));
    ((dims.items[at++] = static_cast<int>(extent)), ...);
    return at - static_cast<int>(sizeof...(D));
  }

  // -- row domains ------------------------------------------------------------------------------

  /// Returns the sequence domain with this name below domain `parent`, and makes it if there is
  /// none.
  constexpr int domain(std::string_view name, int parent,
                       domain_kind kind = domain_kind::sequence) {
    for (int i = 0; i < domains.count; ++i)
      if (domains[i].kind == kind && domains[i].parent == parent &&
          std::string_view(characters.items + domains[i].offset,
                           static_cast<std::size_t>(domains[i].length)) == name)
        return i;
    return domains.push({kind, parent, put(name), static_cast<int>(name.size()), -1});
  }

  /// Adds a domain and makes find_open_domain return it for `mark`, the address of domain_mark<R>,
  /// where R is the C++ type of its rows.
  constexpr int open_domain(const char* mark, std::string_view name, int parent, domain_kind kind,
                            int chosen_by) {
    const int number =
        domains.push({kind, parent, put(name), static_cast<int>(name.size()), chosen_by});
    open_domains.push({mark, number});
    return number;
  }
  /// Returns the open domain with this mark; reports a fault if there is none, as for a variable
  /// that is used after its branch.
  constexpr int find_open_domain(const char* mark) {
    for (int i = open_domains.count; i-- > 0;)
      if (same_address(open_domains[i].mark, mark)) return open_domains[i].domain;
    report(fault_kind::out_of_block, 0, {}, nullptr, 0, nullptr, 0);
    return once::domain;
  }

  // -- variables --------------------------------------------------------------------------------

  /// Appends a variable; the caller sets the members that differ from those of a temporary.
  constexpr int add_variable(int base, const char* suffix, int number, int shape_at, int rank,
                             int rows, dtype type) {
    return variables.push({base, -1, suffix, number, shape_at, rank, rows, -1, current_block, type,
                           variable_kind::temporary, false, false});
  }

  // -- operators --------------------------------------------------------------------------------

  /// Begins an operator. The caller then appends the arguments by argument() and list().
  constexpr operator_desc begin(const operator_schema& schema) {
    return {&schema, arguments.count, 0, 0, -1, current_block, role};
  }
  /// Appends the variable of a slot that takes one variable; -1 leaves the slot empty.
  constexpr void argument(int variable) { arguments.push(variable); }
  /// Appends the variables of a duplicable slot.
  constexpr void list(const int* variable, int n) {
    const int at = arguments.take(1 + n);
    if (arguments.full) return;
    arguments.items[at] = n;
    for (int i = 0; i < n; ++i) arguments.items[at + 1 + i] = variable[i];
  }

  /// Appends an operator none of whose slots is duplicable.
  template <std::size_t In, std::size_t Out>
  constexpr int add_operator(const operator_schema& schema, const int (&in)[In],
                             const int (&out)[Out], int attribute_at = -1) {
    constexpr int ins = static_cast<int>(In), all = static_cast<int>(In + Out);
    const int at = arguments.take(all);
    for (int i = 0; i < ins; ++i) arguments.items[at + i] = in[i];
    for (int i = ins; i < all; ++i) arguments.items[at + i] = out[i - ins];
    return operators.push({&schema, at, at + ins, at + all, attribute_at, current_block, role});
  }

  /// Stores the attributes of an operator, in the order of its schema; returns the position of the
  /// first attribute.
  template <class... V>
  constexpr int attribute_list(V... value) {
    int at = attributes.take(static_cast<int>(sizeof...(V)));
    ((attributes.items[at++] = as_attribute(value)), ...);
    return at - static_cast<int>(sizeof...(V));
  }
  /// Stores a list of integers as an attribute.
  constexpr attribute_value integer_list(const int* value, int n) {
    const int at = integers.take(n);
    if (integers.full) return {0, 0, 0};
    for (int i = 0; i < n; ++i) integers.items[at + i] = value[i];
    return {0, at, n};
  }
  /// Stores a list of reals as an attribute.
  constexpr attribute_value real_list(const float* value, int n) {
    const int at = reals.take(n);
    if (reals.full) return {0, 0, 0};
    for (int i = 0; i < n; ++i) reals.items[at + i] = value[i];
    return {0, at, n};
  }
  /// Stores text as an attribute.
  constexpr attribute_value text(std::string_view value) {
    return {0, put(value), static_cast<int>(value.size())};
  }

  /// Stores a fault. Only the first fault is kept, because later faults are usually its
  /// consequences.
  constexpr void report(fault_kind kind, int line, std::string_view name, const int* expected,
                        int expected_rank, const int* found, int found_rank) {
    if (fault.kind != fault_kind::none) return;
    fault.kind = kind;
    fault.line = line;
    fault.name = put(name);
    fault.name_length = static_cast<int>(name.size());
    for (int i = 0; i < 4; ++i) {
      fault.expected[i] = i < expected_rank ? expected[i] : 0;
      fault.found[i] = i < found_rank ? found[i] : 0;
    }
  }
  /// Unless `ok`, reports an option outside of its range; `range` describes the range, as in "clip:
  /// min <= max".
  constexpr void require_option(bool ok, int line, std::string_view range) {
    if (!ok) report(fault_kind::option_range, line, range, nullptr, 0, nullptr, 0);
  }

 private:
  static constexpr unsigned name_lists = 64;

  static constexpr unsigned hash_of(std::string_view text) {
    unsigned hash = 2166136261u;  // FNV-1a
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return hash;
  }
  constexpr std::string_view own_text(int name) const {
    return {characters.items + names.items[name].offset,
            static_cast<std::size_t>(names.items[name].length)};
  }
  constexpr bool is_own_name(int name, std::string_view text) const {
    return name < names.count && names.items[name].key == nullptr && own_text(name) == text;
  }
  constexpr void add_entry(int name) {
    const unsigned hash = hash_of(own_text(name));
    int& newest = newest_entry_[hash % name_lists];
    own_names.push({name, hash, newest - 1, -1});
    newest = own_names.count;
    hashed_names_ = name + 1;
  }

  program_desc& made;
  int newest_entry_[name_lists] = {};  // the newest entry of each hash list, counted from 1
  int hashed_names_ = 0;

  static constexpr attribute_value as_attribute(attribute_value v) { return v; }
  static constexpr attribute_value as_attribute(double v) { return {v, 0, 0}; }
  static constexpr attribute_value as_attribute(float v) { return {v, 0, 0}; }
  static constexpr attribute_value as_attribute(int v) { return {static_cast<double>(v), 0, 0}; }
  static constexpr attribute_value as_attribute(bool v) { return {v ? 1.0 : 0.0, 0, 0}; }
};

/// Makes a program from another: a full copy that `Change` modifies through the builder. The
/// function takes template arguments instead of function arguments, because compilers cache the
/// value of a call without arguments. The initialiser of a static member, which calls it, is
/// evaluated more than once.
template <const program_desc& From, void (*Change)(program_builder&)>
constexpr program_desc changed() {
  program_desc made = From;
  program_builder b(made);
  Change(b);
  b.finish();
  return made;
}

/// Returns the number of row domain R in a program. `once` and `batch` have fixed numbers;
/// tokens<...> is added to the program together with its parents.
template <row_domain R>
constexpr int rows_of(program_builder& b) {
  if constexpr (requires { R::domain; })
    return R::domain;
  else if constexpr (requires { typename R::key; })
    return b.find_open_domain(&domain_mark<R>);
  else
    return b.domain(R::name.view(), rows_of<typename R::parent>(b), R::kind);
}

/// Returns the number of sequence levels above the rows of a domain, which is the number of levels
/// of its LoD. Rows selected by a condition, and rows of a time step, are not in sequences.
template <class Program>
constexpr int lod_level_of(const Program& p, int domain) {
  int level = 0;
  for (; domain >= 0 && p.domains[domain].kind == domain_kind::sequence;
       domain = p.domains[domain].parent)
    ++level;
  return level;
}

}}  // namespace lamina
