// SPDX-License-Identifier: Apache-2.0
// lamina/core/simd/macros_shown.hpp - restores the macros that macros_hidden.hpp hid.
//
// The list is the list of macros_hidden.hpp in reverse order. There is no #pragma once, because
// this header follows each include of another library.

#include <lamina/core/config.hpp>

#pragma pop_macro("foreach")
#pragma pop_macro("emit")
#pragma pop_macro("signals")
#pragma pop_macro("slots")
#pragma pop_macro("OUTPUT")
#pragma pop_macro("INPUT")
#pragma pop_macro("FALSE")
#pragma pop_macro("TRUE")
#pragma pop_macro("VOID")
#pragma pop_macro("CONST")
#pragma pop_macro("DELETE")
#pragma pop_macro("OPTIONAL")
#pragma pop_macro("OUT")
#pragma pop_macro("IN")
#pragma pop_macro("ERROR")
#pragma pop_macro("small")
#pragma pop_macro("far")
#pragma pop_macro("near")
#pragma pop_macro("Always")
#pragma pop_macro("False")
#pragma pop_macro("True")
#pragma pop_macro("Status")
#pragma pop_macro("Bool")
#pragma pop_macro("None")
#pragma pop_macro("DEFAULT")
#pragma pop_macro("Success")
#pragma pop_macro("verify")
#pragma pop_macro("check")
#pragma pop_macro("radians")
#pragma pop_macro("degrees")
#pragma pop_macro("PI")
#pragma pop_macro("F")
#pragma pop_macro("max")
#pragma pop_macro("min")
#pragma pop_macro("complex")
#pragma pop_macro("I")
