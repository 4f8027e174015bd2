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
/// first dimension of `shape` is the number of rows. For a data layer of sequences, `lengths` are
/// the lengths of the sequences, and their sum is the number of rows.
struct named_values {
  std::string name;
  dtype type = dtype::float32;
  std::vector<std::int64_t> shape;
  std::string bytes;
  std::vector<int> lengths;
};

/// A request: the values of each data layer, and the names of the requested outputs. If no output
/// is named, all are returned.
struct model_request {
  std::vector<named_values> inputs;
  std::vector<std::string> outputs;
};

/// The answer to a request; its outputs are in the order in which the request names them.
struct model_answer {
  std::vector<named_values> outputs;
  // Version of the model that computed them: 1 for the first model, 2 after one exchange.
  std::uint64_t version = 0;
  int batch_rows = 0;  // number of rows of the mini-batch that contained the request
};

}}}  // namespace lamina::serve
