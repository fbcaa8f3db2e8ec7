"""Which fields each configuration template asks for, and which values they may take."""

from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.racks.models import RackConfiguration

Template = RackConfiguration.Template


@dataclass(frozen=True, kw_only=True)
class ConfigurationTemplate:
    """One way to get accelerators, as a form: groups of fields in reading order, and what is assumed at first."""

    label: Promise
    meaning: Promise
    groups: tuple[tuple[Promise, tuple[str, ...]], ...]
    defaults: dict[str, object]
    cloud: bool = False

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(name for _label, names in self.groups for name in names)


CHOICES: Final[dict[str, dict[str, Promise]]] = {
    "topology": {"two_tier": _("two-tier"), "three_tier": _("three-tier"), "flat": _("flat")},
    "leaf_placement": {"per_rack": _("leaf per rack"), "per_rail": _("leaf per rail")},
    "fabric_kind": {
        "infiniband": _("InfiniBand"),
        "roce": _("RoCE"),
        "ethernet": _("Ethernet"),
        "other": _("other"),
    },
    "tenancy": {"dedicated": _("dedicated"), "shared": _("shared")},
    "it_load_basis": {"typical": _("typical draw"), "nameplate": _("nameplate")},
    "cooling": {"air": _("air"), "liquid": _("liquid")},
    "site_cooling": {"air": _("air"), "liquid": _("liquid")},
}

_NODES = (
    _("Nodes"),
    ("node_type", "accelerator_key", "n_accelerators", "accelerators_per_node", "nvlink_domain", "peak_tflops"),
)
_FABRIC = (
    _("Fabric"),
    (
        "nics_per_node",
        "nic_gbit_per_s",
        "topology",
        "leaf_placement",
        "oversubscription",
        "fabric_kind",
        "congestion_plan",
        "tenancy",
        "fabric_efficiency",
    ),
)
_STORAGE = (_("Storage"), ("storage_tb", "storage_write_gbyte_per_s"))
_YIELD = (
    _("Yield"),
    (
        "availability",
        "goodput_low",
        "goodput_likely",
        "goodput_high",
        "slowdown_low",
        "slowdown_likely",
        "slowdown_high",
    ),
)
_POWER = (
    _("Power and site"),
    (
        "it_load_kw_low",
        "it_load_kw_likely",
        "it_load_kw_high",
        "it_load_basis",
        "rack_power_kw",
        "site_rack_limit_kw",
        "cooling",
        "site_cooling",
    ),
)
_RENTAL = (
    _("Rental"),
    (
        "committed_fraction",
        "on_demand_usd_per_gpu_hour",
        "spot_share",
        "spot_usd_per_gpu_hour",
        "spot_interruptions_per_hour",
        "checkpoint_minutes",
        "checkpoint_interval_minutes",
        "restart_minutes",
        "shared_fabric_note",
    ),
)
_ON_DEMAND = (
    _("Rental"),
    tuple(name for name in _RENTAL[1] if name != "committed_fraction"),
)

TEMPLATES: Final[dict[str, ConfigurationTemplate]] = {
    Template.DGX_CLASS: ConfigurationTemplate(
        label=Template.DGX_CLASS.label,
        meaning=_("Complete 8-accelerator nodes of one vendor with its fabric."),
        groups=(_NODES, _FABRIC, _STORAGE, _YIELD, _POWER),
        defaults={"accelerators_per_node": 8, "nvlink_domain": 8, "tenancy": "dedicated", "cooling": "air"},
    ),
    Template.DISAGGREGATED: ConfigurationTemplate(
        label=Template.DISAGGREGATED.label,
        meaning=_("Nodes, switches and storage of several makers, put together by an integrator or by you."),
        groups=(_NODES, _FABRIC, _STORAGE, _YIELD, _POWER),
        defaults={"accelerators_per_node": 8, "nvlink_domain": 8, "tenancy": "dedicated", "fabric_kind": "roce"},
    ),
    Template.RACK_SCALE: ConfigurationTemplate(
        label=Template.RACK_SCALE.label,
        meaning=_("Racks that are one NVLink domain and need liquid cooling."),
        groups=(_NODES, _FABRIC, _STORAGE, _YIELD, _POWER),
        defaults={"accelerators_per_node": 72, "nvlink_domain": 72, "tenancy": "dedicated", "cooling": "liquid"},
    ),
    Template.CLOUD_RESERVED: ConfigurationTemplate(
        label=Template.CLOUD_RESERVED.label,
        meaning=_("Rented accelerators whose committed hours are billed, used or not."),
        groups=(_NODES, _FABRIC, _STORAGE, _YIELD, _RENTAL),
        defaults={"tenancy": "shared"},
        cloud=True,
    ),
    Template.CLOUD_ON_DEMAND: ConfigurationTemplate(
        label=Template.CLOUD_ON_DEMAND.label,
        meaning=_("Rented accelerators that are billed while they run, on demand or on spot."),
        groups=(_NODES, _FABRIC, _STORAGE, _YIELD, _ON_DEMAND),
        defaults={"tenancy": "shared"},
        cloud=True,
    ),
    Template.INFERENCE_FLEET: ConfigurationTemplate(
        label=Template.INFERENCE_FLEET.label,
        meaning=_("Servers for answering requests, in one region or several."),
        groups=(_NODES, _FABRIC, _YIELD, _POWER, (_("Serving"), ("serving",))),
        defaults={"fabric_kind": "ethernet", "tenancy": "dedicated"},
    ),
}


def template_of(configuration: RackConfiguration) -> ConfigurationTemplate:
    return TEMPLATES[configuration.template]
