# The reason why the core found no tree, as C++ knows it. `fault.py` has Python's.
cdef extern from "arborescence.hh" namespace "mindroot" nogil:
    cdef enum class CFaultKind "mindroot::FaultKind"(int):
        none  # the others are those of `FaultKind` in fault.py, in its order

    cdef cppclass CFault "mindroot::Fault":
        CFaultKind kind
        int dependent
        int head
