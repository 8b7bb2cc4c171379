"""The shape of a site file: which keys there are, of which type, within which bounds.

Strict (a text is no number, ``true`` is no 1) and closed (an unknown key is an error). ``schema/site.schema.json`` is
made from these classes. A field's description is what a finding says was expected.
Every setting that decides about money stands in the file: none has a default.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    IPvAnyAddress,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from meterd.money import AMOUNT_CENTS_MAX, PPM_PER_WHOLE

LEVELS_MS_MIN: Final = 20
LEVELS_MS_MAX: Final = 500


def said_once(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    """One finding for "a number or a word" instead of one for each alternative."""
    try:
        return handler(value)
    except ValidationError as error:
        raise ValueError("none of the alternatives") from error


_ADDRESS: Final[TypeAdapter[Any]] = TypeAdapter(IPvAnyAddress)


def _address(value: str) -> str:
    """An IP address as it stands, or ``localhost``; a name that must be asked for could lead anywhere."""
    if value != "localhost":
        _ADDRESS.validate_python(value)
    return value


Name = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$", description="a name of letters, digits, '-', '_' and '.'"),
]
Cents = Annotated[int, Field(ge=0, le=AMOUNT_CENTS_MAX, description="a whole number of cents")]
CentsOrNone = Annotated[
    Cents | Literal["none"], WrapValidator(said_once), Field(description='a whole number of cents, or "none"')
]
Rate = Annotated[int, Field(ge=0, le=PPM_PER_WHOLE, description="millionths of a wager, 0 to 1_000_000")]
RateOrNone = Annotated[
    Rate | Literal["none"],
    WrapValidator(said_once),
    Field(description='millionths of a wager, 0 to 1_000_000, or "none" (which is not 0)'),
]
YesNo = Annotated[Literal["yes", "no"], Field(description='"yes" or "no"')]


class Shape(BaseModel):
    """Strict and closed: nothing is converted, nothing unknown is let through."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class SiteShape(Shape):
    """``[site]``: what holds for the whole property."""

    id: Name
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$", description='three capitals such as "USD"')]
    timezone: Annotated[
        str,
        Field(
            pattern=r"^(UTC|[A-Z][A-Za-z_]+(/[A-Za-z0-9_+-]+){1,2})$",
            description='"UTC" or a zone such as "America/Denver"',
        ),
    ]
    gaming_day_starts: Annotated[
        str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", description='a time of day such as "06:00"')
    ]
    checkpoints_to: Annotated[
        str | None, Field(pattern=r"^/.", description="the whole path of a second folder that keeps checkpoints")
    ] = None
    confirm_above_cents: Cents
    cards_above_cents: CentsOrNone
    two_person_cents: CentsOrNone
    envy_confirm_above_cents: CentsOrNone
    seed_recovery: Annotated[
        Literal["yes", "no"], Field(description='"yes" or "no": the house may take back standing seed')
    ] = "no"
    release_to_house: Annotated[
        Literal["yes", "no"], Field(description='"yes" or "no": reserve, overflow, unclaimed awards may become income')
    ] = "no"
    unclaimed_days: Annotated[
        Annotated[int, Field(ge=1, le=3650)] | Literal["none"],
        WrapValidator(said_once),
        Field(description='days after which a confirmed award is unclaimed, or "none"'),
    ] = "none"
    discontinue_notice_days: Annotated[
        int, Field(ge=0, le=3650, description="days between the notice and the end of a link")
    ] = 0


class LevelShape(Shape):
    """``[[link.level]]``: one progressive of a link."""

    name: Name
    seed_cents: Cents
    increment_ppm: Rate
    reserve_ppm: RateOrNone
    reset: Annotated[
        Literal["seed_plus_reserve", "reserve_funds_seed", "larger_of"],
        Field(description='"seed_plus_reserve", "reserve_funds_seed" or "larger_of"'),
    ]
    limit_cents: CentsOrNone
    overflow: Annotated[
        str,
        Field(
            pattern=r"^(none|next_meter|house|level:.+)$",
            description='"none", "next_meter", "house" or "level:NAME"',
        ),
    ]
    ties: Annotated[
        Literal["sequential", "split", "full_each"], Field(description='"sequential", "split" or "full_each"')
    ]
    share_scales: YesNo
    floor: Annotated[Literal["none", "seed"], Field(description='"none" or "seed"')]


