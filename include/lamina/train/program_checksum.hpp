// SPDX-License-Identifier: Apache-2.0
// lamina/train/program_checksum.hpp - a number by which processes see that they run one program.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <lamina/core/checksum.hpp>
#include <lamina/program/program_desc.hpp>

namespace lamina::inline LAMINA_ABI {

/// A checksum of the operators of a program with their types, arguments and attributes, and of the
/// shapes of its variables.
LAMINA_COLD inline std::uint64_t program_checksum(const program_view& p) {
  checksum sum;
  const auto add = [&sum](const auto* first, int count) {
    sum.add(first, sizeof *first * static_cast<std::size_t>(count));
  };
  for (int k = 0; k < p.count.operators; ++k) {
    const operator_desc& op = p.operators[k];
    sum.add(op.schema->type, std::strlen(op.schema->type));
    const int facts[] = {op.inputs, op.outputs, op.end, op.attributes, op.block};
    add(facts, 5);
  }
  for (int v = 0; v < p.count.variables; ++v) {
    const variable_desc& d = p.variables[v];
    const int facts[] = {static_cast<int>(d.type), d.dims, d.rank, d.rows, d.block};
    add(facts, 5);
  }
  for (int k = 0; k < p.count.attributes; ++k) add(&p.attributes[k].number, 1);
  add(p.arguments, p.count.arguments);
  add(p.dims, p.count.dims);
  add(p.integers, p.count.integers);
  add(p.reals, p.count.reals);
  add(p.characters, p.count.characters);
  return sum.value();
}

}  // namespace lamina::inline LAMINA_ABI
