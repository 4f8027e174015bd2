// SPDX-License-Identifier: Apache-2.0
// Cases of the rows of operators over sequences of different length.
#include <interop/case_writer.hpp>
#include <operators/recurrent/recurrent_rows.hpp>
#include <operators/sequence/sequence_rows.hpp>

namespace interop {

void write_sequence_cases(case_writer& to) {
  rows::sequence(to);
  rows::recurrent(to);
}

}  // namespace interop