class LinkShape(Shape):
    """``[[link]]``: one or more tables feeding the same meters."""

    id: Name
    paytable: Annotated[str, Field(min_length=1, description="the id of a pay table")]
    wager_cents: Annotated[int, Field(ge=1, le=1_000_000_00, description="a whole number of cents, 1 or more")]
    units_max: Annotated[int, Field(ge=1, le=100, description="how many units a seat may bet, 1 to 100")]
    level: Annotated[
        tuple[LevelShape, ...],
        Field(strict=False, description="the levels that the pay table pays from; none where it pays from no meter"),
    ] = ()
    envy_trigger: Annotated[
        Literal["all", "highest", "as-printed"], Field(description='"all", "highest" or "as-printed"')
    ] = "as-printed"
    envy_min_cents: Annotated[
        Cents | Literal["as-printed"],
        WrapValidator(said_once),
        Field(description='a whole number of cents, or "as-printed"'),
    ] = "as-printed"
    envy_to: Annotated[
        Literal["players", "dealer", "as-printed"], Field(description='"players", "dealer" or "as-printed"')
    ] = "as-printed"
    board_triggers: YesNo = "no"
    split: Annotated[
        Literal["no-effect", "two-hands", "dead", "as-printed"],
        Field(description='"no-effect", "two-hands", "dead" or "as-printed"'),
    ] = "as-printed"
    steps: Annotated[
        tuple[str, ...],
        Field(strict=False, description="the ids of pay tables for larger bets, each from the wager it is printed for"),
    ] = ()
    approval: Annotated[
        str | None,
        Field(min_length=1, description="the reference of an approval for a setting that needs one"),
    ] = None


class ModuleShape(Shape):
    """``{ bus = …, unit = …, profile = … }``: a module on a Modbus line."""

    bus: Annotated[str, Field(description="the id of a bus")]
    unit: Annotated[int, Field(ge=1, le=247, description="a unit id, 1 to 247 (32 to 127 recommended)")]
    profile: Annotated[str, Field(description="the id of a module profile")]
    serial: Annotated[
        str | None,
        Field(min_length=1, max_length=79, description="what the module's serial registers say, as text"),
    ] = None


class KeypadShape(ModuleShape):
    """``{ bus = …, unit = …, profile = … }``: a keypad on inputs of a Modbus module, by OSDP, or a USB keyboard."""

    unit: Annotated[int, Field(ge=0, le=247, description="a unit id, 1 to 247; an OSDP address, 0 to 126; 1 for USB")]
    identity: Annotated[
        str | None,
        Field(
            pattern=r"^([0-9A-Fa-f]{6}-[0-9A-Fa-f]{2}-[0-9A-Fa-f]{8}|[0-9A-Fa-f]{4}:[0-9A-Fa-f]{4})$",
            description='what the pad says it is: by OSDP such as "00BEBA-02-0000004D", by USB such as "04D9:1203"',
        ),
    ] = None


class TableShape(Shape):
    """``[[table]]``: one gaming table and its modules."""

    id: Name
    game: Annotated[str, Field(min_length=1, description="the game dealt, as the pay table names it")]
    link: Annotated[str, Field(description="the id of a link")]
    seats: Annotated[int, Field(ge=1, le=32, description="how many seats, 1 to 32")]
    settlement: Annotated[
        Literal["counter-clockwise", "clockwise"], Field(description='"counter-clockwise" or "clockwise"')
    ] = "counter-clockwise"
    numbers: Annotated[
        Literal["dealer", "device"], Field(description='"dealer" or "device": who gives the numbers of spins or rolls')
    ] = "dealer"
    lowest_chip_cents: Annotated[
        int, Field(ge=1, le=100_000_00, description="the lowest chip at the table: a whole number of cents, 1 or more")
    ] = 1
    sensors: ModuleShape
    keypad: KeypadShape | None = None
    player_cap_cents: CentsOrNone = "none"
    table_cap_cents: CentsOrNone = "none"
    tip_cap_cents: CentsOrNone = "none"


