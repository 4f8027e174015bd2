// SPDX-License-Identifier: Apache-2.0
// Takes a model from another file.
#include <memory>

#include "net.hpp"

bool takes(model_type& model) { return std::addressof(model) == &model; }
