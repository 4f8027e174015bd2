// SPDX-License-Identifier: Apache-2.0
// lamina/lamina.hpp - everything to define, train, test and serve a program on the CPU.
// Not included, because most programs do not need them and they cost compile time: the reference
// executor (lamina/executor/executor.hpp), data sets that read files (lamina/dataset/mnist.hpp
// ...), metrics outside of programs (lamina/metric/metric.hpp) and averages of parameters
// (lamina/optimizer/model_average.hpp ...).
#pragma once

#include <lamina/core/config.hpp>

// When g++ instantiates a constructor or a generic lambda, it looks up the names of its arguments
// and variables in the global namespace, and therefore warns that they hide names of the user's
// program, such as `const int end` in its file. Names that hide lamina's own are detected by
// test/compile_fail/compiler_flags.py, which includes the following headers one by one.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

// clang-format off: first, so that their messages stand below a short chain of includes.
#include <lamina/core/compile_time/fixed_string.hpp>
#include <lamina/optimizer/event_handler.hpp>
#include <lamina/optimizer/rule.hpp>
#include <lamina/program/program.hpp>
// clang-format on

#include <lamina/dataset/digits.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/evaluator.hpp>
#include <lamina/model/gradient_machine.hpp>
#include <lamina/model/model.hpp>
#include <lamina/model/parameters_of.hpp>
#include <lamina/model/run_startup.hpp>
#include <lamina/model/static_evaluator.hpp>
#include <lamina/optimizer/minimize.hpp>
#include <lamina/optimizer/optimizers.hpp>
#include <lamina/program/indexed.hpp>
#include <lamina/program/returned_variables.hpp>
#include <lamina/reader/reader.hpp>
#include <lamina/train/events/progress_bar.hpp>
#include <lamina/train/run.hpp>
#include <lamina/train/train.hpp>
#include <lamina/train/trainer.hpp>
#include <lamina/transform/append_backward.hpp>
#include <lamina/transform/clone_for_test.hpp>
#include <lamina/transform/freeze.hpp>
#include <lamina/transform/prune.hpp>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
// Stays in force at the user's lines, as optimizer/rule.hpp says.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#endif
