"""The REST API, version 1: what the screens show, for scripts. Every query is made for the person who asks."""

import uuid
from typing import Any

import django_filters
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from drf_spectacular.views import SpectacularJSONAPIView
from rest_framework import generics, permissions, renderers, serializers, status
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts import audit
from apps.accounts.models import Client, User
from apps.accounts.permissions import require
from apps.accounts.selectors import clients_visible_to
from apps.analyses import services
from apps.analyses.canonical import decimal_text
from apps.analyses.models import AnalysisRun, Scenario
from apps.analyses.rules import evaluate
from apps.analyses.selectors import inputs_of, results_of, runs_visible_to
from apps.api import schema  # noqa: F401 # registers how the session stands in the OpenAPI document
from apps.api.problems import NO_STORE, Conflict, not_found
from apps.api.serializers import (
    AssessmentSerializer,
    ClientSerializer,
    OptionSerializer,
    PinnedQuoteSerializer,
    RuleHitSerializer,
    RunRequestSerializer,
    RunSerializer,
)
from apps.assessments.models import Assessment
from apps.assessments.selectors import assessments_visible_to, options_of
from apps.vendors.models import QuoteVersion


class Pages(PageNumberPagination):
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200


class CsvRenderer(renderers.BaseRenderer):
    """Lets a caller ask for text/csv; the view itself writes the file."""

    media_type = "text/csv"
    format = "csv"

    def render(self, data: Any, *_rest: Any) -> bytes:
        raise NotImplementedError("Views that answer CSV return the finished file.")


class PrivateView(APIView):
    """What every view of the API has in common: no copy of an answer is kept in a cache."""

    http_method_names = ["get", "head", "post"]

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        answer = super().finalize_response(request, response, *args, **kwargs)
        answer["Cache-Control"] = NO_STORE
        return answer

    @property
    def person(self) -> Any:
        """Who asks; the selectors show nothing to anybody who is not signed in."""
        return self.request.user


# What the person may see ----------------------------------------------------------------------------------------------
def assessment_of(person: User, assessment_id: uuid.UUID) -> Assessment:
    """The assessment; a 404 when it is unknown or another client's."""
    found = assessments_visible_to(person).filter(pk=assessment_id).first()
    if found is None:
        raise Http404
    return found


def run_of(person: User, run_id: uuid.UUID) -> AnalysisRun:
    """The run without its documents, which load when they are read; a 404 when it is unknown or another client's."""
    found = runs_visible_to(person).filter(pk=run_id).first()
    if found is None:
        raise Http404
    return found


def exported_run(person: User, run_id: uuid.UUID, part: str) -> AnalysisRun:
    """The run for a download that the role allows and the audit log will name; 403 when the role does not."""
    run = run_of(person, run_id)
    require(person, run.client, "export")
    if part != "inputs" and run.state != AnalysisRun.State.SUCCEEDED:
        raise Conflict(_("The run is %(state)s; it has no results.") % {"state": run.get_state_display()})
    subject = f"{run.assessment.name}, {part}"
    audit.record(actor=person, action="run.exported", client=run.client, subject=subject, subject_id=run.pk)
    return run


def scenario_of(person: User, assessment: Assessment, scenario_id: uuid.UUID | None) -> Scenario | None:
    """The scenario of that assessment. Raises `ValidationError` for an unknown one and another assessment's alike."""
    if scenario_id is None:
        return None
    found = Scenario.objects.visible_to(person).filter(assessment=assessment, pk=scenario_id).first()
    if found is None:
        raise serializers.ValidationError({"scenario": [_("The assessment has no such scenario.")]})
    return found


# Clients and assessments ----------------------------------------------------------------------------------------------
class ClientList(PrivateView, generics.ListAPIView[Client]):
    serializer_class = ClientSerializer
    pagination_class = Pages

    def get_queryset(self) -> QuerySet[Client]:
        return clients_visible_to(self.person).order_by("name", "pk")

    @extend_schema(operation_id="clients_list", summary="Clients in which you hold a role")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)