class PoolShape(Shape):
    """``[[fund.pool]]``: one pool of a posted jackpot, or the pool of a table game."""

    name: Name
    share_ppm: Annotated[int, Field(ge=0, le=PPM_PER_WHOLE, description="millionths of what is taken, 0 to 1_000_000")]
    cap_cents: CentsOrNone
    at_cap: Annotated[Literal["none", "stop", "grow"], Field(description='"none", "stop" or "grow"')]
    share_at_cap_ppm: Annotated[
        Annotated[int, Field(ge=0, le=PPM_PER_WHOLE)] | Literal["same"],
        WrapValidator(said_once),
        Field(description='millionths of what is taken while a growing pool is at its cap, or "same"'),
    ]
    reseeds: Annotated[str, Field(min_length=1, description='the pool it fills after a win, or "none"')]
    offered: YesNo


class FundShape(Shape):
    """``[[fund]]``: a posted jackpot, or a pool of a table game."""

    id: Name
    game: Annotated[
        Literal["posted", "longhorn-hold-em", "208-poker", "home-run-hold-em", "trips-poker"],
        Field(description='"posted", "longhorn-hold-em", "208-poker", "home-run-hold-em" or "trips-poker"'),
    ]
    take_max_cents: CentsOrNone
    unclaimed_days: Annotated[int, Field(ge=1, le=3_650, description="days, 1 or more (120 in Colorado)")]
    seats: Annotated[int, Field(ge=0, le=32, description="seats of its table, 0 to 32")]
    high_hand_ppm: RateOrNone
    pool: Annotated[tuple[PoolShape, ...], Field(min_length=1, strict=False, description="at least one pool")]


BAUD_EXPECTED: Final = "a usual speed such as 9600, 19200, 38400, 57600 or 115200"


class BusShape(Shape):
    """``[[bus]]``: one serial line, or one USB keyboard, which alone has no ``baud``."""

    id: Name
    kind: Annotated[
        Literal["modbus", "alpha", "sas", "osdp", "hid"],
        Field(description='"modbus", "alpha", "sas", "osdp" or "hid"'),
    ]
    port: Annotated[
        str, Field(pattern=r"^/.", description='the whole path of a serial port, such as "/dev/serial/by-path/…"')
    ]
    baud: Annotated[
        Literal[1200, 2400, 4800, 9600, 19200, 38400, 57600, 115200, 230400, 460800, 921600] | None,
        Field(description=BAUD_EXPECTED),
    ] = None
    bytesize: Annotated[Literal[7, 8], Field(description="7 or 8")] = 8
    parity: Annotated[Literal["N", "E", "O"], Field(description='"N", "E" or "O"')] = "N"
    stopbits: Annotated[Literal[1, 2], Field(description="1 or 2")] = 1
    echo: Annotated[bool, Field(description="true or false: the adapter hears what it sends")] = False


class SignShape(Shape):
    """``[[sign]]``: one progressive sign."""

    id: Name
    bus: Annotated[str, Field(description="the id of a bus of kind alpha")]
    model: Annotated[str, Field(description="the id of a sign model")]
    shows: Annotated[
        tuple[str, ...], Field(min_length=1, max_length=8, strict=False, description='a list such as ["link/level"]')
    ]
    labels: Annotated[
        tuple[str, ...], Field(strict=False, description="a list of words, one for each thing shown")
    ] = ()
    address: Annotated[str | None, Field(pattern=r"^[0-9A-F]{2}$", description='two hex digits such as "01"')] = None
    checksum: Annotated[bool | None, Field(description="true or false: commands carry a checksum")] = None


class SasGameShape(Shape):
    """``{ address = … }``: a game that is asked for its wins. With table and seat its win is claimed there."""

    address: Annotated[int, Field(ge=1, le=127, description="the address set at the game, 1 to 127")]
    table: Annotated[str | None, Field(description="the id of a table")] = None
    seat: Annotated[int | None, Field(ge=1, le=32, description="a seat of that table")] = None


