"""``python -m fairpca`` is the command ``fairpca``."""

from ._cli import main

if __name__ == "__main__":
    main()
