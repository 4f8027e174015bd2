# SPDX-License-Identifier: Apache-2.0
"""What the scripts share that run lamina's ONNX files: the batches of a case, in a session of
another library, and the part of a page about the results.

A session has `name`, `inputs`, `outputs` and run(feed), which returns the values of `outputs`."""
from case_results import difference, edge_difference, values_in
from table_parts import differing, listed, plain_names

TOLERANCE = 1e-4


def compared(name, expected, found, edges, peer):
    """What differs between two arrays, or ''."""
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return (f"{name}: {expected.dtype} {list(expected.shape)} here, "
                f"{found.dtype} {list(found.shape)} in {peer}")
    return (edge_difference if edges else difference)(name, expected, found, TOLERANCE,
                                                      f"in {peer}")


def batches_of(folder):
    """The batches of a case, those at the edges last."""
    names = [p.name for p in folder.iterdir() if p.is_dir()]
    return sorted((n for n in names if n != "edges"), key=int) + [n for n in names if n == "edges"]


def run_batches(folder, session, batches):
    """Runs a session once for each batch; returns what differs by batch."""
    faults = {}
    for batch in batches:
        feed = {name: value for name, (value, _) in values_in(folder / batch / "feed").items()
                if name in session.inputs}
        expected = values_in(folder / batch / "fetch")
        if set(session.outputs) != set(expected):
            faults[
                batch] = f"outputs {sorted(expected)} here, {sorted(session.outputs)} in the file"
            continue
        found = zip(session.outputs, session.run(feed))
        all = [
            compared(name, expected[name][0], value, batch == "edges", session.name)
            for name, value in found
        ]
        faults[batch] = "; ".join(f"batch {batch}: {fault}" for fault in all if fault)
    return faults


def page_part(rows):
    """The results as Markdown: cases that are equal, and the others."""
    result = dict(rows)
    equal = [n for n in plain_names(rows) if result[n] == "equal"]
    text = f"Equal ({len(equal)}; with a star also in double): {listed(rows, equal)}.\n"
    return text + differing(rows, "why there is no result, or the results differ")