class SasShape(Shape):
    """``[[sas]]``: what ``meterd sas`` says on one line, and whom it asks there."""

    bus: Annotated[str, Field(description="the id of a bus of kind sas")]
    group: Annotated[int, Field(ge=1, le=255, description="the group set at the games, 1 to 255")]
    levels: Annotated[
        tuple[str, ...],
        Field(
            min_length=1, max_length=32, strict=False, description='SAS levels 1, 2, … such as ["link/level", "none"]'
        ),
    ]
    games: Annotated[tuple[SasGameShape, ...], Field(strict=False, description="a list of { address = … }")] = ()
    broadcast: Annotated[Literal["80", "86", "7A"], Field(description='"80", "86" or "7A"')] = "86"
    win_poll: Annotated[Literal["85", "87"], Field(description='"85" or "87"')] = "85"
    grid_ms: Annotated[int, Field(ge=200, le=1000, description="milliseconds, 200 to 1000 (200 is usual)")] = 200
    stale_ms: Annotated[int, Field(ge=1500, le=5000, description="milliseconds, 1500 to 5000 (2500 is usual)")] = 2500
    settle_ms: Annotated[
        int, Field(ge=0, le=4, description="milliseconds, 0 to 4, from the first byte to the rest")
    ] = 0
    loopback: Annotated[
        str | None,
        Field(pattern=r"^/.", description="the port of a second adapter that hears this line, for the test at start"),
    ] = None
    parity: Annotated[
        Literal["mark-space", "none-for-rehearsal"], Field(description='"mark-space" or "none-for-rehearsal"')
    ] = "mark-space"


class PollShape(Shape):
    """``[poll]``: how often modules are asked."""

    levels_ms: Annotated[
        int, Field(ge=LEVELS_MS_MIN, le=LEVELS_MS_MAX, description="milliseconds, 20 to 500 (100 is usual)")
    ] = 100
    counters_ms: Annotated[int, Field(ge=20, le=10_000, description="milliseconds, 20 to 10_000 (1000 is usual)")] = (
        1000
    )
    timeout_ms: Annotated[int, Field(ge=20, le=2_000, description="milliseconds, 20 to 2_000 (100 is usual)")] = 100
    stuck_s: Annotated[
        int, Field(ge=10, le=86_400, description="seconds after which an input that is on counts as stuck")
    ] = 3_600


class PadsShape(Shape):
    """``[pads]``: what holds for every dealer's pad."""

    badge_ms: Annotated[
        int, Field(ge=1_000, le=120_000, description="milliseconds a badge speaks for its holder, 1_000 to 120_000")
    ] = 15_000


class WebShape(Shape):
    """``[web]``: where the pages are served."""

    listen: Annotated[
        str, AfterValidator(_address), Field(min_length=1, description='an IP address such as "127.0.0.1"')
    ] = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535, description="a port, 1 to 65535")] = 9477


class SiteFile(Shape):
    """A site file."""

    site: SiteShape
    link: Annotated[tuple[LinkShape, ...], Field(min_length=1, strict=False, description="at least one [[link]]")]
    table: Annotated[tuple[TableShape, ...], Field(min_length=1, strict=False, description="at least one [[table]]")]
    bus: Annotated[tuple[BusShape, ...], Field(min_length=1, strict=False, description="at least one [[bus]]")]
    sign: Annotated[tuple[SignShape, ...], Field(strict=False, description="any number of [[sign]]")] = ()
    sas: Annotated[tuple[SasShape, ...], Field(strict=False, description="any number of [[sas]]")] = ()
    fund: Annotated[tuple[FundShape, ...], Field(strict=False, description="any number of [[fund]]")] = ()
    poll: PollShape = PollShape()
    pads: PadsShape = PadsShape()
    web: WebShape = WebShape()


def site_schema() -> dict[str, Any]:
    """The JSON Schema of a site file, for editors; ``schema/site.schema.json`` holds it."""
    schema = SiteFile.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "meterd site file",
        **{key: value for key, value in schema.items() if key != "title"},
    }
