// SPDX-License-Identifier: Apache-2.0
// lamina/operators/operators.hpp - all operators.
#pragma once

#include <lamina/operators/activation.hpp>
#include <lamina/operators/assign.hpp>
#include <lamina/operators/clip.hpp>
#include <lamina/operators/compare.hpp>
#include <lamina/operators/concat.hpp>
#include <lamina/operators/crf.hpp>
#include <lamina/operators/cross_entropy.hpp>
#include <lamina/operators/dropout.hpp>
#include <lamina/operators/elementwise.hpp>
#include <lamina/operators/fill.hpp>
#include <lamina/operators/gradient.hpp>
#include <lamina/operators/gradient_rule.hpp>
#include <lamina/operators/gru.hpp>
#include <lamina/operators/lookup_table.hpp>
#include <lamina/operators/loss.hpp>
#include <lamina/operators/lstm.hpp>
#include <lamina/operators/matmul.hpp>
#include <lamina/operators/mean.hpp>
#include <lamina/operators/metric.hpp>
#include <lamina/operators/mul.hpp>
#include <lamina/operators/norm.hpp>
#include <lamina/operators/operator_definition.hpp>
#include <lamina/operators/pointwise.hpp>
#include <lamina/operators/print.hpp>
#include <lamina/operators/reduce.hpp>
#include <lamina/operators/reshape.hpp>
#include <lamina/operators/row_loss.hpp>
#include <lamina/operators/sequence_ids.hpp>
#include <lamina/operators/sequence_pad.hpp>
#include <lamina/operators/sequence_pool.hpp>
#include <lamina/operators/softmax.hpp>
#include <lamina/operators/sum.hpp>
#include <lamina/operators/tunable_activation.hpp>
#include <lamina/operators/unary.hpp>
