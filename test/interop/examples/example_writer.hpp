// SPDX-License-Identifier: Apache-2.0
// The programs of examples/ as cases.
#pragma once

#include <interop/case_writer.hpp>

namespace interop {

/// Writes a program of an example as a case.
template <class P>
void write_example(case_writer& to, const char* name, P program) {
  if (P::view().count.outputs == 0) return;  // it begins others
  to.write_results(name, program, {.integers = 2, .gradients = false, .edges = edge_kind::none});
}

/// The programs of all examples: written by the build (examples.cmake).
void write_examples(case_writer& to);

}  // namespace interop
