// SPDX-License-Identifier: Apache-2.0
// Hands a model to another file.
#include "net.hpp"

bool takes(model_type& model);

int main() {
  model_type model{net};
  return takes(model) ? 0 : 1;
}
