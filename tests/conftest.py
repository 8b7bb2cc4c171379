"""What all tests share: one hypothesis profile and one generous limit."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

#: Derandomized so that a run says the same thing twice; ``bench/`` explores at random.
settings.register_profile(
    "fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("explore", derandomize=False, deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
