// SPDX-License-Identifier: Apache-2.0
// lamina/lamina.hpp - everything to define, train, test and serve a program on the CPU.
// Not here: the reference executor (lamina/executor/executor.hpp) and lamina/io, whose headers cost
// compile time that most programs do not need.
#pragma once

#include <lamina/dataset/dataset.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/metric/metric.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/gradient_machine.hpp>
#include <lamina/model/model.hpp>
#include <lamina/optimizer/optimizers.hpp>
#include <lamina/program/program.hpp>
#include <lamina/reader/reader.hpp>
#include <lamina/train/progress_bar.hpp>
#include <lamina/train/train.hpp>
#include <lamina/transform/append_backward.hpp>
#include <lamina/transform/clone_for_test.hpp>
#include <lamina/transform/prune.hpp>
