// SPDX-License-Identifier: Apache-2.0
// lamina/optimizer/optimizers.hpp - all optimizers.
// Generated: test/structure/operator_lists.py --update writes this list.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/operators/operator_definition.hpp>
#include <lamina/optimizer/adadelta.hpp>
#include <lamina/optimizer/adagrad.hpp>
#include <lamina/optimizer/adam.hpp>
#include <lamina/optimizer/adamax.hpp>
#include <lamina/optimizer/adamw.hpp>
#include <lamina/optimizer/decayed_adagrad.hpp>
#include <lamina/optimizer/ftrl.hpp>
#include <lamina/optimizer/lamb.hpp>
#include <lamina/optimizer/lars_momentum.hpp>
#include <lamina/optimizer/momentum.hpp>
#include <lamina/optimizer/proximal_adagrad.hpp>
#include <lamina/optimizer/proximal_gd.hpp>
#include <lamina/optimizer/rmsprop.hpp>
#include <lamina/optimizer/sgd.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace optimizer {

/// The optimizers of the library.
using library_optimizers =
    operator_list<adadelta, adagrad, adam, adamax, adamw, decayed_adagrad, ftrl, lamb,
                  lars_momentum, momentum, proximal_adagrad, proximal_gd, rmsprop, sgd>;

}}}  // namespace lamina::optimizer
