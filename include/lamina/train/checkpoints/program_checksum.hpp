// SPDX-License-Identifier: Apache-2.0
// lamina/train/checkpoints/program_checksum.hpp - a checksum by which processes recognise the same
// program.
#pragma once

#include <lamina/core/config.hpp>

#include <bit>
#include <cstdint>

#include <lamina/program/program.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Computes a checksum of the operators of a program with their types, arguments and attributes,
/// and of the shapes of its variables. It is FNV-1a over 64-bit words and evaluated at compile
/// time, because the tables of a program do not exist at run time.
template <program_type P>
constexpr std::uint64_t find_program_checksum() {
  constexpr const program_desc& p = P::desc;
  std::uint64_t sum = 0xcbf29ce484222325u;
  const auto add = [&sum](std::uint64_t word) { sum = (sum ^ word) * 0x100000001b3u; };
  const auto add_int = [&add](int word) { add(static_cast<std::uint64_t>(word)); };
  for (int k = 0; k < p.count.operators; ++k) {
    const operator_desc& op = p.operators[k];
    for (const char* c = op.schema->type; *c != 0; ++c) add(static_cast<unsigned char>(*c));
    for (const int fact : {op.inputs, op.outputs, op.end, op.attributes, op.block}) add_int(fact);
  }
  for (int v = 0; v < p.count.variables; ++v) {
    const variable_desc& d = p.variables[v];
    for (const int fact : {static_cast<int>(d.type), d.dims, d.rank, d.rows, d.block})
      add_int(fact);
  }
  for (int k = 0; k < p.count.arguments; ++k) add_int(p.arguments[k]);
  for (int k = 0; k < p.count.attributes; ++k)
    add(std::bit_cast<std::uint64_t>(p.attributes[k].number));
  for (int k = 0; k < p.count.dims; ++k) add_int(p.dims[k]);
  for (int k = 0; k < p.count.integers; ++k) add_int(p.integers[k]);
  for (int k = 0; k < p.count.reals; ++k) add(std::bit_cast<std::uint32_t>(p.reals[k]));
  return sum;
}
template <program_type P>
inline constexpr std::uint64_t program_checksum = find_program_checksum<P>();

}}  // namespace lamina
