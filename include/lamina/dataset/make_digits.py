#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_digits.py > digits_data.hpp : writes the bundled digits as text literals.

Needs the package scikit-learn (python -m venv env; env/bin/pip install scikit-learn), whose
load_digits() is the test part of the UCI "Optical Recognition of Handwritten Digits" data set.
Prints the same bytes on every run; DIGITS_LICENSE.md says who made the data and under what terms.
"""
import random

from sklearn.datasets import load_digits

SEED, TEST_ROWS, ROWS_PER_LINE, LINES_PER_LITERAL = 0, 360, 5, 72

data = load_digits()
rows = ["".join(chr(ord("a") + int(v)) for v in image.reshape(64)) + str(label)
        for image, label in zip(data.images, data.target)]
assert len(rows) == 1797 and all(set(r[:64]) <= set("abcdefghijklmnopq") for r in rows)

# The stratified split: every class gives the same fraction to the test rows, the classes with the
# largest remainders one row more. random.Random is the same generator in every Python 3.
order = list(range(len(rows)))
random.Random(SEED).shuffle(order)
classes = [[i for i in order if data.target[i] == c] for c in range(10)]
fraction = [len(c) * TEST_ROWS / len(rows) for c in classes]
count = [int(s) for s in fraction]
for c in sorted(range(10), key=lambda c: count[c] - fraction[c])[:TEST_ROWS - sum(count)]:
    count[c] += 1
test = {i for c, n in zip(classes, count) for i in c[:n]}
rows = [rows[i] for i in order if i not in test] + [rows[i] for i in order if i in test]

print("""// SPDX-License-Identifier: CC-BY-4.0
// lamina/dataset/digits_data.hpp - the digits as text; made by make_digits.py, do not edit.
// Data: E. Alpaydin, C. Kaynak, UCI Machine Learning Repository; see DIGITS_LICENSE.md.
// A row is 64 letters, 'a' for 0 to 'q' for 16, and its label; 1,437 training rows, then 360 of
// test.
#pragma once

#include <lamina/core/config.hpp>

// clang-format off
namespace lamina { inline namespace LAMINA_ABI { namespace dataset::digits::detail {
""")
lines = ["".join(rows[i:i + ROWS_PER_LINE]) for i in range(0, len(rows), ROWS_PER_LINE)]
print(f"inline constexpr int rows_per_part = {ROWS_PER_LINE * LINES_PER_LITERAL};\n")
parts = [lines[i:i + LINES_PER_LITERAL] for i in range(0, len(lines), LINES_PER_LITERAL)]
print(f"inline constexpr const char* parts[{len(parts)}] = {{")
for part in parts:
    print("\n".join(f'"{line}"' for line in part) + ",")
print("""};

}}}  // namespace lamina::dataset::digits::detail
// clang-format on""")
