"""What annotators are asked: forms and their files."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.judging.forms.form import Choice as Choice
    from karat.judging.forms.form import Example as Example
    from karat.judging.forms.form import FollowUp as FollowUp
    from karat.judging.forms.form import Form as Form
    from karat.judging.forms.form_data import form_from_data as form_from_data
    from karat.judging.forms.form_data import form_to_data as form_to_data
    from karat.judging.forms.form_files import FORMS as FORMS
    from karat.judging.forms.form_files import load_form as load_form
    from karat.judging.forms.form_files import save_form as save_form

__all__, __getattr__, __dir__ = exports(__name__, __file__)
