// SPDX-License-Identifier: Apache-2.0
// lamina/program/rollback.hpp - removes the records that were added after a given point.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/program/program_builder.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Stores the size of a builder; undo() removes everything that was recorded afterwards. The body
/// of a loop is recorded once to find the variables that it writes, and then a second time, which
/// is kept. undo() mostly restores the sizes of arrays, because recording appends to arrays. The
/// only earlier entries that recording changes, the counters of names and the first fault, are
/// copied to this object.
class rollback {
 public:
  constexpr explicit rollback(program_builder& b)
      : b_(b),
        size_{b.variables.count, b.operators.count, b.arguments.count,  b.attributes.count,
              b.dims.count,      b.integers.count,  b.reals.count,      b.characters.count,
              b.names.count,     b.blocks.count,    b.parameters.count, b.data.count,
              b.startup.count,   b.outputs.count,   b.domains.count},
        made_parameters_(b.made_parameters.count),
        open_domains_(b.open_domains.count),
        fault_(b.fault),
        accumulators_(b.accumulators) {
    for (int i = 0; i < b.keys.count; ++i) keys_.push(b.keys[i]);
    for (int i = 0; i < b.counters.count; ++i) counters_.push(b.counters[i]);
  }

  /// Restores the builder.
  constexpr void undo() {
    b_.variables.count = size_.variables;
    b_.operators.count = size_.operators;
    b_.arguments.count = size_.arguments;
    b_.attributes.count = size_.attributes;
    b_.dims.count = size_.dims;
    b_.integers.count = size_.integers;
    b_.reals.count = size_.reals;
    b_.characters.count = size_.characters;
    b_.names.count = size_.names;
    b_.blocks.count = size_.blocks;
    b_.parameters.count = b_.origins.count = size_.parameters;
    b_.data.count = size_.data;
    b_.startup.count = size_.startup;
    b_.outputs.count = size_.outputs;
    b_.domains.count = size_.domains;
    b_.made_parameters.count = made_parameters_;
    b_.open_domains.count = open_domains_;
    b_.keys.count = keys_.count;
    copy_items(b_.keys.items, keys_.items, keys_.count);
    b_.counters.count = counters_.count;
    copy_items(b_.counters.items, counters_.items, counters_.count);
    b_.fault = fault_;
    b_.accumulators = accumulators_;
  }

 private:
  program_builder& b_;
  program_counts size_;
  int made_parameters_;
  int open_domains_;
  fault_desc fault_;
  int accumulators_;
  constexpr_vector<key_counter> keys_;
  constexpr_vector<name_counter> counters_;
};

}}  // namespace lamina
