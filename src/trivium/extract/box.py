"""Closes the process that reads files in: no network, and no files but programs, fonts and its own
scratch folder. A parser that is taken over by a file can then neither read your files nor send
them anywhere.

On Linux, without being root: Landlock for files (kernel 5.13 or later) and a seccomp filter that
refuses sockets. Elsewhere there is nothing of the kind, and `doctor` says so. Knows nothing of
formats.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

# Where programs, libraries, fonts and OCR data are on a Linux machine. Not /etc, which may hold
# secrets, nor /proc, which shows other processes.
_PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix", "/snap", "/gnu")
_FILES = (
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/fonts", "/etc/localtime"),
    *("/etc/alternatives", "/etc/mime.types", "/etc/nsswitch.conf", "/etc/locale.alias"),
    *("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm"),
    *("/sys/devices/system/cpu", "/sys/fs/cgroup", "/var/cache/fontconfig"),
    *("/dev/urandom", "/dev/random", "/dev/zero"),
)

# Numbers of system calls are the same on every machine, except those of the filter.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_SET_SECCOMP, _NO_NEW_PRIVILEGES, _FILTER = 22, 38, 2
_EXECUTE, _WRITE, _READ, _LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE | _IOCTL  # the others are of folders
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # bits that each version of Landlock knows
_NEWEST = 5
_WITH_NETWORK, _WITH_SCOPES = 4, 6  # versions
# Of each machine: its number for filters, and the calls `socket`, `ptrace`, `process_vm_readv` and
# `io_uring_setup`, which could open a socket by another way.
_CALLS = {
    "x86_64": (0xC000003E, (41, 101, 310, 425)),
    "aarch64": (0xC00000B7, (198, 117, 270, 425)),
}
_X32 = 0x40000000  # calls of x86_64 from here on are the same ones under other numbers
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | 13  # EACCES


@dataclass(frozen=True, slots=True)
class Box:
    """What keeps a reader in."""

    files: str = ""  # empty: nothing does
    network: str = ""

    @property
    def is_closed(self) -> bool:
        return bool(self.files and self.network)


def available() -> Box:
    """What this machine offers."""
    if sys.platform != "linux":
        return Box()
    version = _landlock()
    network = "seccomp" if platform.machine() in _CALLS else ""
    if not network and version >= _WITH_NETWORK:
        network = "Landlock (TCP only)"
    return Box(f"Landlock {version}" if version else "", network)


def readable(more: Sequence[str] = ()) -> list[str]:
    """What a reader needs to see: Python, installed packages, programs, and `more`. Not the folder
    that someone works in, though Python looks for modules there."""
    never = {"/", os.path.realpath(os.getcwd()), os.path.realpath(os.path.expanduser("~"))}
    modules = [os.path.realpath(path) for path in sys.path if path]
    python = [sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(sys.executable)]
    wanted = [*python, *modules, *_PROGRAMS, *_FILES, *more]
    return [path for path in dict.fromkeys(wanted) if os.path.realpath(path) not in never]


def close_in(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Close this process in for good, and all that it starts. What the machine doesn't offer is
    left open."""
    if sys.platform != "linux":
        return
    library = ctypes.CDLL(None, use_errno=True)
    _control(library, _NO_NEW_PRIVILEGES, 1)
    with suppress(OSError):
        _restrict_files(library, readable, writable)
    _refuse_sockets(library)


def _landlock() -> int:
    """Its version; 0: the kernel has none."""
    library = ctypes.CDLL(None, use_errno=True)
    return max(0, int(library.syscall(_CREATE_RULESET, None, 0, 1)))


def _restrict_files(library: ctypes.CDLL, readable: Iterable[str], writable: Iterable[str]) -> None:
    version = _landlock()
    if not version:
        return
    handled = (1 << _RIGHTS[min(version, _NEWEST)]) - 1
    network = 0b11 if version >= _WITH_NETWORK else 0  # bind and connect
    scopes = 0b11 if version >= _WITH_SCOPES else 0  # abstract sockets, signals
    size = 24 if scopes else 16 if network else 8
    attributes = struct.pack("=QQQ", handled, network, scopes)[:size]
    rules = library.syscall(_CREATE_RULESET, attributes, size, 0)
    if rules < 0:
        return
    for path in readable:
        _allow(library, rules, path, handled & (_READ | _LIST | _EXECUTE))
    _allow(library, rules, os.devnull, handled & (_READ | _WRITE | _TRUNCATE | _IOCTL))
    for path in writable:
        _allow(library, rules, path, handled)
    library.syscall(_RESTRICT_SELF, rules, 0)
    os.close(rules)


def _allow(library: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # it isn't there
        return
    if not os.path.isdir(path):
        rights &= _OF_FILES
    library.syscall(_ADD_RULE, rules, 1, struct.pack("=Qi", rights, descriptor), 0)
    os.close(descriptor)


def _refuse_sockets(library: ctypes.CDLL) -> None:
    numbers = _CALLS.get(platform.machine())
    if numbers is None:
        return
    machine, calls = numbers
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    last = len(calls) + 2
    steps = [(load, 0, 0, 4), (equal, 0, last, machine), (load, 0, 0, 0)]
    steps.append((at_least, last - 2, 0, _X32))
    steps += [(equal, len(calls) - 1 - at, 0, call) for at, call in enumerate(calls)]
    steps[-1] = (equal, 0, 1, calls[-1])
    steps += [(give, 0, 0, _REFUSE), (give, 0, 0, _ALLOW)]
    program = b"".join(struct.pack("=HBBI", *step) for step in steps)
    code = ctypes.create_string_buffer(program, len(program))
    filter_ = struct.pack("@HP", len(steps), ctypes.addressof(code))
    pointer = ctypes.create_string_buffer(filter_, len(filter_))
    _control(library, _SET_SECCOMP, _FILTER, ctypes.addressof(pointer))


def _control(library: ctypes.CDLL, *numbers: int) -> None:
    padded = (*numbers, 0, 0, 0, 0)[:5]
    library.prctl(*(ctypes.c_ulong(number) for number in padded))
