"""Every model has a factory, so that no isolation test can miss one."""

import pytest
from django.apps import apps
from django.db.models import Model

from apps.accounts.scoping import ClientOwned, ScopeError
from tests.factories import FACTORIES, make_client

OURS = [model for model in apps.get_models() if model.__module__.startswith("apps.")]
CLIENT_OWNED = [model for model in OURS if issubclass(model, ClientOwned)]


def name_of(model: type[Model]) -> str:
    return model.__name__


def test_there_are_client_owned_models_to_test() -> None:
    assert len(CLIENT_OWNED) > 15


@pytest.mark.parametrize("model", OURS, ids=name_of)
def test_every_model_has_a_factory(model: type[Model]) -> None:
    assert model in FACTORIES, f"Add a factory for {model.__name__} to tests/factories.py."


@pytest.mark.django_db
@pytest.mark.parametrize("model", CLIENT_OWNED, ids=name_of)
def test_a_factory_puts_its_row_into_the_client_it_is_given(model: type[ClientOwned]) -> None:
    client = make_client()
    row = FACTORIES[model](client=client)
    assert model.objects.of_client(client).get().pk == row.pk


@pytest.mark.parametrize("model", CLIENT_OWNED, ids=name_of)
@pytest.mark.parametrize("method", ["all", "count", "first", "exists", "values"])
def test_the_manager_of_a_client_owned_model_refuses_to_answer_unscoped(model: type[ClientOwned], method: str) -> None:
    with pytest.raises(ScopeError):
        getattr(model.objects, method)()


@pytest.mark.parametrize("model", CLIENT_OWNED, ids=name_of)
def test_get_filter_and_iteration_are_refused_unscoped(model: type[ClientOwned]) -> None:
    with pytest.raises(ScopeError):
        model.objects.get(pk=1)
    with pytest.raises(ScopeError):
        model.objects.filter(pk=1)
    with pytest.raises(ScopeError):
        list(model.objects.iterator())
