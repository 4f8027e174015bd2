// SPDX-License-Identifier: Apache-2.0
// lamina/io/fluid/program_records.hpp - owns the arrays of a program that is made at run time.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include <lamina/core/messages/text.hpp>
#include <lamina/io/fluid/program_message.hpp>
#include <lamina/program/program_desc.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// The arrays of a program_desc, as vectors.
struct program_records {
  std::vector<variable_desc> variables;
  std::vector<operator_desc> operators;
  std::vector<int> arguments;
  std::vector<attribute_value> attributes;
  std::vector<int> dims, integers;
  std::vector<float> reals;
  std::string characters;
  std::vector<name_desc> names;
  std::vector<block_desc> blocks;
  std::vector<parameter_desc> parameters;
  std::vector<int> data, outputs;
  std::size_t before_fields = 0;  // data variables other than fields of mini-batches
  std::vector<domain_desc> domains;
  std::deque<std::string> suffixes;  // suffixes of names; variables point to their text
  std::uint64_t reading = next_reading();

  /// Returns a number that is unique in this process, for each program that is read.
  static std::uint64_t next_reading() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  template <class T>
  static int count(const std::vector<T>& v) {
    return static_cast<int>(v.size());
  }
  /// Returns the view that executors run. It is valid until the vectors change.
  program_view view() const {
    program_view v{};
    v.variables = variables.data();
    v.operators = operators.data();
    v.arguments = arguments.data();
    v.attributes = attributes.data();
    v.dims = dims.data();
    v.integers = integers.data();
    v.reals = reals.data();
    v.characters = characters.data();
    v.names = names.data();
    v.blocks = blocks.data();
    v.parameters = parameters.data();
    v.data = data.data();
    v.outputs = outputs.data();
    v.domains = domains.data();
    v.count.variables = count(variables);
    v.count.operators = count(operators);
    v.count.arguments = count(arguments);
    v.count.attributes = count(attributes);
    v.count.dims = count(dims);
    v.count.integers = count(integers);
    v.count.reals = count(reals);
    v.count.characters = static_cast<int>(characters.size());
    v.count.names = count(names);
    v.count.blocks = count(blocks);
    v.count.parameters = count(parameters);
    v.count.data = count(data);
    v.count.outputs = count(outputs);
    v.count.domains = count(domains);
    v.cost = -1;
    v.is_read = true;
    v.reading = reading;
    return v;
  }

  /// Stores the value of an attribute as the type `wanted`; converts numbers and lists of numbers.
  /// If the value does not fit the type, sets `wrong` to a text with the expected and the found
  /// value.
  attribute_value put(const attribute_message& a, attribute_type wanted, std::string& wrong) {
    const auto is_list = [](attribute_type t) {
      return t == attribute_type::integers || t == attribute_type::booleans ||
             t == attribute_type::blocks || t == attribute_type::long_integers;
    };
    const auto is_number = [&](attribute_type t) {
      return !is_list(t) && t != attribute_type::string && t != attribute_type::strings &&
             t != attribute_type::reals;
    };
    const bool fits = a.later_type == 0 && wanted != attribute_type::strings &&
                      (a.type == wanted || (is_list(wanted) && is_list(a.type)) ||
                       (is_number(wanted) && is_number(a.type)));
    if (!fits) {
      wrong = text("type ") << static_cast<int>(wanted) << ", found type "
                            << (a.later_type != 0 ? a.later_type : static_cast<int>(a.type));
      return {};
    }
    if (wanted == attribute_type::string) {
      characters += a.text;
      return {0, static_cast<int>(characters.size() - a.text.size()),
              static_cast<int>(a.text.size())};
    }
    if (wanted == attribute_type::reals) {
      reals.insert(reals.end(), a.reals.begin(), a.reals.end());
      return {0, count(reals) - count(a.reals), count(a.reals)};
    }
    if (!is_list(wanted))
      return {a.type == attribute_type::real ? static_cast<double>(a.real)
                                             : static_cast<double>(a.integer),
              0, 0};
    for (const std::int64_t i : a.integers) {
      if (i < -2147483648LL || i > 2147483647LL) wrong = text("numbers of 32 bits, found ") << i;
      integers.push_back(static_cast<int>(i));
    }
    return {0, count(integers) - count(a.integers), count(a.integers)};
  }

  /// Appends the fields of mini-batches to the data variables. These are the outputs of operators
  /// that read mini-batches.
  void find_fields() {
    before_fields = data.size();
    for (const operator_desc& op : operators) {
      if (!op.schema->facts.reads_minibatch) continue;
      const int more = arguments[static_cast<std::size_t>(op.end) - 1];
      for_each_argument(op, false, [&](int v) {
        if (v != more && variables[static_cast<std::size_t>(v)].kind == variable_kind::temporary &&
            std::find(data.begin(), data.end(), v) == data.end())
          data.push_back(v);
      });
    }
  }
  /// Returns the number of data variables that are not fields of mini-batches; these come first.
  std::vector<int> fed() const {
    return {data.begin(), data.begin() + static_cast<std::ptrdiff_t>(before_fields)};
  }

  /// Calls f with each variable that an operator reads or, if `input` is false, writes.
  template <class F>
  void for_each_argument(const operator_desc& op, bool input, F f) const {
    const slot_desc* slot_list = input ? op.schema->inputs : op.schema->outputs;
    const int n = input ? op.schema->input_count : op.schema->output_count;
    for (int s = 0, i = input ? op.inputs : op.outputs; s < n; ++s)
      for (int k = slot_list[s].duplicable ? arguments[static_cast<std::size_t>(i++)] : 1; k > 0;
           --k, ++i)
        if (arguments[static_cast<std::size_t>(i)] >= 0) f(arguments[static_cast<std::size_t>(i)]);
  }
};

}}  // namespace lamina
