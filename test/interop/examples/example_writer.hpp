// SPDX-License-Identifier: Apache-2.0
// The programs of examples/ as cases.
#pragma once

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include <interop/case_writer.hpp>

namespace interop {

/// Writes a program of an example as a case; one that does not run by itself, because it reads
/// mini-batches or trains, is named and left out.
template <class P>
void write_example(case_writer& to, const std::string& folder, const char* name, P program) {
  if (P::view().count.outputs == 0) return;  // it begins others
  try {
    to.write_results(name, program, {.integers = 2, .gradients = false, .edges = edge_kind::none});
  } catch (const std::exception& e) {
    std::filesystem::remove_all(folder + "/" + name);
    std::printf("%s: left out: %s\n", name, e.what());
  }
}

/// The programs of all examples: written by the build (examples.cmake).
void write_examples(case_writer& to, const std::string& folder);

}  // namespace interop
