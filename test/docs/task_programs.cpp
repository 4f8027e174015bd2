// SPDX-License-Identifier: Apache-2.0
// The programs of docs/task_*.md and of one other page, each in its own namespace. The argument
// names the page whose program runs. code_blocks.py writes the blocks, compiles and runs.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <lamina/dataset/column_encoding.hpp>
#include <lamina/dataset/csv_rows.hpp>
#include <lamina/dataset/movie_reviews.hpp>
#include <lamina/image/image.hpp>
#include <lamina/lamina.hpp>

namespace ctc {
#include "task_ctc_1.inc"
}
namespace from_pytorch_and_keras {
#include "from_pytorch_and_keras_1.inc"
}
namespace generative {
#include "task_generative_1.inc"
}
namespace graphs {
#include "task_graphs_1.inc"
}
namespace images {
#include "task_images_1.inc"
}
namespace reinforcement {
#include "task_reinforcement_1.inc"
}
namespace sequences {
#include "task_sequences_1.inc"
}
namespace tabular {
#include "task_tabular_1.inc"
}

int main(int count, char** argument) {
  const std::string_view page = count < 2 ? "" : argument[1];
  if (page == "from_pytorch_and_keras") return from_pytorch_and_keras::main();
  if (page == "task_ctc") return ctc::main();
  if (page == "task_generative") return generative::main();
  if (page == "task_graphs") return graphs::main();
  if (page == "task_images") return images::main();
  if (page == "task_reinforcement") return reinforcement::main();
  if (page == "task_sequences") return sequences::main();
  if (page == "task_tabular") return tabular::main();
  std::fprintf(stderr, "expected a page, found '%s'\n", argument[count - 1]);
  return 1;
}
