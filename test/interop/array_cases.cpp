// SPDX-License-Identifier: Apache-2.0
// Cases of the rows of constants, control flow and beam searches.
#include <interop/case_writer.hpp>
#include <operators/control/control_rows.hpp>
#include <operators/decode/decode_rows.hpp>
#include <operators/fill/fill_rows.hpp>

namespace interop {

void write_array_cases(case_writer& to) {
  rows::fill(to);
  rows::control(to);
  rows::decode(to);
}

}  // namespace interop
