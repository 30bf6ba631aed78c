"""The child process that serves one GGUF file with llama.cpp on a loopback port.

Knows: the llama.cpp settings, and how to end with its parent.
Does not know: anything of mctsr; it is run as a plain file, so it imports nothing but the binding.

Protocol: the parent reads one line from stdout, the address, written once the model is loaded; whatever
llama.cpp itself prints goes to stderr; the end of stdin is the order to stop. The kernel closes that pipe
however the parent ends, so a killed parent leaves no server behind (one that is still loading ends when
the load does: the binding holds the interpreter until then).
"""

import argparse
import os
import sys
from pathlib import Path
from typing import NoReturn

import xllamacpp

_WARNINGS = 2
_PROMPT_CACHE_MIB = 1024


def main() -> NoReturn:
    """Load the model, report the address, serve until stdin ends."""
    options = _read_options()
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        server = xllamacpp.Server(_params(options))
    except RuntimeError as error:
        sys.exit(f"llama.cpp: {error}")
    with report:
        report.write(f"{server.listening_address}\n")
    sys.stdin.buffer.read()
    # An orderly shutdown would first finish the replies in flight, which nobody waits for any more.
    os._exit(0)


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--n-parallel", type=int, required=True)
    parser.add_argument("--n-ctx", type=int, required=True, help="tokens per slot")
    parser.add_argument("--threads", type=int, required=True)
    return parser.parse_args()


def _params(options: argparse.Namespace) -> xllamacpp.CommonParams:
    params = xllamacpp.CommonParams()
    params.model.path = str(options.model)
    params.model_alias = {options.model.stem}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    # One unified cache lets slots share prefixes; the limit per slot keeps an overlong prompt a clean 400.
    params.n_parallel = options.n_parallel
    params.kv_unified = True
    params.kv_unified_per_slot = options.n_ctx
    params.n_ctx = options.n_ctx * options.n_parallel
    params.cpuparams.n_threads = options.threads
    params.cpuparams_batch.n_threads = options.threads
    params.cache_ram_mib = _PROMPT_CACHE_MIB
    params.verbosity = _WARNINGS
    params.ui = False
    # Without this any web page in a browser on this machine may read the replies.
    params.cors_origins, params.cors_origins_explicit = "http://127.0.0.1", True
    return params


if __name__ == "__main__":
    main()
