"""Arrays of every library, threads, and the linear algebra that several solvers share."""

from .arrays import (
    Array,
    array_namespace,
    device,
    float64,
    for_graphs,
    full_precision,
    has_history,
    in_host_memory,
    is_foreign,
    is_numpy,
    is_single,
    is_sparse,
    less_product,
    less_shift,
    like,
    machine_epsilon,
    narrowed,
    on_the_host,
    placed,
    quiet_overflow,
    take_rows,
    to_numpy,
    unmasked,
    without_history,
)
from .far_values import FEWEST_ROWS_TO_BE_FAR, far_from_the_others
from .krylov import leading_eigenpairs
from .linalg import (
    deflate,
    deterministic_signs,
    graded_basis,
    inverse_of_scatter,
    lanczos,
    orthonormalize,
    project_out,
    row_space,
    top_eigenpairs,
)
from .stiefel import Objective, Stiefel, minimize_on_stiefel
from .threads import (
    ACCUMULATORS,
    SMALL,
    WIDEST,
    allowed_jobs,
    blas_shares,
    blas_threads,
    check_n_jobs,
    each_in_processes,
    each_item,
    limited_threads,
    one_thread,
    pool_of,
    prefetch,
    threads_for,
)
