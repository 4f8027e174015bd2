// SPDX-License-Identifier: Apache-2.0
// Tests write thousands of small files that nobody needs after the machine has crashed. To wait
// until the disk has each of them would take most of the time, so here nothing waits.
// core/files/file_test.cpp, which tests the waiting itself, is not linked with this.

extern "C" int fsync(int) { return 0; }
