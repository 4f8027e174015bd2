// SPDX-License-Identifier: Apache-2.0
// The headers of other projects that nearly every test parses, xtensor's and xsimd's through
// lamina's doors to them; no other header of lamina, so that a change rebuilds little.
#pragma once

#include <catch2/catch.hpp>
#if __has_include(<lamina/tensor/xtensor.hpp>)
#include <lamina/tensor/xtensor.hpp>
#endif
#if __has_include(<xtensor/containers/xarray.hpp>)
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/containers/xarray.hpp>
#include <xtensor/containers/xtensor.hpp>
#include <xtensor/core/xmath.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>
#endif
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <lamina/core/simd/intrinsics.hpp>
