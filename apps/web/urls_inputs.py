"""Addresses of what people bring in: quotes, configurations, options; part of the `web` namespace."""

from django.urls import path

from apps.web.views import configuration, intake, options

ASSESSMENT = "assessments/<uuid:assessment_id>"
INTAKE = f"{ASSESSMENT}/quotes/import"
BATCH = f"{INTAKE}/<uuid:batch_id>"
CONFIGURATION = f"{ASSESSMENT}/configuration"
OPTIONS = f"{ASSESSMENT}/options"

urlpatterns = [
    path(f"{INTAKE}/", intake.intake, name="intake"),
    path(f"{INTAKE}/quote-template.<str:format>", intake.template_file, name="intake_template"),
    path(f"{BATCH}/", intake.preview, name="import_preview"),
    path(f"{BATCH}/answers/", intake.answer, name="import_preview_answer"),
    path(f"{BATCH}/columns/", intake.columns, name="import_preview_columns"),
    path(f"{BATCH}/commit/", intake.commit, name="import_preview_commit"),
    path(f"{BATCH}/cancel/", intake.cancel, name="import_preview_cancel"),
    path(f"{BATCH}/undo/", intake.undo, name="import_preview_undo"),
    path(f"{BATCH}/option/", intake.make_option, name="import_preview_option"),
    path(f"{BATCH}/pin/", intake.pin, name="import_preview_pin"),
    path(f"{BATCH}/file/", intake.original, name="import_preview_file"),
    path(f"{CONFIGURATION}/", configuration.configurations, name="configuration"),
    path(f"{CONFIGURATION}/new/", configuration.new, name="configuration_new"),
    path(f"{CONFIGURATION}/<uuid:configuration_id>/", configuration.edit, name="configuration_edit"),
    path(f"{CONFIGURATION}/<uuid:configuration_id>/delete/", configuration.delete, name="configuration_delete"),
    path(f"{OPTIONS}/new/", options.new, name="option_new"),
    path(f"{OPTIONS}/<uuid:option_id>/", options.edit, name="option"),
]
