// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/emulated/ptx_kernel.hpp - kernels as nvcc writes them (PTX ISA 9.0), decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace test::emulated {

struct machine;
struct warp;
struct instruction;
using action = void (*)(machine&, warp&, const instruction&);

/// Where an address points to. Addresses of shared, local and parameter memory begin at 0.
enum class space : std::uint8_t { generic, global, shared, local, parameter };

/// An operand: a register from 0 on, a constant below 0 (its complement is the number), or none.
using operand = int;
inline constexpr operand no_operand = 1 << 30;

struct instruction {
  action run = nullptr;
  int guard = -1;  // the predicate that decides
  bool guard_is_false = false;
  bool ends_group = false;  // who runs next is to be found out
  bool is_volatile = false, read_only = false;
  space where = space::generic;
  std::uint8_t vector = 1;  // elements of a load or store
  int target = -1;          // of a branch
  int offset = 0;           // of an address
  int predicates[3] = {-1, -1, -1};
  operand to[4] = {no_operand, no_operand, no_operand, no_operand};
  operand of[12] = {};
  std::uint32_t modifier = 0;             // what an instruction needs beside
  std::uint32_t text = 0, text_size = 0;  // where it stands in the module
};

struct parameter {
  std::size_t offset, bytes;
};

struct kernel {
  std::string name;
  std::string_view source;  // of the body
  std::string_view heading;
  bool decoded = false;
  std::vector<parameter> parameters;
  std::size_t parameter_bytes = 0;
  std::vector<instruction> code;
  std::vector<std::uint64_t> constants;  // 32 equal lanes each
  int registers = 0, predicates = 0;
  std::size_t shared_bytes = 0, local_bytes = 0;
  bool extern_shared = false;
  std::size_t most_shared = 48 * 1024;  // dynamic: until cudaFuncSetAttribute allows more
  int most_threads = 1024;
};

/// The text of a .ptx file, its kernels by name, and its variables.
struct module {
  std::string text;
  std::map<std::string, kernel, std::less<>> kernels;
  struct variable {
    std::size_t bytes, align;
  };
  std::map<std::string, variable, std::less<>> shared;       // of the whole module
  std::map<std::string, std::uint64_t, std::less<>> global;  // their addresses
  std::vector<std::unique_ptr<char[]>> storage;
  std::vector<std::pair<char*, std::size_t>> ranges;
  std::string extern_shared;
};

/// Reads a file's text; throws std::runtime_error that names what is not known.
void read_module(module& to, std::string text);
/// Decodes a kernel's body.
void decode(const module& m, kernel& k);

/// What an opcode does; throws where it is not known.
struct meaning {
  action run;
  bool ends_group;
  std::uint32_t modifier;
};
meaning meaning_of(const std::vector<std::string_view>& opcode);

}  // namespace test::emulated
