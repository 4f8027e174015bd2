// SPDX-License-Identifier: Apache-2.0
// lamina/image/image.hpp - all random changes of images.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/image/affine.hpp>
#include <lamina/image/augment.hpp>
#include <lamina/image/bilinear.hpp>
#include <lamina/image/color.hpp>
#include <lamina/image/crop.hpp>
#include <lamina/image/flip.hpp>
#include <lamina/image/normalize.hpp>
#include <lamina/image/view.hpp>
