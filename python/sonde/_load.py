"""Loads the compiled module so that it sees its own libraries first.

TensorFlow exports an RE2 of its own to the whole process, and a library that is loaded later would call that one instead
of the one that it was linked with. RTLD_DEEPBIND makes the loader look into the module's own libraries before the global
ones. Where LD_PRELOAD replaces the allocator, memory could then be freed by another allocator than the one it came from,
so that the flag is left out there.
"""
import os
import sys

_flags = sys.getdlopenflags()
if "LD_PRELOAD" not in os.environ and "SONDE_SANITIZED" not in os.environ:
    sys.setdlopenflags(_flags | os.RTLD_DEEPBIND)
try:
    from . import _core
finally:
    sys.setdlopenflags(_flags)

__all__ = ["_core"]
