"""What runs came to: one in numbers, several side by side.

Everything here is read from run folders; no model is asked.
"""

from .prefix import Hits, PrefixCache
from .rules import ORACLE
from .shares import Z95, Interval, wilson
from .totals import Cost, Report, Score, report

__all__ = ["ORACLE", "Z95", "Cost", "Hits", "Interval", "PrefixCache", "Report", "Score", "report", "wilson"]
