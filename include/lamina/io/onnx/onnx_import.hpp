// SPDX-License-Identifier: Apache-2.0
// lamina/io/onnx/onnx_import.hpp - the program that an import of an ONNX graph makes, operator by
// operator.
//
// An operator whose inputs are all constants is computed at once, and its results are constants. So
// arithmetic on shapes and on parameters leaves no operators in the program.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/io/fluid/program_message.hpp>
#include <lamina/tensor/scope.hpp>
#include <lamina/tensor/tensor.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// A dimension that is known only at run time.
inline constexpr std::int64_t unknown_extent = -1;

/// Symbols are numbers that are known only at run time: dimensions, and elements of lists of
/// integers. Two equal symbols are equal at run time. A symbol is stored in place of the number; it
/// is less than all numbers that files contain, except the smallest one.
inline constexpr std::int64_t first_symbol = -(std::int64_t{1} << 62);
constexpr bool is_symbol(std::int64_t number) {
  return number < first_symbol && number > first_symbol - (std::int64_t{1} << 61);
}
/// Whether a number is at least 0 in each run. Even symbols are.
constexpr bool is_not_negative(std::int64_t number) {
  return number >= 0 || (is_symbol(number) && (first_symbol - number) % 2 == 0);
}
/// Returns numbers with unknown_extent in place of symbols, for programs and messages.
inline std::vector<std::int64_t> without_symbols(std::vector<std::int64_t> numbers) {
  for (std::int64_t& n : numbers)
    if (is_symbol(n)) n = unknown_extent;
  return numbers;
}

/// Returns the product of dimensions that are known.
inline double size_of_dims(const std::vector<std::int64_t>& dims) {
  double n = 1;
  for (const std::int64_t d : dims) n *= static_cast<double>(d);
  return n;
}

/// A value of an ONNX graph during its import: a variable of the program, a constant, or nothing
/// for an input that a node omits.
struct onnx_imported {
  int variable = -1;
  dtype type = dtype::float32;
  /// As in ONNX: a scalar has none; the program gives it [1]. Unknown ones are symbols, or
  /// unknown_extent for variables that several operators write.
  std::vector<std::int64_t> dims{};
  std::shared_ptr<const tensor> constant{};
  /// The TensorProto.DataType that an input, a constant or a Cast states; 0 for other values.
  int stored = 0;
  /// The elements of a list of integers or truth values that is known in part, with symbols for the
  /// others.
  std::shared_ptr<const std::vector<std::int64_t>> extents{};
  /// The tensors of a sequence, which has no other value.
  std::shared_ptr<const std::vector<onnx_imported>> sequence{};

  /// Whether there is a tensor.
  bool has_value() const { return variable >= 0 || constant != nullptr; }
  /// Whether there is a tensor or a sequence of tensors.
  bool is_given() const { return has_value() || sequence != nullptr; }
  int rank() const { return static_cast<int>(dims.size()); }
  /// Returns the dimensions for messages; unknown ones are -1.
  std::string dims_text() const { return std::string(text().list(without_symbols(dims))); }
  /// Whether all dimensions are known.
  bool is_static() const {
    for (const std::int64_t d : dims)
      if (d < 0) return false;
    return true;
  }
};

/// An attribute of an operator that an import makes.
struct onnx_set : attribute_message {
  onnx_set(const char* key, std::int64_t value) : onnx_set(key, attribute_type::long_integer) {
    integer = value;
  }
  onnx_set(const char* key, int value) : onnx_set(key, std::int64_t{value}) {
    type = attribute_type::integer;
  }
  onnx_set(const char* key, bool value) : onnx_set(key, attribute_type::boolean) {
    integer = value ? 1 : 0;
  }
  onnx_set(const char* key, double value) : onnx_set(key, attribute_type::real) {
    real = static_cast<float>(value);
  }
  onnx_set(const char* key, float value) : onnx_set(key, static_cast<double>(value)) {}
  onnx_set(const char* key, const char* value) : onnx_set(key, attribute_type::string) {
    text = value;
  }
  onnx_set(const char* key, std::vector<std::int64_t> values)
      : onnx_set(key, attribute_type::integers) {
    integers = std::move(values);
  }

 private:
  onnx_set(const char* key, attribute_type kind) {
    name = key;
    type = kind;
  }
};

