import pytest

from fairpca_paper.experiments.style import GROUPS, OTHER, STYLES, in_order, label_of, style_of
from fairpca_paper.experiments.style import _tint as tint


def test_no_two_methods_look_alike():
    looks = [(s.colour, s.marker, s.filled) for s in STYLES.values()]
    assert len(set(looks)) == len(looks)


def test_our_methods_are_solid_and_in_front_of_all_others():
    ours = [style for name, style in STYLES.items() if name.startswith("Fair")]
    others = [style for name, style in STYLES.items() if not name.startswith("Fair")]
    assert {style.line for style in ours} == {"-"}
    assert "-" not in {style.line for style in others}
    assert min(style.width for style in ours) > max(style.width for style in others)
    assert min(style.order for style in ours) > max(style.order for style in others)


def lightness(colour):
    """Relative luminance, what is left of a colour in a black and white print."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colour", sorted({s.colour for s in STYLES.values()} | set(GROUPS)))
def test_lines_are_seen_on_white_paper(colour):
    # A contrast of 2 to 1; the orange and the sky blue of Okabe and Ito have 2.2 and 2.3.
    assert 1.05 / (lightness(colour) + 0.05) > 2


def test_settings_of_a_method_share_its_colour():
    assert style_of("MbF-PCA (10^-4)").colour == style_of("MbF-PCA (10^-3)").colour
    assert style_of("a method of tomorrow") == OTHER


def test_legends_are_in_the_same_order_everywhere():
    names = list(STYLES)
    assert in_order(set(names)) == names
    assert in_order({"zzz", "Fair PCA", "aaa"}) == ["Fair PCA", "aaa", "zzz"]


def test_powers_are_set_as_powers():
    assert label_of("MbF-PCA (10^-6)") == "MbF-PCA ($10^{-6}$)"
    assert label_of("FPCA (0.1, 0.01)") == "FPCA (0.1, 0.01)"


def test_a_tint_lies_between_white_and_the_colour():
    assert tint("#0072B2", 0.0) == "#ffffff"
    assert tint("#0072B2", 1.0) == "#0072b2"
