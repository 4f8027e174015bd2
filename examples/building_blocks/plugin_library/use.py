#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains and asks libdigits.so from Python, without a binding.

usage: use.py LIBRARY
"""
import ctypes
import os
import sys
import tempfile


def main(path):
    lib = ctypes.CDLL(path)
    lib.digits_open.restype = ctypes.c_void_p
    lib.digits_close.argtypes = [ctypes.c_void_p]
    lib.digits_classify.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_float), ctypes.c_int,
                                    ctypes.POINTER(ctypes.c_int)]
    lib.digits_error.restype = ctypes.c_char_p
    # Two drawings of 8 x 8 pixels between 0 and 1.
    zero = ["00011000", "00111100", "01100110", "01000010", "01000010", "01100110", "00111100",
            "00011000"]
    one = ["00011000", "00111000", "00011000", "00011000", "00011000", "00011000", "00011000",
           "00011000"]
    pixels = [float(c) for drawing in (zero, one) for row in drawing for c in row]
    images = (ctypes.c_float * len(pixels))(*pixels)
    with tempfile.TemporaryDirectory() as folder:
        for net in ("small", "large"):
            file = os.path.join(folder, net).encode()
            if lib.digits_train(net.encode(), 10, file) != 0:
                sys.exit(lib.digits_error().decode())
            model = lib.digits_open(net.encode(), file)
            found = (ctypes.c_int * 2)()
            if lib.digits_classify(model, images, 2, found) != 0:
                sys.exit(lib.digits_error().decode())
            print(f"{net}: {list(found)}")
            if list(found) != [0, 1]:
                sys.exit("expected [0, 1]")
            lib.digits_close(model)
        # An error is told, and nothing is opened.
        if lib.digits_open(b"small", file) is not None:
            sys.exit("the small net took the file of the large one")
        print(lib.digits_error().decode())
        if b"fc_0.w_0" not in lib.digits_error():
            sys.exit("expected an error about fc_0.w_0")
        if lib.digits_open(b"huge", file) is not None or b"huge" not in lib.digits_error():
            sys.exit("expected an error about huge")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