/// An input slot of an operator with its values; values that are absent are left out.
struct onnx_slot {
  onnx_slot(const char* slot, const onnx_imported& value) : name(slot) {
    if (value.has_value()) values.push_back(value);
  }
  onnx_slot(const char* slot, std::vector<onnx_imported> all)
      : name(slot), values(std::move(all)) {}

  const char* name;
  std::vector<onnx_imported> values{};
};

/// An output slot of an operator: the type and the dimensions of a result.
struct onnx_result {
  const char* slot;
  dtype type;
  std::vector<std::int64_t> dims;
};

/// An operator that runs a block: its type, its slots, and the attribute that says that the program
/// has no gradient or that the condition is one bool.
struct onnx_block_operator {
  const char* type;
  const char* condition;
  const char* reads;
  const char* scopes;
  const char* flag;
  bool repeats;
};

/// Runs a program without feeds and returns the values of variables.
using onnx_fold = std::function<std::vector<lod_tensor>(program_message program, scope& constants,
                                                        const std::vector<std::string>& fetch)>;

/// The variables, constants and operators of the program that an import makes.
class onnx_import {
 public:
  /// `file` is the name in errors; `fold` computes operators on constants; a constant has at most
  /// `largest` elements.
  onnx_import(std::string file, onnx_fold fold, std::uint64_t largest)
      : file_(std::move(file)), fold_(std::move(fold)), largest_(largest) {}

  const std::string& file() const { return file_; }

  /// Returns a constant.
  static onnx_imported constant(tensor value) {
    onnx_imported made;
    made.type = value.type();
    for (const std::size_t extent : value.shape())
      made.dims.push_back(static_cast<std::int64_t>(extent));
    if (value.rank() == 0) value = with_shape(value, {1});
    made.constant = std::make_shared<const tensor>(std::move(value));
    return made;
  }
  /// Keeps the name of a constant for its variable.
  void name_constant(const onnx_imported& value, const std::string& name) {
    constant_names_.emplace(value.constant.get(), name);
    kept_.push_back(value.constant);
  }
  /// Returns the elements of a tensor under another shape.
  static tensor with_shape(const tensor& value, const tensor_shape& shape) {
    return value.visit([&](auto elements) {
      elements.reshape(shape);
      return tensor(std::move(elements));
    });
  }

  /// Adds a data variable.
  onnx_imported feed(const std::string& name, dtype type, std::vector<std::int64_t> dims,
                     std::uint64_t offset = 0) {
    require_dims(dims, offset);
    onnx_imported made;
    made.type = type;
    made.dims = std::move(dims);
    made.variable = add(name, type, made.dims);
    feeds_.push_back(made.variable);
    name_dims(made);
    return made;
  }

  /// Where a symbol has its number at run time: element `position` of a list, or of the shape of a
  /// value.
  struct symbol_source {
    onnx_imported value;
    int position;
    bool is_dimension;
  };
  /// Returns a new symbol.
  std::int64_t symbol(const symbol_source& from, bool not_negative) {
    const std::int64_t made = first_symbol - 2 * ++symbols_ - (not_negative ? 0 : 1);
    sources_.emplace(made, from);
    return made;
  }
  /// Returns the source of a symbol.
  const symbol_source& source_of(std::int64_t symbol) const { return sources_.at(symbol); }
  /// Returns dimensions of a value of an inner block for a value of the current block: symbols
  /// whose sources the current block cannot read become unknown.
  std::vector<std::int64_t> visible(std::vector<std::int64_t> dims) const {
    for (std::int64_t& d : dims)
      if (is_symbol(d) && !is_inside(block_, variables_[index(source_of(d).value.variable)].block))
        d = unknown_extent;
    return dims;
  }
  /// Gives each unknown dimension of a value a symbol.
  void name_dims(onnx_imported& value) {
    for (std::size_t d = 0; d < value.dims.size(); ++d)
      if (value.dims[d] < 0 && !is_symbol(value.dims[d]))
        value.dims[d] = symbol({value, static_cast<int>(d), true}, true);
  }

