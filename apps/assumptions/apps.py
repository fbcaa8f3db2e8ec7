from django.apps import AppConfig


class AssumptionsConfig(AppConfig):
    name = "apps.assumptions"
    label = "assumptions"
