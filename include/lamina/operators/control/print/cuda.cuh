// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/print/cuda.cuh - the print operator. The host waits for the values and
// prints them. A CUDA graph cannot contain this wait, so programs with this operator are not
// captured as CUDA graphs.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <vector>

#include <lamina/engine/cuda/body/part_copy.cuh>
#include <lamina/operators/control/print/common.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine::cuda {

template <>
struct call_kernel<operators::print> {
  static constexpr bool launches = true;
  template <class Backend>
  static void launch(Backend& b, const call_context& c) {
    operand in = c.input(0);
    if (const operand out = c.output(0)) copy_elements(b, in, out);
    if (!prints_now(c)) return;
    std::vector<char> elements(static_cast<std::size_t>(in.rows) *
                               static_cast<std::size_t>(in.stride) *
                               static_cast<std::size_t>(size_of(in.type)));
    c.run.reader->read(c.run.reader->machine, elements.data(), in.data, elements.size());
    in.data = elements.data();
    print_operand(c, in, {load_number, load_integer}, [&](int domain) {
      return sequence_view{c.run.host_offsets[domain], c.rows_in(c.parent_of(domain))};
    });
  }
};

}}}  // namespace lamina::engine::cuda
