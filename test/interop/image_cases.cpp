// SPDX-License-Identifier: Apache-2.0
// Cases of the rows of operators over images.
#include <interop/case_writer.hpp>
#include <operators/conv/conv_rows.hpp>
#include <operators/pool/pool_rows.hpp>
#include <operators/region/region_rows.hpp>
#include <operators/resize/resize_rows.hpp>

namespace interop {

void write_image_cases(case_writer& to) {
  rows::conv(to);
  rows::pool(to);
  rows::resize(to);
  rows::region(to);
}

}  // namespace interop
