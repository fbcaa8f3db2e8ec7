"""What is offered: nodes, their network, storage and site needs. What running them costs is not known here."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.accounts.fields import ExactDecimalField
from apps.accounts.scoping import ClientOwned


class RackConfiguration(ClientOwned):
    """One way to get accelerators. Which fields a template asks for stands in `racks.templates`; empty is not given."""

    class Template(models.TextChoices):
        DGX_CLASS = "dgx_class", _("DGX-class nodes")
        DISAGGREGATED = "disaggregated", _("disaggregated racks")
        RACK_SCALE = "rack_scale", _("rack-scale, liquid-cooled")
        CLOUD_RESERVED = "cloud_reserved", _("cloud, reserved")
        CLOUD_ON_DEMAND = "cloud_on_demand", _("cloud, on demand")
        INFERENCE_FLEET = "inference_fleet", _("inference fleet")

    assessment_id = models.UUIDField(null=True, blank=True, db_index=True)
    name = models.CharField(_("name"), max_length=200)
    template = models.CharField(_("template"), max_length=20, choices=Template)
    node_type = models.CharField(_("node type"), max_length=200, blank=True)
    accelerator_key = models.CharField(_("accelerator"), max_length=200, blank=True)  # catalogue key
    n_accelerators = models.PositiveIntegerField(_("accelerators"), null=True, blank=True)
    accelerators_per_node = models.PositiveIntegerField(_("accelerators per node"), null=True, blank=True)
    nvlink_domain = models.PositiveIntegerField(_("NVLink domain"), null=True, blank=True)
    nics_per_node = models.PositiveIntegerField(_("NICs per node"), null=True, blank=True)
    nic_gbit_per_s = ExactDecimalField(_("NIC speed"), null=True, blank=True)
    topology = models.CharField(_("topology"), max_length=20, blank=True)  # two_tier, three_tier, flat
    leaf_placement = models.CharField(_("leaf placement"), max_length=20, blank=True)  # per_rack, per_rail
    oversubscription = ExactDecimalField(_("oversubscription, to 1"), null=True, blank=True)
    fabric_kind = models.CharField(_("fabric"), max_length=20, blank=True)  # infiniband, roce, ethernet, other
    congestion_plan = models.TextField(_("congestion plan"), blank=True)
    tenancy = models.CharField(_("tenancy"), max_length=20, blank=True)  # dedicated, shared
    storage_tb = ExactDecimalField(_("storage"), null=True, blank=True)
    storage_write_gbyte_per_s = ExactDecimalField(_("storage write rate"), null=True, blank=True)
    it_load_kw_low = ExactDecimalField(_("IT load, low"), null=True, blank=True)
    it_load_kw_likely = ExactDecimalField(_("IT load"), null=True, blank=True)
    it_load_kw_high = ExactDecimalField(_("IT load, high"), null=True, blank=True)
    it_load_basis = models.CharField(_("IT load is"), max_length=20, blank=True)  # typical, nameplate
    rack_power_kw = ExactDecimalField(_("power per rack"), null=True, blank=True)
    site_rack_limit_kw = ExactDecimalField(_("site limit per rack"), null=True, blank=True)
    cooling = models.CharField(_("cooling"), max_length=20, blank=True)  # air, liquid
    site_cooling = models.CharField(_("site cooling"), max_length=20, blank=True)
    goodput_low = ExactDecimalField(_("goodput, low"), null=True, blank=True)
    goodput_likely = ExactDecimalField(_("goodput"), null=True, blank=True)
    goodput_high = ExactDecimalField(_("goodput, high"), null=True, blank=True)
    availability = ExactDecimalField(_("availability"), null=True, blank=True)
    slowdown_low = ExactDecimalField(_("slowdown, low"), null=True, blank=True)
    slowdown_likely = ExactDecimalField(_("slowdown"), null=True, blank=True)
    slowdown_high = ExactDecimalField(_("slowdown, high"), null=True, blank=True)
    fabric_efficiency = ExactDecimalField(_("fabric efficiency"), null=True, blank=True)
    peak_tflops = ExactDecimalField(_("peak, dense BF16"), null=True, blank=True)
    # cloud
    committed_fraction = ExactDecimalField(_("committed share"), null=True, blank=True)
    on_demand_usd_per_gpu_hour = ExactDecimalField(_("on-demand rate"), null=True, blank=True)
    spot_usd_per_gpu_hour = ExactDecimalField(_("spot rate"), null=True, blank=True)
    spot_share = ExactDecimalField(_("spot share"), null=True, blank=True)
    spot_interruptions_per_hour = ExactDecimalField(_("spot interruptions an hour"), null=True, blank=True)
    checkpoint_minutes = ExactDecimalField(_("checkpoint time"), null=True, blank=True)
    checkpoint_interval_minutes = ExactDecimalField(_("checkpoint interval"), null=True, blank=True)
    restart_minutes = ExactDecimalField(_("restart time"), null=True, blank=True)
    shared_fabric_note = models.CharField(max_length=300, blank=True)
    # inference fleet: regions, traffic, latency targets; stored and editable, its engine comes later
    serving = models.JSONField(default=dict, blank=True)
    # field name -> {"level": evidence level, "source": text, "ref": "Fabric!B3"}
    sources = models.JSONField(default=dict, blank=True)

    def __str__(self) -> str:
        return self.name
