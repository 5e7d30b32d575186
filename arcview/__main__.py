"""`python -m arcview`."""

from __future__ import annotations

import sys

from arcview.cli import main

if __name__ == "__main__":
    sys.exit(main())
