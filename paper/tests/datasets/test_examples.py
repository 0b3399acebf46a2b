"""Examples that need files which are not in the package run where the files are."""

import doctest

import pytest

from fairpca_paper.datasets import faces, lee2022, people


@pytest.mark.parametrize("module", [faces, lee2022, people], ids=lambda module: module.__name__)
def test_examples_that_need_data_run_where_the_data_are(module, data_folder):
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in doctest.DocTestFinder().find(module):
        if test.name.endswith("load_celeba"):  # its licence forbids sharing it
            continue
        for example in test.examples:
            example.options.pop(doctest.SKIP, None)
        said = []
        runner.run(test, out=said.append)
        assert not said, "".join(said)
    assert runner.summarize(verbose=False).attempted > 0
