// SPDX-License-Identifier: Apache-2.0
// The programs of examples/ as cases.
#pragma once

#include <cstdio>
#include <string_view>

#include <interop/case_writer.hpp>

namespace interop {

/// Writes a program of an example as a case; one with an operator of its own, which a reader of
/// files does not know, is named and left out.
template <class P>
void write_example(case_writer& to, const char* name, P program) {
  if (P::view().count.outputs == 0) return;  // it begins others
  try {
    to.write_results(name, program, {.integers = 2, .gradients = false, .edges = edge_kind::none});
  } catch (const lamina::format_error& e) {
    if (std::string_view(e.what()).find("expected an operator that lamina knows") ==
        std::string_view::npos)
      throw;
    to.remove(name);
    std::printf("%s: left out: %s\n", name, e.what());
  }
}

/// The programs of all examples: written by the build (examples.cmake).
void write_examples(case_writer& to);

}  // namespace interop
