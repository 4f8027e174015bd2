// SPDX-License-Identifier: Apache-2.0
// lamina/metric/metric.hpp - all metrics.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/metric/accuracy.hpp>
#include <lamina/metric/auc.hpp>
#include <lamina/metric/binary_counts.hpp>
#include <lamina/metric/bleu.hpp>
#include <lamina/metric/chunk_evaluator.hpp>
#include <lamina/metric/composite.hpp>
#include <lamina/metric/confusion_matrix.hpp>
#include <lamina/metric/edit_distance.hpp>
#include <lamina/metric/precision_recall.hpp>
#include <lamina/metric/weighted_average.hpp>
