from django.apps import AppConfig


class AnalysesConfig(AppConfig):
    name = "apps.analyses"
    label = "analyses"
