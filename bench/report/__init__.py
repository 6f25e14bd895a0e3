# SPDX-License-Identifier: BSD-3-Clause
"""What bench/report.py is made of: frame reads, the pages select and pivot, text and plots write."""