class AssessmentFilter(django_filters.FilterSet):  # type: ignore[misc]
    client = django_filters.UUIDFilter(field_name="client_id")
    state = django_filters.ChoiceFilter(choices=Assessment.State.choices)


class AssessmentList(PrivateView, generics.ListAPIView[Assessment]):
    serializer_class = AssessmentSerializer
    pagination_class = Pages
    filter_backends = [DjangoFilterBackend]
    filterset_class = AssessmentFilter

    def get_queryset(self) -> QuerySet[Assessment]:
        return assessments_visible_to(self.person).order_by("-created_at", "pk")

    @extend_schema(operation_id="assessments_list", summary="Assessments of your clients, newest first")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)


class AssessmentDetail(PrivateView):
    @extend_schema(operation_id="assessments_retrieve", summary="One assessment", responses=AssessmentSerializer)
    def get(self, request: Request, assessment_id: uuid.UUID) -> Response:
        return Response(AssessmentSerializer(assessment_of(self.person, assessment_id)).data)


class OptionList(PrivateView):
    @extend_schema(
        operation_id="options_list",
        summary="Options in the order of their slots, with phases, staff and evidence",
        responses=OptionSerializer(many=True),
    )
    def get(self, request: Request, assessment_id: uuid.UUID) -> Response:
        assessment = assessment_of(self.person, assessment_id)
        return Response(OptionSerializer(options_of(self.person, assessment), many=True).data)


class QuoteList(PrivateView):
    @extend_schema(
        operation_id="quotes_list",
        summary="Quote versions that the options are pinned to, with their lines",
        responses=PinnedQuoteSerializer(many=True),
    )
    def get(self, request: Request, assessment_id: uuid.UUID) -> Response:
        versions = pinned_versions(self.person, assessment_of(self.person, assessment_id))
        return Response(PinnedQuoteSerializer(versions, many=True).data)


def pinned_versions(person: User, assessment: Assessment) -> list[QuoteVersion]:
    """Each pinned version once, in the order of the options, with the letters of its options in `pinned_by`."""
    versions: dict[uuid.UUID, QuoteVersion] = {}
    letters: dict[uuid.UUID, list[str]] = {}
    for option in options_of(person, assessment):
        for phase in option.phases.all():
            if phase.quote_version is not None:
                versions.setdefault(phase.quote_version.pk, phase.quote_version)
                letters.setdefault(phase.quote_version.pk, []).append(option.letter)
    for key, version in versions.items():
        version.pinned_by = list(dict.fromkeys(letters[key]))  # type: ignore[attr-defined]
    return list(versions.values())


class RuleList(PrivateView):
    @extend_schema(
        operation_id="rules_list",
        summary="What the rules say now: gates first, then red, amber, banners and notes",
        responses=RuleHitSerializer(many=True),
    )
    def get(self, request: Request, assessment_id: uuid.UUID) -> Response:
        return Response(RuleHitSerializer(evaluate(assessment_of(self.person, assessment_id)), many=True).data)


# Runs -----------------------------------------------------------------------------------------------------------------
class RunFilter(django_filters.FilterSet):  # type: ignore[misc]
    kind = django_filters.ChoiceFilter(choices=AnalysisRun.Kind.choices)
    state = django_filters.ChoiceFilter(choices=AnalysisRun.State.choices)


