"""All cases."""

import cases_charsets  # noqa: F401
import cases_depend  # noqa: F401
import cases_empty  # noqa: F401
import cases_graphs  # noqa: F401
import cases_inputs  # noqa: F401
import cases_lengths  # noqa: F401
import cases_lost  # noqa: F401
import cases_markup  # noqa: F401
import cases_more  # noqa: F401
import cases_numbers  # noqa: F401
import cases_pages  # noqa: F401
import cases_parts  # noqa: F401
import cases_records  # noqa: F401
import cases_requests  # noqa: F401
import cases_sends  # noqa: F401
import cases_states  # noqa: F401
import cases_tables  # noqa: F401
import unseen  # noqa: F401
from case import CASES, UNSEEN  # noqa: F401
