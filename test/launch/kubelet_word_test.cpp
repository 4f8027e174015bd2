// SPDX-License-Identifier: Apache-2.0
// launcher.py reads such words as the kubelet does.
#include <catch2/catch.hpp>

#include <lamina/launch/kubelet_word.hpp>

using lamina::distributed::kubelet_word;

TEST_CASE("each dollar is written twice") {
  CHECK(kubelet_word("").empty());
  CHECK(kubelet_word("a b") == "a b");
  CHECK(kubelet_word("a$$b") == "a$$$$b");
  CHECK(kubelet_word("$(HOME)$") == "$$(HOME)$$");
}
