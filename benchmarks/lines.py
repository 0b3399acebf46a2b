"""What is measured: one registry of lines. A line is measured once in each of its modes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module

ALONE, ALTERNATING = "alone", "alternating"
"""Each contestant in a hot process of its own; or all in turns in one process. No pauses."""

OURS = "fairpca"
FLAT, DECAYING, STEEP, REAL = "flat", "decaying", "steep", "real"
BOTH = (ALONE, ALTERNATING)


@dataclass(frozen=True)
class Line:
    """A question about two or more contestants, of whom the best of the others counts.

    Parameters
    ----------
    question : str
        File that has ``contestant(line, name)``, which makes the data and returns what to time.
    what : str
        What is done, such as "fit".
    against : tuple of str
        Names of the other contestants; none where only our own time is of interest.
    n, d, k : int
        Rows, features, components; 0 where there are none.
    dtype, spectrum : str
        Of the rows.
    modes : tuple of str
        ALONE, ALTERNATING, or both.
    unit : str
        Of the numbers: "s", "MB", or "sine" of an angle.
    once : bool
        A run takes long: no warm-up, one round.
    quick : tuple of str
        The modes in which `make bench quick` has it, too.
    """

    question: str
    what: str
    against: tuple[str, ...] = ()
    n: int = 0
    d: int = 0
    k: int = 0
    dtype: str = "f8"
    spectrum: str = DECAYING
    modes: tuple[str, ...] = (ALONE,)
    unit: str = "s"
    once: bool = False
    quick: tuple[str, ...] = ()

    def contestant(self, name: str):
        """Return what is timed: a function without arguments. The data exist when it returns."""
        return import_module(f"benchmarks.{self.question}").contestant(self, name)


PCA = ("PCA auto", "PCA covariance_eigh", "PCA randomized")
KERNEL_PCA = ("KernelPCA arpack", "KernelPCA randomized")


def fits(cores: int) -> Iterator[Line]:
    """Yield the fits of the five shapes, with both spectra, alone and alternating; embeddings."""
    shapes = [
        (40_000, 100, 50, "f8"),
        (60_000, 500, 50, "f8"),
        (8_000 if cores < 8 else 20_000, 2_000, 50, "f8"),
        (500_000, 64, 16, "f4"),
        (2_000, 10_000, 50, "f4"),
    ]
    for n, d, k, dtype in shapes:
        # The best of them, of all that were tried: "auto" is covariance_eigh up to 1,000 features,
        # and above it randomized, which takes longer at 2,000.
        others = ("PCA covariance_eigh",) if d == 2_000 else ("PCA auto",)
        for spectrum in (FLAT, DECAYING):
            yield Line(
                *("plain_pca", "fit", others, n, d, k, dtype, spectrum, BOTH),
                quick={40_000: BOTH, 500_000: (ALONE,)}.get(n * (spectrum == FLAT), ()),
            )
    # Single precision is too little for these directions of the last two.
    for n, d, k in ((500_000, 64, 16), (2_000, 10_000, 50), (20_000, 384, 192)):
        yield Line("plain_pca", "fit", ("PCA auto",), n, d, k, "f4", STEEP, (ALONE,))


def transforms() -> Iterator[Line]:
    """Yield what new rows cost, one row to a file of them."""
    for n, d, k, dtype in (
        (1, 20, 5, "f8"),
        (100, 100, 10, "f8"),
        (40_000, 100, 50, "f8"),
        (500_000, 64, 16, "f4"),
        (2_000, 10_000, 50, "f4"),
    ):
        quick = (ALTERNATING,) if n == 100 else ()
        modes = BOTH if n <= 40_000 and d <= 100 else (ALTERNATING,)
        yield Line("plain_pca", "transform", ("PCA",), n, d, k, dtype, modes=modes, quick=quick)


def kernels() -> Iterator[Line]:
    """Yield kernel methods: exact, by landmarks, and as the paper prints them; fair PLS."""
    for n in (1_000, 2_000, 5_000, 10_000):
        # All eigenvectors take ten times as long at 1,000 rows, and a minute above.
        modes = BOTH if n == 1_000 else (ALTERNATING,) if n == 2_000 else (ALONE,)
        for spectrum in (FLAT, DECAYING) if n <= 2_000 else (DECAYING,):
            quick = (ALTERNATING,) if n == 1_000 and spectrum == DECAYING else ()
            what = "exact kernel fit"
            line = Line("kernels", what, KERNEL_PCA, n, 20, 10, "f8", spectrum, modes, quick=quick)
            yield replace(line, once=n == 10_000)
    line = Line("kernels", "", (), 2_000, 20, 10)
    yield replace(line, what="exact kernel fit, paper", against=("Algorithm 3",), once=True)
    for n, others in ((100_000, ("Nystroem + PCA",)), (1_000_000, ())):
        yield replace(line, what="kernel fit, 500 landmarks", against=others, n=n, once=n > 10**5)
    for match in ("covariances", "distributions"):
        what = f"fair PLS of {match}"
        yield replace(line, what=what, against=("Nystroem + Ridge",), n=40_000, k=1)


def other_methods() -> Iterator[Line]:
    """Yield what other methods of ours cost, against the paper's, plain ones and fairlearn's."""
    line = Line("methods", "fit, paper", ("Algorithm 1",), 2_500, 2_000, 50)
    yield line
    yield replace(line, what="Fair PCA-S", against=("match='means'",), n=20_000, d=1_000)
    equal = replace(line, what="equal covariances", against=("match='means'",), n=20_000, d=100)
    yield replace(equal, k=10)
    yield replace(equal, what="equal covariances, one start", against=("pymanopt",), k=10)
    yield replace(equal, against=(), n=10_000, d=1_000, once=True)
    curve = replace(line, what="a point of a curve", n=40_000, d=99, k=90, spectrum=REAL, once=True)
    yield replace(curve, against=("Algorithm 1 + lbfgs",))
    yield replace(curve, against=("ExponentiatedGradient",))


def measures() -> Iterator[Line]:
    """Yield what is called often, and what every process pays."""
    line = Line("measures", "", dtype="", spectrum="", modes=(ALTERNATING,))
    quick = (ALTERNATING,)
    for what in ("import the package", "import the class", "import, fit, transform"):
        now = quick if what == "import the class" else ()
        yield replace(line, what=what, against=("scikit-learn",), quick=now)
    for n in (1_000, 100_000):
        for other in ("fairlearn", "NumPy alone"):
            now = quick if (n, other) == (100_000, "fairlearn") else ()
            yield replace(line, what="selection rate gap", against=(other,), n=n, quick=now)
    line = replace(line, spectrum=DECAYING, dtype="f8")
    other = ("cross_val_score",)
    yield replace(line, what="leakage", against=other, n=2_000, d=10, quick=(ALTERNATING,))
    line = replace(line, modes=(ALONE,), unit="MB")
    for n, d in ((500_000, 100), (50_000, 1_000)):
        others = PCA[1:]
        yield replace(line, what="memory of a fit", against=others, n=n, d=d, k=10)
    kernel = replace(line, what="memory of a kernel fit", n=6_000, d=20, k=10)
    yield replace(kernel, against=KERNEL_PCA[:1])


def lines(cores: int) -> list[Line]:
    """Return everything that `make bench` measures, the most asked first."""
    return [*fits(cores), *transforms(), *kernels(), *measures(), *other_methods()]