  /// Adds an operator and returns its results, or computes it if its inputs are constants. `offset`
  /// is the position of its node.
  std::vector<onnx_imported> make(const char* type, const std::vector<onnx_slot>& inputs,
                                  std::vector<onnx_set> attributes,
                                  const std::vector<onnx_result>& results, std::uint64_t offset) {
    for (const onnx_result& r : results) require_dims(r.dims, offset);
    bool all = true;
    for (const onnx_slot& s : inputs)
      for (const onnx_imported& v : s.values) all = all && v.constant != nullptr;
    if (all) return folded(type, inputs, std::move(attributes), results, offset);
    return appended(type, inputs, std::move(attributes), results, offset);
  }

  // -- blocks -----------------------------------------------------------------------------------

  /// Begins a block inside the current one: the body of a loop or a branch. Operators and variables
  /// belong to it until end_block(). Returns its number.
  int begin_block() {
    blocks_.push_back({block_, operators_.size()});
    return block_ = static_cast<int>(blocks_.size()) - 1;
  }
  void end_block() { block_ = blocks_[index(block_)].parent; }
  /// Adds a variable without a value to the current block: one that several operators write, an
  /// array of tensors or step scopes.
  onnx_imported declare(dtype type, std::vector<std::int64_t> dims, std::uint64_t offset,
                        variable_class kind = variable_class::lod_tensor) {
    require_dims(dims, offset);
    onnx_imported made;
    made.type = type;
    made.dims = std::move(dims);
    made.variable = static_cast<int>(variables_.size());
    variables_.push_back(new_entry(type, made.dims));
    variables_.back().kind = kind;
    return made;
  }
  /// Sets the type and the dimensions of a declared variable, or of the values of an array.
  void describe(onnx_imported& value, dtype type, std::vector<std::int64_t> dims) {
    at(value.variable).type = value.type = type;
    at(value.variable).dims = value.dims = std::move(dims);
  }
  /// Adds an operator that writes variables which exist.
  void write(const char* type, const std::vector<onnx_slot>& inputs,
             const std::vector<onnx_set>& attributes, const std::vector<onnx_slot>& outputs,
             std::uint64_t offset) {
    operation op = begin(type, inputs, offset);
    for (const onnx_slot& s : outputs) {
      op.outputs.emplace_back(s.name, std::vector<int>());
      for (const onnx_imported& v : s.values) {
        op.writes.push_back(v.variable);
        op.outputs.back().second.push_back(v.variable);
      }
    }
    op.attributes.assign(attributes.begin(), attributes.end());
    operators_.push_back(std::move(op));
  }
  /// Adds the operator that runs a block which has ended. finish() fills the slots for all
  /// variables of outer blocks that the block reads and writes. `how` must outlive the import.
  void run_block(const onnx_block_operator& how, int block, const onnx_imported& condition,
                 std::uint64_t offset) {
    const onnx_imported scopes = declare(dtype::int64, {1}, offset, variable_class::step_scopes);
    operation op = begin(how.type, {{how.condition, condition}}, offset);
    op.inner = block;
    op.how = &how;
    op.outputs.emplace_back(how.scopes, std::vector<int>{scopes.variable});
    op.attributes.push_back(onnx_set("sub_block", block));
    op.attributes.back().type = attribute_type::block;
    op.attributes.push_back(onnx_set(how.flag, true));
    std::set<int> written;
    for (std::size_t k = blocks_[index(block)].first; k < operators_.size(); ++k)
      for (const int v : operators_[k].writes)
        if (!is_inside(variables_[index(v)].block, block) && written.insert(v).second)
          op.writes.push_back(v);
    operators_.push_back(std::move(op));
  }

  /// A state of the program, to which rewind() returns.
  struct mark {
    std::size_t variables, operators, blocks, kept;
    int block;
  };
  mark now() const {
    return {variables_.size(), operators_.size(), blocks_.size(), kept_.size(), block_};
  }
  /// Removes all operators, variables and constants that were added after now() was called.
  void rewind(const mark& to) {
    for (std::size_t i = to.kept; i < kept_.size(); ++i) {
      constant_names_.erase(kept_[i].get());
      const auto found = constant_variables_.find(kept_[i].get());
      if (found != constant_variables_.end() && index(found->second) >= to.variables)
        constant_variables_.erase(found);
    }
    kept_.resize(to.kept);
    variables_.resize(to.variables);
    operators_.resize(to.operators);
    blocks_.resize(to.blocks);
    block_ = to.block;
  }
  /// Returns the number of operators that were added since a state.
  std::size_t operators_since(const mark& from) const { return operators_.size() - from.operators; }

