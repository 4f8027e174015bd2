// SPDX-License-Identifier: Apache-2.0
// class_in_header/training.cpp - the members of digit_classifier that train.
#include "classifier.hpp"

void digit_classifier::train(int passes) {
  lamina::optimizer::adam adam{.learning_rate = 3e-3f};
  adam.train(
      model_,
      lamina::dataset::digits::train() | lamina::reader::shuffle(2000) | lamina::reader::batch(16),
      {.passes = passes});
}
