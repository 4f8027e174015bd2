#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Triton's client asks the example serve_http, and Prometheus' parser reads its metrics.

usage: triton_client.py SERVER
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy
from prometheus_client.parser import text_string_to_metric_families
from tritonclient import http
from tritonclient.utils import InferenceServerException

from serve_http import failure, require, server


def image(values, binary=True):
    made = http.InferInput("image", list(values.shape), "FP32")
    made.set_data_from_numpy(values, binary_data=binary)
    return made


def check(at):
    client = http.InferenceServerClient(f"127.0.0.1:{at.port}")
    for ready in (client.is_server_live(), client.is_server_ready(),
                  client.is_model_ready("digits")):
        require(ready, "expected a server that is ready")
    require("binary_tensor_data" in client.get_server_metadata()["extensions"], "no binary tensors")
    about = client.get_model_metadata("digits")
    require(about["inputs"] == [{"name": "image", "datatype": "FP32", "shape": [-1, 64]}], about)
    kinds = {o["name"]: o["datatype"] for o in about["outputs"]}
    require(kinds == {"output": "FP32", "probabilities": "FP32", "digit": "INT64"}, about)

    values = numpy.random.RandomState(0).uniform(0, 1, (3, 64)).astype(numpy.float32)
    found = []
    for sent in (True, False):
        for wanted in (True, False):
            answer = client.infer(
                "digits", [image(values, sent)], request_id="7",
                outputs=[http.InferRequestedOutput("digit", binary_data=wanted),
                         http.InferRequestedOutput("probabilities", binary_data=wanted)])
            require(answer.get_response()["id"] == "7", answer.get_response())
            found.append((answer.as_numpy("digit"), answer.as_numpy("probabilities")))
    for digit, probabilities in found:
        require(digit.dtype == numpy.int64 and probabilities.dtype == numpy.float32, digit.dtype)
        require(numpy.array_equal(digit, found[0][0]), "expected", found[0][0], "found", digit)
        require(probabilities.tobytes() == found[0][1].tobytes(), "expected the same bits")
        require(numpy.array_equal(probabilities.argmax(1), digit), probabilities, digit)
        require(numpy.allclose(probabilities.sum(1), 1, atol=1e-5), probabilities)
    for way in ("gzip", "deflate"):
        answer = client.infer("digits", [image(values)], request_compression_algorithm=way,
                              response_compression_algorithm=way)
        require(answer.as_numpy("probabilities").tobytes() == found[0][1].tobytes(), way)
    for bad in (values[:, :63].copy(), numpy.full((1, 64), numpy.nan, numpy.float32)):
        try:
            client.infer("digits", [image(bad)])
        except InferenceServerException as e:
            require(e.status() == "400" and "input image" in e.message(), e)
        else:
            raise failure("expected an error")
    client.load_model("digits")
    answer = client.infer("digits", [image(values)])
    require(answer.get_response()["model_version"] == "2", answer.get_response())
    client.close()

    text = at.ask("GET", "/metrics")[2].decode()
    families = {f.name: f for f in text_string_to_metric_families(text)}
    counts = {s.labels["code"]: s.value for s in families["lamina_requests"].samples}
    require(counts["400"] == 2, counts)
    seconds = families["lamina_infer_seconds"]
    require(seconds.type == "histogram", seconds)
    buckets = [s.value for s in seconds.samples if s.name.endswith("_bucket")]
    require(buckets == sorted(buckets) and buckets[-1] == 9, buckets)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([sys.argv[1], "--train=a.lamina", "--passes=1"], cwd=folder, check=True)
        try:
            with server(sys.argv[1], folder, "--model=a.lamina", "--idle=1") as at:
                check(at)
                at.end()
        except failure as e:
            print(f"triton_client.py: {e}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