  /// Makes a value the output of the graph with a name.
  void output(const std::string& name, onnx_imported value, std::uint64_t offset) {
    const bool own = value.variable >= 0 && !is_named(value.variable);
    if (!own)
      value = appended("assign", {{"X", value}}, {}, {{"Out", value.type, value.dims}}, offset)[0];
    rename(value.variable, name);
    fetches_.push_back(value.variable);
  }
  /// Prefers a name for the variable of a value.
  void suggest(const onnx_imported& value, const std::string& name) {
    if (value.variable >= 0 && at(value.variable).wish.empty()) at(value.variable).wish = name;
  }

  /// Returns the program; operators that no output needs are left out. Stores the constants that
  /// the program reads in `constants`.
  program_message finish(scope& constants) {
    std::vector<bool> used(variables_.size(), false), kept(operators_.size(), false);
    for (const int v : fetches_) used[index(v)] = true;
    for (std::size_t k = operators_.size(); k-- > 0;) {
      for (const int v : operators_[k].writes) kept[k] = kept[k] || used[index(v)];
      if (!kept[k]) continue;
      for (const int v : operators_[k].reads) used[index(v)] = true;
      if (operators_[k].inner < 0) continue;
      // The next iteration may read what an iteration writes.
      for (const int v : operators_[k].writes)
        if (operators_[k].how->repeats && at(v).kind == variable_class::lod_tensor)
          used[index(v)] = true;
      used[index(operators_[k].outputs[0].second[0])] = true;
    }
    for (const int v : feeds_) used[index(v)] = true;
    name_variables(used);
    program_message made;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      block_message& block = made.blocks.emplace_back();
      block.index = static_cast<int>(b);
      block.parent = blocks_[b].parent;
    }
    for (std::size_t v = 0; v < variables_.size(); ++v) {
      if (!used[v]) continue;
      const entry& e = variables_[v];
      variable_message& m = made.blocks[index(e.block)].variables.emplace_back();
      m.name = e.name;
      m.kind = e.kind;
      m.type = e.type;
      m.dims = without_symbols(e.dims);
      m.need_check_feed = e.is_feed;
      m.persistable = e.value != nullptr;
      // A single number without a name in the file is a constant, such as a factor of Gelu.
      const bool is_number =
          e.value != nullptr && e.value->size() == 1 && constant_names_.count(e.value.get()) == 0;
      m.is_parameter = e.value != nullptr && is_floating(e.type) && !is_number;
      if (e.value != nullptr) static_cast<tensor&>(constants.var(e.name)) = *e.value;
    }
    std::vector<operator_message>& main = made.blocks[0].operators;
    for (std::size_t i = 0; i < feeds_.size(); ++i)
      main.push_back(column("feed", "Out", feeds_[i], i));
    for (std::size_t k = 0; k < operators_.size(); ++k) {
      if (!kept[k]) continue;
      operation& op = operators_[k];
      if (op.inner >= 0) add_block_arguments(op, k, kept, used);
      made.blocks[index(op.block)].operators.push_back(message_of(op, used));
    }
    for (std::size_t i = 0; i < fetches_.size(); ++i)
      main.push_back(column("fetch", "X", fetches_[i], i));
    return made;
  }

 private:
  struct entry {
    std::string name{}, wish{};
    dtype type = dtype::float32;
    std::vector<std::int64_t> dims{};
    bool is_feed = false;
    std::shared_ptr<const tensor> value{};
    int block = 0;
    variable_class kind = variable_class::lod_tensor;
  };
  struct operation {
    const char* type;
    std::vector<std::pair<const char*, std::vector<int>>> inputs{}, outputs{};
    std::vector<attribute_message> attributes{};
    std::vector<int> reads{}, writes{};
    std::uint64_t offset = 0;
    int block = 0;
    int inner = -1;  // the block that it runs
    const onnx_block_operator* how = nullptr;
  };
  struct block_entry {
    int parent;
    std::size_t first;  // the operators of the block begin here
  };

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  entry& at(int variable) { return variables_[index(variable)]; }
  bool is_named(int variable) const { return !variables_[index(variable)].name.empty(); }

  entry new_entry(dtype type, const std::vector<std::int64_t>& dims) const {
    entry e;
    e.type = type;
    e.dims = dims;
    e.block = block_;
    return e;
  }
  /// Whether a block is another one or inside of it.
  bool is_inside(int block, int other) const {
    while (block > other) block = blocks_[index(block)].parent;
    return block == other;
  }
  operation begin(const char* type, const std::vector<onnx_slot>& inputs, std::uint64_t offset) {
    operation op{type};
    op.offset = offset;
    op.block = block_;
    for (const onnx_slot& s : inputs) {
      std::vector<int> all;
      for (const onnx_imported& v : s.values) all.push_back(variable_of(v));
      op.reads.insert(op.reads.end(), all.begin(), all.end());
      op.inputs.emplace_back(s.name, std::move(all));
    }
    return op;
  }
  // Lists the variables of outer blocks that the operators of a block read and write.
  void add_block_arguments(operation& op, std::size_t end, const std::vector<bool>& kept,
                           const std::vector<bool>& used) const {
    std::vector<int> reads, writes;
    std::set<int> read, written;
    for (std::size_t k = blocks_[index(op.inner)].first; k < end; ++k) {
      if (!kept[k]) continue;
      const auto list = [&](const std::vector<int>& from, std::set<int>& seen,
                            std::vector<int>& to) {
        for (const int v : from)
          if (used[index(v)] && !is_inside(variables_[index(v)].block, op.inner) &&
              seen.insert(v).second)
            to.push_back(v);
      };
      list(operators_[k].reads, read, reads);
      list(operators_[k].writes, written, writes);
    }
    op.inputs.emplace_back(op.how->reads, std::move(reads));
    op.outputs.emplace_back("Out", std::move(writes));
  }

  int add(const std::string& name, dtype type, const std::vector<std::int64_t>& dims) {
    entry& e = variables_.emplace_back();
    e.name = name;
    e.type = type;
    e.dims = dims;
    e.is_feed = true;
    names_.insert(name);
    return static_cast<int>(variables_.size()) - 1;
  }
  void rename(int variable, const std::string& name) {
    at(variable).name = name;
    names_.insert(name);
  }

  int variable_of(const onnx_imported& value) {
    if (value.variable >= 0) return value.variable;
    const auto [found, is_new] =
        constant_variables_.emplace(value.constant.get(), static_cast<int>(variables_.size()));
    if (!is_new) return found->second;
    entry& e = variables_.emplace_back();
    e.type = value.type;
    for (const std::size_t extent : value.constant->shape())
      e.dims.push_back(static_cast<std::int64_t>(extent));
    e.value = value.constant;
    const auto name = constant_names_.find(value.constant.get());
    e.wish = name != constant_names_.end() ? name->second : "constant";
    kept_.push_back(value.constant);
    return found->second;
  }

  std::vector<onnx_imported> appended(const char* type, const std::vector<onnx_slot>& inputs,
                                      std::vector<onnx_set> attributes,
                                      const std::vector<onnx_result>& results,
                                      std::uint64_t offset) {
    operation op = begin(type, inputs, offset);
    std::vector<onnx_imported> made;
    for (const onnx_result& r : results) {
      onnx_imported& value = made.emplace_back();
      value.type = r.type;
      value.dims = r.dims;
      value.variable = static_cast<int>(variables_.size());
      name_dims(value);
      variables_.push_back(new_entry(r.type, r.dims));
      op.writes.push_back(value.variable);
      if (op.outputs.empty() || std::string_view(op.outputs.back().first) != r.slot)
        op.outputs.emplace_back(r.slot, std::vector<int>());
      op.outputs.back().second.push_back(value.variable);
    }
    op.attributes.assign(attributes.begin(), attributes.end());
    operators_.push_back(std::move(op));
    return made;
  }

  std::vector<onnx_imported> folded(const char* type, const std::vector<onnx_slot>& inputs,
                                    std::vector<onnx_set> attributes,
                                    const std::vector<onnx_result>& results, std::uint64_t offset) {
    for (const onnx_result& r : results) require_size(r.dims, offset);
    onnx_import alone(file_, nullptr, largest_);
    std::vector<onnx_imported> made =
        alone.appended(type, inputs, std::move(attributes), results, offset);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < made.size(); ++i) {
      names.push_back("result_" + std::to_string(i));
      alone.rename(made[i].variable, names.back());
      alone.fetches_.push_back(made[i].variable);
    }
    scope constants;
    program_message program = alone.finish(constants);
    std::vector<lod_tensor> values = fold_(std::move(program), constants, names);
    for (std::size_t i = 0; i < made.size(); ++i) {
      tensor value = std::move(static_cast<tensor&>(values[i]));
      if (value.type() != results[i].type) value = value.cast(results[i].type);
      const bool is_scalar = results[i].dims.empty();
      made[i] = constant(std::move(value));
      if (is_scalar) made[i].dims.clear();
    }
    return made;
  }

 public:
  /// Throws format_error for a constant that would have too many elements.
  void require_size(const std::vector<std::int64_t>& dims, std::uint64_t offset) const {
    std::uint64_t n = 1;
    for (const std::int64_t d : dims) {
      if (d == 0) return;
      if (d < 0) continue;
      if (n > largest_ / static_cast<std::uint64_t>(d))
        throw format_error(file_, offset,
                           text("expected constants of at most ")
                               << largest_ << " elements, found one of dimensions "
                               << text().list(without_symbols(dims)));
      n *= static_cast<std::uint64_t>(d);
    }
  }

 private:
  // Throws format_error for a value of dimensions that no memory holds, so that products of
  // dimensions do not overflow.
  void require_dims(const std::vector<std::int64_t>& dims, std::uint64_t offset) const {
    std::uint64_t n = 1;
    for (const std::int64_t d : dims) {
      const bool fits = d <= 0x7fffffff &&
                        (d <= 0 || n <= (std::uint64_t{1} << 42) / static_cast<std::uint64_t>(d));
      if (!fits)
        throw format_error(file_, offset,
                           text("expected values of at most 2^42 elements and dimensions up to "
                                "2147483647, found dimensions ")
                               .list(without_symbols(dims)));
      if (d > 0) n *= static_cast<std::uint64_t>(d);
    }
  }

  // Gives each variable a unique name: that of the file if it is free.
  void name_variables(const std::vector<bool>& used) {
    std::map<std::string, int> next;  // by wish: all smaller suffixes are taken
    for (std::size_t v = 0; v < variables_.size(); ++v) {
      entry& e = variables_[v];
      if (!used[v] || !e.name.empty()) continue;
      std::string wish = e.wish.empty() ? "value" : e.wish;
      for (char& c : wish)
        if (c == '@') c = '_';  // begins a suffix, such as that of a gradient
      std::string name = wish;
      for (int& i = next[wish]; !names_.insert(name).second; ++i)
        name = wish + "_" + std::to_string(i);
      e.name = std::move(name);
    }
  }
  operator_message message_of(const operation& op, const std::vector<bool>& used) const {
    operator_message made;
    made.type = op.type;
    made.offset = op.offset;
    const auto fill = [&](const auto& from, std::vector<slot_message>& to, bool output) {
      for (const auto& [slot, all] : from) {
        slot_message& s = to.emplace_back();
        s.slot = slot;
        for (const int v : all)
          s.arguments.push_back(output && !used[index(v)] ? "@EMPTY@" : variables_[index(v)].name);
      }
    };
    fill(op.inputs, made.inputs, false);
    fill(op.outputs, made.outputs, true);
    made.attributes = op.attributes;
    return made;
  }
  operator_message column(const char* type, const char* slot, int variable, std::size_t i) const {
    operator_message made;
    made.type = type;
    slot_message& s =
        (type == std::string_view("feed") ? made.outputs : made.inputs).emplace_back();
    s.slot = slot;
    s.arguments.push_back(variables_[index(variable)].name);
    made.attributes.push_back(onnx_set("col", static_cast<int>(i)));
    return made;
  }

  std::string file_;
  onnx_fold fold_;
  std::uint64_t largest_;
  std::vector<entry> variables_;
  std::vector<operation> operators_;
  std::vector<block_entry> blocks_{{-1, 0}};
  int block_ = 0;
  std::vector<int> feeds_, fetches_;
  std::set<std::string> names_;
  std::int64_t symbols_ = 0;
  std::map<std::int64_t, symbol_source> sources_;
  std::map<const tensor*, int> constant_variables_;
  std::map<const tensor*, std::string> constant_names_;
  std::vector<std::shared_ptr<const tensor>> kept_;  // constants whose addresses are keys
};

}}  // namespace lamina
