# SPDX-License-Identifier: BSD-3-Clause
"""What bench/report.py is made of: frame reads, the pages select and pivot, text and plots write."""

# What scripts say after the name of a package that is missing.
INSTALLS = "is not installed: `scripts/quickstart.sh report FILES...` installs it, by network"
