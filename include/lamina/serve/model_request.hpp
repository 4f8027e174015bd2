// SPDX-License-Identifier: Apache-2.0
// lamina/serve/model_request.hpp - the inputs of a request to a model, and its outputs.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <lamina/core/dtype.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace serve {

/// The values of one input or output: row-major elements in the byte order of this machine. The
/// first dimension of `shape` is the number of rows. `lengths` are the lengths of the sequences,
/// for a data layer of sequences; their sum is the number of rows.
struct named_values {
  std::string name;
  dtype type = dtype::float32;
  std::vector<std::int64_t> shape;
  std::string bytes;
  std::vector<int> lengths;
};

/// The inputs of a request, each data layer once, and the names of the requested outputs; none
/// means all.
struct model_request {
  std::vector<named_values> inputs;
  std::vector<std::string> outputs;
};

/// The outputs of a request, in the order of their names there.
struct model_answer {
  std::vector<named_values> outputs;
  std::uint64_t version = 0;  // version of the model: 1 for the first one, 2 after one exchange
  int batch_rows = 0;         // the rows of the mini-batch that contained the request
};

}}}  // namespace lamina::serve
