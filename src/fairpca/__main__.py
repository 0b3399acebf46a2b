"""``python -m fairpca`` is the command ``fairpca``."""

from .cli import main

if __name__ == "__main__":
    main()
