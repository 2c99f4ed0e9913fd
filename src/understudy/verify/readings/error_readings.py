"""Reads the status and the error code that a deployment gives each kind of refusal.

What the checks of ``rules.error_codes`` judge is what tells the readings apart, so the conditions
stand there alone.
"""

from typing import Final

from understudy.interface.operations import COUNTED, OWN_PROFILE
from understudy.verify.checks import CHECKS, was_refused
from understudy.verify.rate_limit_history import is_too_many
from understudy.verify.readings.switch_reading import SwitchReading
from understudy.verify.rules import error_codes
from understudy.verify.rules.own_profile import is_disabled

ERROR_READINGS: Final = (
    SwitchReading(
        "own-profile-disabled-404",
        (OWN_PROFILE,),
        (is_disabled, was_refused),
        error_codes.error_form,
    ),
    SwitchReading(
        "error-rate-limit", COUNTED, (is_too_many,), error_codes.error_form, is_of_limits=True
    ),
    *(
        SwitchReading(each.rules[0], tuple(each.operations), each.when, error_codes.error_form)
        for each in CHECKS
        if each.judge.__module__ == error_codes.__name__
    ),
)
"""The exchanges that show how a deployment writes an error."""
