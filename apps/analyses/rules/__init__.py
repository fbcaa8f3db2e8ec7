"""Rules of an assessment: data in fixtures/rules.json, evaluated on stored facts and the newest run."""

from apps.analyses.rules.evaluation import evaluate
from apps.analyses.rules.hits import Ranking, RuleHit, gates_of, open_gates, ranked_letters, ready_to_sign
from apps.analyses.rules.run_facts import RunDocuments

__all__ = [
    "Ranking",
    "RuleHit",
    "RunDocuments",
    "evaluate",
    "gates_of",
    "open_gates",
    "ranked_letters",
    "ready_to_sign",
]
