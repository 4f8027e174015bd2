// SPDX-License-Identifier: Apache-2.0
// node wasi.mjs PROGRAM - runs a program for WASI with the files of the current folder.
import fs from 'node:fs';
import process from 'node:process';
import {WASI} from 'node:wasi';

const wasi = new WASI({version: 'preview1', preopens: {'.': '.'}, returnOnExit: true});
const program = await WebAssembly.instantiate(fs.readFileSync(process.argv[2]),
                                              wasi.getImportObject());
process.exitCode = wasi.start(program.instance);
