"""Channels: how a person changes an answer before anybody sees it, exactly, in whole numbers.

Every channel works alike. The true answer marks some of the outcomes. A lot of ``tickets`` decides whether
the outcome is a marked one (``hit`` tickets) or not, and then it is any of those alike: so a respondent's
browser draws whole numbers only, and every probability is a fraction. One outcome is at most `Channel.odds`
times as likely with one true answer as with another: ε-local differential privacy with ε = ln(odds).
"""

from engine.privacy.channels.channel import RANGE, Channel, Shares, channel_from_json, channel_to_json, level
from engine.privacy.channels.choosing import Chosen, for_choice, for_mean, for_number, for_ticks
from engine.privacy.channels.geometry import Geometry
from engine.privacy.channels.sets import Option, Sets, Signs
from engine.privacy.channels.wave import Bit, Wave

__all__ = [
    "RANGE",
    "Bit",
    "Channel",
    "Chosen",
    "Geometry",
    "Option",
    "Sets",
    "Shares",
    "Signs",
    "Wave",
    "channel_from_json",
    "channel_to_json",
    "for_choice",
    "for_mean",
    "for_number",
    "for_ticks",
    "level",
]
