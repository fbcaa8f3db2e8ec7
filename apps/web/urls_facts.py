"""Addresses of what is assumed, claimed, known and planned; part of the `web` namespace."""

from django.urls import path

from apps.web.views import assumptions, catalogue, claims, roadmap

ASSESSMENT = "assessments/<uuid:assessment_id>"
ITEM = f"{ASSESSMENT}/roadmap/<uuid:item_id>"

urlpatterns = [
    path(f"{ASSESSMENT}/assumptions/", assumptions.assumptions, name="assumptions"),
    path(f"{ASSESSMENT}/assumptions/set/", assumptions.set_value, name="set_assumption"),
    path(f"{ASSESSMENT}/assumptions/withdraw/", assumptions.withdraw, name="withdraw_assumption"),
    path(f"{ASSESSMENT}/assumptions/restore/", assumptions.restore, name="restore_assumption"),
    path(f"{ASSESSMENT}/assumptions/rates/", assumptions.set_rate, name="set_fx_rate"),
    path(f"{ASSESSMENT}/claims/", claims.claims, name="claims"),
    path(f"{ASSESSMENT}/claims/judge/", claims.judge, name="judge_claim"),
    path(f"{ASSESSMENT}/claims/add/", claims.add, name="add_claim"),
    path(f"{ASSESSMENT}/roadmap/", roadmap.roadmap, name="roadmap"),
    path(f"{ASSESSMENT}/roadmap/add/", roadmap.add, name="add_roadmap_item"),
    path(f"{ITEM}/", roadmap.edit, name="roadmap_item"),
    path(f"{ITEM}/confirm/", roadmap.confirm, name="confirm_roadmap_item"),
    path(f"{ITEM}/remove/", roadmap.remove, name="remove_roadmap_item"),
    path("catalogue/", catalogue.catalogue, name="catalogue"),
    path("catalogue/override/", catalogue.override, name="override_value"),
    path("catalogue/withdraw/", catalogue.withdraw, name="withdraw_override"),
]