class RunList(PrivateView, generics.ListAPIView[AnalysisRun]):
    serializer_class = RunSerializer
    pagination_class = Pages
    filter_backends = [DjangoFilterBackend]
    filterset_class = RunFilter

    def get_queryset(self) -> QuerySet[AnalysisRun]:
        runs = runs_visible_to(self.person)
        if getattr(self, "swagger_fake_view", False):  # the schema is made without an address
            return runs
        return runs.filter(assessment=assessment_of(self.person, self.kwargs["assessment_id"])).order_by("-number")

    @extend_schema(operation_id="runs_list", summary="Runs of the assessment, newest first")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    @extend_schema(
        operation_id="runs_create",
        summary="Freeze the inputs and queue a run, or get the run that has equal inputs",
        request=RunRequestSerializer,
        responses={202: RunSerializer},
        filters=False,
    )
    def post(self, request: Request, assessment_id: uuid.UUID) -> Response:
        assessment = assessment_of(self.person, assessment_id)
        require(self.person, assessment.client, "run")
        asked = RunRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        run = self._requested(assessment, asked.validated_data)
        location = reverse("api:run", args=[run.pk])
        return Response(RunSerializer(run).data, status=status.HTTP_202_ACCEPTED, headers={"Location": location})

    def _requested(self, assessment: Assessment, asked: dict[str, Any]) -> AnalysisRun:
        if asked["kind"] == AnalysisRun.Kind.TCO_SWEEP:
            axes = [
                {"input": axis["input"], "values": [decimal_text(value) for value in axis["values"]]}
                for axis in asked["axes"]
            ]
            return services.request_sweep(by=self.person, assessment=assessment, axes=axes)
        scenario = scenario_of(self.person, assessment, asked["scenario"])
        return services.request_run(by=self.person, assessment=assessment, kind=asked["kind"], scenario=scenario)


class RunDetail(PrivateView):
    @extend_schema(
        operation_id="runs_retrieve", summary="State, stage, progress and error of a run", responses=RunSerializer
    )
    def get(self, request: Request, run_id: uuid.UUID) -> Response:
        return Response(RunSerializer(run_of(self.person, run_id)).data)


class RunInputs(PrivateView):
    @extend_schema(
        operation_id="runs_inputs",
        summary="What the engine was given, byte for byte as hashed",
        responses={200: OpenApiResponse(OpenApiTypes.OBJECT, description="Described in docs/run-json.md.")},
    )
    def get(self, request: Request, run_id: uuid.UUID) -> HttpResponse:
        run = exported_run(self.person, run_id, "inputs")
        return HttpResponse(run.inputs_json, content_type="application/json")


class RunResults(PrivateView):
    @extend_schema(
        operation_id="runs_results",
        summary="What the engine answered, byte for byte as stored",
        responses={200: OpenApiResponse(OpenApiTypes.OBJECT, description="Described in docs/run-json.md.")},
    )
    def get(self, request: Request, run_id: uuid.UUID) -> HttpResponse:
        run = exported_run(self.person, run_id, "results")
        return HttpResponse(run.results_json, content_type="application/json")


class RunSweep(PrivateView):
    renderer_classes = [CsvRenderer, renderers.JSONRenderer]

    @extend_schema(
        operation_id="runs_sweep",
        summary="A finished sweep as a table: a row a point, axis values, then the cost of each option",
        responses={(200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request, run_id: uuid.UUID) -> HttpResponse:
        from apps.api.sweep_csv import sweep_csv

        if run_of(self.person, run_id).kind != AnalysisRun.Kind.TCO_SWEEP:
            raise Http404
        run = exported_run(self.person, run_id, "sweep")
        answer = HttpResponse(sweep_csv(inputs_of(run), results_of(run)), content_type="text/csv; charset=utf-8")
        answer["Content-Disposition"] = f'attachment; filename="sweep-run-{run.number}.csv"'
        return answer


class RunCancel(PrivateView):
    @extend_schema(
        operation_id="runs_cancel",
        summary="Cancel a queued run, or ask the worker of a running one to stop",
        request=None,
        responses={
            200: OpenApiResponse(RunSerializer, description="The run is over."),
            202: OpenApiResponse(RunSerializer, description="A worker has been asked to stop."),
        },
    )
    def post(self, request: Request, run_id: uuid.UUID) -> Response:
        run = services.cancel_run(by=self.person, run=run_of(self.person, run_id))
        code = status.HTTP_200_OK if run.is_over else status.HTTP_202_ACCEPTED
        return Response(RunSerializer(run).data, status=code)


# The API itself -------------------------------------------------------------------------------------------------------
class OpenApi(PrivateView, SpectacularJSONAPIView):
    """The OpenAPI document, the same as docs/schemas/openapi.yaml."""

    permission_classes = [permissions.IsAuthenticated]


class Unknown(PrivateView):
    """Any other address of the API: not found, by whatever method."""

    schema = None

    def http_method_not_allowed(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:  # type: ignore[override]
        return not_found()
