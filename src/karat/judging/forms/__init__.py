"""What people are asked: forms and their files."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.judging.forms.form import Choice as Choice
    from karat.judging.forms.form import FollowUp as FollowUp
    from karat.judging.forms.form import Form as Form
    from karat.judging.forms.form_data import form_from_data as form_from_data
    from karat.judging.forms.form_data import form_to_data as form_to_data

__all__, __getattr__, __dir__ = exports(__name__, __file__)
