"""A section of the report."""

from karat.reports.section import section

TEMPLATE = '<h2 id="toys-title">{{ title }}</h2>\n<p class="lead">{{ data.text }}</p>'


@section("toys", "Toys", "Toys", order=1000, scripted=False, template=TEMPLATE)
def collect(material):
    return {"text": f"<toys> of {', '.join(material.systems)}"}
