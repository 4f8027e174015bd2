// SPDX-License-Identifier: Apache-2.0
// lamina/core/simd/macros_hidden.hpp - hides macros of users' code from the libraries that lamina
// includes.
//
// C's <complex.h> defines `I`, which is a template parameter of xsimd; frameworks define more words
// that libraries use. A program may include such headers before lamina, so lamina hides these
// macros before each include of another library, and macros_shown.hpp restores them after it. There
// is no #pragma once, because both headers are included once per such place. Do not add a macro
// that a header of the C library defines: if the other library is the first to include that header,
// the macro would be lost.

#include <lamina/core/config.hpp>

#pragma push_macro("I")
#undef I
#pragma push_macro("complex")
#undef complex
#pragma push_macro("min")
#undef min
#pragma push_macro("max")
#undef max
#pragma push_macro("F")
#undef F
#pragma push_macro("PI")
#undef PI
#pragma push_macro("degrees")
#undef degrees
#pragma push_macro("radians")
#undef radians
#pragma push_macro("check")
#undef check
#pragma push_macro("verify")
#undef verify
#pragma push_macro("Success")
#undef Success
#pragma push_macro("DEFAULT")
#undef DEFAULT
#pragma push_macro("None")
#undef None
#pragma push_macro("Bool")
#undef Bool
#pragma push_macro("Status")
#undef Status
#pragma push_macro("True")
#undef True
#pragma push_macro("False")
#undef False
#pragma push_macro("Always")
#undef Always
#pragma push_macro("near")
#undef near
#pragma push_macro("far")
#undef far
#pragma push_macro("small")
#undef small
#pragma push_macro("ERROR")
#undef ERROR
#pragma push_macro("IN")
#undef IN
#pragma push_macro("OUT")
#undef OUT
#pragma push_macro("OPTIONAL")
#undef OPTIONAL
#pragma push_macro("DELETE")
#undef DELETE
#pragma push_macro("CONST")
#undef CONST
#pragma push_macro("VOID")
#undef VOID
#pragma push_macro("TRUE")
#undef TRUE
#pragma push_macro("FALSE")
#undef FALSE
#pragma push_macro("INPUT")
#undef INPUT
#pragma push_macro("OUTPUT")
#undef OUTPUT
#pragma push_macro("slots")
#undef slots
#pragma push_macro("signals")
#undef signals
#pragma push_macro("emit")
#undef emit
#pragma push_macro("foreach")
#undef foreach
