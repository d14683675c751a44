# The reason why the core found no tree, as C++ knows it. `fault.py` has Python's.
cdef extern from "arborescence.hh" namespace "mindroot" nogil:
    cdef enum class CFaultKind "mindroot::FaultKind"(int):
        none
        not_finite
        no_head
        no_arborescence
        no_single_root
        no_memory
        no_projective

    cdef cppclass CFault "mindroot::Fault":
        CFaultKind kind
        int dependent
        int head
