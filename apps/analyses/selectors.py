"""Reads of runs: what may this user see, what did a run get and answer, is it still what would be computed now."""

import json
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from apps import engine
from apps.accounts.models import User
from apps.analyses.canonical import canonical_json
from apps.analyses.models import AnalysisRun
from apps.assessments.models import Assessment

State = AnalysisRun.State
MOST_DIFFERENCES = 50


def runs_visible_to(user: User) -> QuerySet[AnalysisRun]:
    """Runs of the clients in which the user holds a role, newest first, without the two large documents."""
    runs = AnalysisRun.objects.visible_to(user).select_related("assessment", "client", "scenario", "requested_by")
    return runs.defer("inputs_json", "results_json").order_by("-created_at")


def latest_succeeded(
    user: User, assessment: Assessment, kind: str = AnalysisRun.Kind.TCO, *, scenario_id: Any = None
) -> AnalysisRun | None:
    """The newest run of the assessment that has an answer, of its base inputs or of one scenario."""
    runs = AnalysisRun.objects.visible_to(user).select_related("assessment", "client", "scenario", "requested_by")
    succeeded = runs.filter(assessment=assessment, kind=kind, state=State.SUCCEEDED, scenario_id=scenario_id)
    return succeeded.order_by("-number").first()


def latest_run(user: User, assessment: Assessment, kind: str = AnalysisRun.Kind.TCO) -> AnalysisRun | None:
    """The newest run of the assessment's base inputs, in whatever state."""
    return runs_visible_to(user).filter(assessment=assessment, kind=kind, scenario=None).order_by("-number").first()


def inputs_of(run: AnalysisRun) -> dict[str, Any]:
    """What the engine was given, as docs/run-json.md describes it."""
    return json.loads(run.inputs_json)


def results_of(run: AnalysisRun) -> dict[str, Any]:
    """What the engine answered. Raises `ValueError` for a run that has no answer."""
    if run.state != State.SUCCEEDED:
        raise ValueError(f"{run} is {run.state}; only a succeeded run has results.")
    return json.loads(run.results_json)


def is_stale(run: AnalysisRun) -> list[str]:
    """How the run's inputs differ from what would be frozen now, in words; an empty list if the run is current."""
    differences = []
    if run.engine_version != engine.__version__:
        differences.append(
            _("The calculation was made with version %(old)s of the engine; now it is %(new)s.")
            % {"old": run.engine_version, "new": engine.__version__}
        )
    from apps.analyses import inputs

    then = inputs_of(run)
    then = then.get("base", then)
    now = json.loads(canonical_json(inputs.tco_document(run.assessment, scenario=run.scenario)))
    return differences + differences_between(then, now)


def differences_between(then: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What changed between two input documents, one sentence each, inputs first, at most `MOST_DIFFERENCES`."""
    found = _changed_inputs(then.get("inputs", {}), now.get("inputs", {}))
    found += _changed_options(then.get("options", []), now.get("options", []))
    rest = sorted((set(then) | set(now)) - {"inputs", "options"})
    found += [
        _("%(what)s: %(old)s, now %(new)s.")
        % {"what": key.replace("_", " "), "old": _short(then.get(key)), "new": _short(now.get(key))}
        for key in rest
        if then.get(key) != now.get(key)
    ]
    if len(found) > MOST_DIFFERENCES:
        more = len(found) - MOST_DIFFERENCES
        found = [*found[:MOST_DIFFERENCES], _("%(n)d further differences.") % {"n": more}]
    return found


def _changed_inputs(then: dict[str, Any], now: dict[str, Any]) -> list[str]:
    found = []
    for key in sorted(set(then) | set(now)):
        if key not in then:
            new = now[key]
            found.append(_("%(label)s is new: %(value)s.") % {"label": new["label"], "value": _value(new)})
            continue
        old = then[key]
        if key not in now:
            what = {"label": old["label"], "value": _value(old)}
            found.append(_("%(label)s is no longer used; it was %(value)s.") % what)
            continue
        new = now[key]
        if old == new:
            continue
        if _value(old) != _value(new):
            found.append(
                _("%(label)s: %(old)s, now %(new)s.") % {"label": new["label"], "old": _value(old), "new": _value(new)}
            )
        else:
            fields = sorted(field for field in set(old) | set(new) if old.get(field) != new.get(field))
            found.append(
                _("%(label)s: same value, other %(fields)s.")
                % {"label": new["label"], "fields": ", ".join(fields).replace("_", " ")}
            )
    return found


def _changed_options(then: list[dict[str, Any]], now: list[dict[str, Any]]) -> list[str]:
    old, new = ({option["key"]: option for option in options} for options in (then, now))
    found = []
    for key in sorted(old.keys() | new.keys()):
        name = (new.get(key) or old[key])["name"]
        if key not in old:
            found.append(_("Option %(key)s (%(name)s) is new.") % {"key": key, "name": name})
        elif key not in new:
            found.append(_("Option %(key)s (%(name)s) is gone.") % {"key": key, "name": name})
        elif old[key] != new[key]:
            found += _changed_parts(key, old[key], new[key])
    return found


def _changed_parts(key: str, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """What changed inside one option: its lines by label, the rest by name."""
    before, after = ({line["key"]: line for line in option.get("lines", [])} for option in (old, new))
    found = []
    for line in sorted(before.keys() | after.keys()):
        if before.get(line) == after.get(line):
            continue
        label = (after.get(line) or before[line])["label"]
        text = (
            _("Option %(key)s: line “%(label)s” is new.")
            if line not in before
            else _("Option %(key)s: line “%(label)s” is gone.")
            if line not in after
            else _("Option %(key)s: line “%(label)s” is composed otherwise.")
        )
        found.append(text % {"key": key, "label": label})
    names = sorted(name for name in old.keys() | new.keys() if name != "lines" and old.get(name) != new.get(name))
    if names:
        found.append(_("Option %(key)s: other %(names)s.") % {"key": key, "names": ", ".join(names).replace("_", " ")})
    return found


def _value(entry: dict[str, Any]) -> str:
    unit = f" {entry['unit']}" if entry.get("unit") else ""
    if entry.get("low") is None and entry.get("high") is None:
        return f"{entry['likely']}{unit}"
    return _("%(likely)s (%(low)s to %(high)s)") % entry + unit


def _short(value: Any) -> str:
    if value is None:
        return _("not set")
    text = value if isinstance(value, str) else canonical_json(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def queue_text(run: AnalysisRun) -> str:
    """Where the run stands, in words for the page: waiting, the stage with its count, or how it ended."""
    if run.state == State.QUEUED:
        return _("queued, waiting for the worker")
    if run.state == State.RUNNING:
        if run.cancel_requested:
            return _("stopping")
        unit = _("points") if run.kind == AnalysisRun.Kind.TCO_SWEEP else _("draws")
        stage = run.stage or _("starting")
        if not run.progress_total:
            return stage
        return _("%(stage)s: %(done)s of %(total)s %(unit)s") % {
            "stage": stage,
            "done": f"{run.progress_done:,}",
            "total": f"{run.progress_total:,}",
            "unit": unit,
        }
    return str(run.get_state_display())
