"""What `peers/check` is made of. How a peer is installed and started it takes from the runner in bench/."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
