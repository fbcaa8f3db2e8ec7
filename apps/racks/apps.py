from django.apps import AppConfig


class RacksConfig(AppConfig):
    name = "apps.racks"
    label = "racks"
