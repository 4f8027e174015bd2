// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/optimizers.hpp - all optimizers.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/optimizer/adadelta.hpp>
#include <lamina/optimizer/adagrad.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/optimizer/adamax.hpp>
#include <lamina/optimizer/decayed_adagrad.hpp>
#include <lamina/optimizer/ftrl.hpp>
#include <lamina/optimizer/lamb.hpp>
#include <lamina/optimizer/lars_momentum.hpp>
#include <lamina/optimizer/momentum.hpp>
#include <lamina/optimizer/proximal_adagrad.hpp>
#include <lamina/optimizer/proximal_gd.hpp>
#include <lamina/optimizer/rmsprop.hpp>
#include <lamina/optimizer/sgd.hpp>
