#!/usr/bin/env python3
"""refuse.py eperm|enosys COMMAND...: runs a command for which the kernel refuses perf_event_open, as containers do."""
import ctypes
import errno
import os
import struct
import sys

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38
SECCOMP_MODE_FILTER = 2
SECCOMP_RET_ERRNO, SECCOMP_RET_ALLOW = 0x00050000, 0x7FFF0000
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06

code = {"eperm": errno.EPERM, "enosys": errno.ENOSYS}[sys.argv[1]]
perf_event_open = {"x86_64": 298, "aarch64": 241}[os.uname().machine]


def instruction(operation, if_true, if_false, operand):
    return struct.pack("HBBI", operation, if_true, if_false, operand)


program = b"".join([
    instruction(LOAD_WORD, 0, 0, 0),  # the number of the system call
    instruction(JUMP_IF_EQUAL, 0, 1, perf_event_open),
    instruction(RETURN, 0, 0, SECCOMP_RET_ERRNO | code),
    instruction(RETURN, 0, 0, SECCOMP_RET_ALLOW),
])


class Filter(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


buffer = ctypes.create_string_buffer(program)
seccomp = Filter(4, ctypes.addressof(buffer))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
    PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(seccomp)
):
    sys.exit("seccomp: " + os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[2], sys.argv[2:])
