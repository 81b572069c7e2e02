"""The keyword arguments of the report."""

from __future__ import annotations

from collections.abc import Iterable

from .._options import GapOptions, Method, OrderOptions


class ReportOptions(OrderOptions, GapOptions, total=False):
    """Options of ``gcbs.report``: those of ``gcbs.order`` and ``gcbs.gap``."""

    methods: Iterable[Method]
    """orders to compute and compare with; default natural, rcm and pack"""
