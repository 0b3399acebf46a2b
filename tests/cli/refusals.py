"""What a command must do with input that it cannot use."""

import os


def assert_refused(result, *messages, absent=()):
    """One clear line, exit code 2, no traceback, no file."""
    assert result.exit_code == 2, result.output
    (line,) = result.stderr.strip().splitlines()
    for message in messages:
        assert message in line
    assert "Traceback" not in result.output
    for name in absent:
        assert not os.path.exists(name)
    assert not [name for name in os.listdir() if name.startswith(".")]
