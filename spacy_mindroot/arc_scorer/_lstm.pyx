# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# distutils: language = c++
"""The time loop of the BiLSTM on the host, without the GIL; see lstm.hh. The caller checks shapes."""
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

cdef extern from "lstm.hh" namespace "mindroot::lstm" nogil:
    cdef cppclass Direction:
        const float* recurrent
        float* gates
        float* cells
        float* hidden
        const float* d_hidden
        float* d_gates
        ptrdiff_t gate_stride, stride
        cbool reversed

    void run_forward(const int64_t*, size_t, const Direction*, int) except +
    void run_backward(const int64_t*, size_t, const Direction*, int) except +


cdef void _place(
    Direction* directions, const float[:, :, ::1] R, const float[:, :, ::1] gates, const float[:, ::1] cells
) noexcept:
    """Set what forward and backward have in common, of both directions."""
    cdef int k
    for k in range(2):
        directions[k].recurrent = &R[k, 0, 0]
        directions[k].gates = <float*>&gates[k, 0, 0]
        directions[k].cells = <float*>&cells[0, R.shape[1] * k]
        directions[k].gate_stride = gates.shape[2]
        directions[k].stride = cells.shape[1]
        directions[k].reversed = k == 1


def forward(
    const int64_t[::1] lengths, const float[:, :, ::1] R, float[:, :, ::1] gates, float[:, ::1] cells,
    float[:, ::1] hidden
):
    """Run both directions over texts that lie end to end.

    lengths: The number of tokens of each text. R: The recurrent weights, (2, H, 4H). gates, (2, N, 4H): On entry the
    products with the input, on return the gates. cells and hidden, (N, 2H), are written.
    """
    cdef Direction directions[2]
    cdef int width = <int>R.shape[1], k
    if gates.shape[1] == 0:
        return
    _place(directions, R, gates, cells)
    for k in range(2):
        directions[k].hidden = &hidden[0, width * k]
    with nogil:
        run_forward(&lengths[0], lengths.shape[0], directions, width)


def backward(
    const int64_t[::1] lengths, const float[:, :, ::1] R, const float[:, :, ::1] gates, const float[:, ::1] cells,
    const float[:, ::1] d_hidden, float[:, :, ::1] d_gates
):
    """Write the gradient of the products with the input to `d_gates`, (2, N, 4H).

    gates and cells are as `forward` left them; d_hidden, (N, 2H), is the gradient of its output.
    """
    cdef Direction directions[2]
    cdef int width = <int>R.shape[1], k
    if gates.shape[1] == 0:
        return
    _place(directions, R, gates, cells)
    for k in range(2):
        directions[k].d_hidden = &d_hidden[0, width * k]
        directions[k].d_gates = &d_gates[k, 0, 0]
    with nogil:
        run_backward(&lengths[0], lengths.shape[0], directions, width)
