// SPDX-License-Identifier: Apache-2.0
float rate();
float rate() { return 0.1f; }
