// SPDX-License-Identifier: Apache-2.0
// lamina/model/check_nan.hpp - the check for NaN and infinity. Include it to use the options
// check_nan and check_infinity of training, or evaluator::check_nan().
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/cpu/schedule/nan_check.hpp>
