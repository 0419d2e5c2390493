"""Figures of a company's accounts, found in its statements and computed. The statements are made
up; the questions have the forms of FinanceBench (patronus-ai/financebench, data/*.jsonl)."""

import pytest

from trivium.answer.accounts import companies, compute
from trivium.answer.metrics import read
from trivium.answer.reported import find

from .making import passage

INCOME = passage(
    1,
    "Consolidated Statements of Income (in millions, except per share data)\n\n"
    "Year ended June 30 | 2021 | 2020 | 2019\n"
    "Net sales | $1,250 | $1,000 | $800\n"
    "Cost of goods sold | 750 | 640 | 500\n"
    "Gross profit | 500 | 360 | 300\n"
    "Operating income | 200 | 120 | 100\n"
    "Net income (loss) | 150 | (50) | 80\n"
    "Basic earnings per share | $1.50 | $(0.50) | $0.80",
    pages=(40,),
)
BALANCE = passage(
    2,
    "Consolidated Balance Sheets (in millions)\n\n"
    "– | June 30, | June 30,\n"
    "– | 2021 | 2020\n"
    "Inventories | 130 | 110\n"
    "Total current assets | 600 | 500\n"
    "Property, plant and equipment, net | 900 | 850\n"
    "Total assets | $2,000 | $1,800\n"
    "Accounts payable | 90 | 70\n"
    "Total current liabilities | 300 | 400",
    pages=(42,),
)
CASH = passage(
    3,
    "Consolidated Statements of Cash Flows (in millions)\n\n"
    "Year ended June 30 | 2021 | 2020\n"
    "Net income (loss) | 150 | (50)\n"
    "Depreciation and amortization | 60 | 55\n"
    "Inventories | (20) | 5\n"
    "Accounts payable | 20 | (3)\n"
    "Net cash provided by operating activities | 260 | 130\n"
    "Purchases of property, plant and equipment | (95) | (80)\n"
    "Net cash used in investing activities | (95) | (80)\n"
    "Net cash used in financing activities | (120) | (10)",
    pages=(44,),
)
REPORT = (INCOME, BALANCE, CASH)


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("What is the FY2021 capital expenditure (in USD millions) for Hollin?", "95 million"),
        ("What is Hollin's year end FY2020 net PPNE? Answer in USD billions.", "0.85 billion"),
        ("What is Hollin's FY2021 COGS % margin?", "60.0 %"),
        ("What was Hollin's operating margin in 2020?", "12.0 %"),
        ("By what percentage did Hollin's revenue grow from 2020 to 2021?", "25.0 %"),
        ("What is the FY2019 - FY2021 3 year average net profit margin (in %) of Hollin?", "5.7 %"),
        ("What is Hollin's FY2021 inventory turnover ratio?", "6.25"),
        ("What is the FY2021 free cash flow of Hollin in USD millions?", "165 million"),
        ("What is the 2 year revenue CAGR of Hollin from FY2019 to FY2021 in percent?", "25.0 %"),
        ("How much were inventories of Hollin at the end of FY2021?", "130 million"),
        (
            "What is Hollin's FY2021 days payable outstanding (DPO)? DPO is defined as: 365 *"
            " (average accounts payable between FY2020 and FY2021) / (FY2021 COGS + change in"
            " inventory between FY2020 and FY2021). Round your answer to two decimal places.",
            "37.92",
        ),
        (
            "What is Hollin's FY2021 working capital ratio? Define working capital ratio as total"
            " current assets divided by total current liabilities.",
            "2.00",
        ),
    ],
)  # fmt: skip
def test_a_metric_is_computed_from_the_cells_of_the_statements(question: str, shown: str) -> None:
    metric = read(question)
    assert metric is not None
    computed = compute(metric, REPORT)
    assert computed is not None
    assert f"{shown} " in computed.text.replace("$", "")


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        (
            "Does Hollin have an improving operating margin profile as of FY2021? If it isn't a"
            " useful metric, state that.",
            "Yes. Change in operating margin, 2020–2021: 4.0 percentage points (12.0 % → 16.0 %)",
        ),
        (
            "Did Hollin's PPNE shrink between FY20 and FY21?",
            "No. Change in property, plant and equipment, 2020–2021: 50 million (+5.9 %)",
        ),
        ("Did Hollin have negative working capital in FY2020?", "No. Working capital, 2020: $100"),
        ("Was Hollin's net income positive in FY2020?", "No. Net income, 2020: -$50 million"),
        (
            "Which year had the higher gross margin for Hollin, 2020 or 2021?",
            "2021: the highest gross margin, 40.0 % (2020: 36.0 %)",
        ),
        (
            "In which fiscal year between 2019 and 2021 was Hollin's net income lowest?",
            "2020: the lowest net income, -$50 million (2019: $80 million; 2021: $150 million)",
        ),
        (
            "Among operations, investing, and financing activities, which brought in the most (or"
            " lost the least) cash flow for Hollin in FY2021?",
            "Cash from operations, 2021: the highest, 260 million (cash from investing: -95",
        ),
        (
            "What was the year-on-year change of Hollin's inventory in FY2021?",
            "Change in inventories, 2020–2021: 20 million (+18.2 %)",
        ),
        (
            "Is Hollin a capital-intensive business based on FY2021 data?",
            "Capital intensity, 2021: 7.6 % = capital expenditure / revenue",
        ),
        (
            "Answer as an equity analyst: what is Hollin's FY2021 D&A (from cash flow) % margin?",
            "Depreciation and amortization / revenue, 2021: 4.8 %",
        ),
    ],
)
def test_other_ways_to_ask_of_figures(question: str, begins: str) -> None:
    metric = read(question)
    assert metric is not None
    computed = compute(metric, REPORT)
    assert computed is not None
    assert computed.text.replace("$", "").startswith(begins.replace("$", ""))


def test_columns_of_a_part_of_a_year_dont_count() -> None:
    """Nor the columns of a table that stands above without a gap."""
    quarters = passage(
        1,
        "(in millions) | December 31, 2021 | December 31, 2020\n"
        "Goodwill | $70 | $60\n"
        "(in millions) | Three months ended December 31, 2021 | Year ended 2021 | Year ended 2020\n"
        "Net sales | $300 | $1,250 | $1,000",
    )
    assert find("revenue", (2021, 2020), (quarters,))[2021].cell == "$1,250"
    report = passage(
        2,
        "(in millions) | 2021 | 2020\nNet sales | $300 | $280\nCost of sales | 100 | 90",
        title="Hollin Inc., Form 10-Q, March 31, 2021",
    )
    assert find("revenue", (2021,), (report,)) == {}


def test_the_answer_shows_formula_and_cells_with_their_pages() -> None:
    metric = read("What was the FY2021 current ratio of Hollin?")
    assert metric is not None
    computed = compute(metric, REPORT)
    assert computed is not None
    assert computed.text == (
        "Current ratio, 2021: 2.00 = total current assets / total current liabilities"
        " (Total current assets, 2021: 600 million (p. 42);"
        " Total current liabilities, 2021: 300 million (p. 42))"
    )


def test_a_line_that_two_statements_have_comes_from_its_own() -> None:
    """In a cash flow statement, inventories are a change."""
    assert find("inventories", (2021, 2020), REPORT)[2021].cell == "130"
    assert find("inventories", (2021, 2020), REPORT)[2020].passage is BALANCE


@pytest.mark.parametrize(
    "question",
    [
        "What is the FY2018 capital expenditure of Hollin?",  # a year that isn't reported
        "What is Hollin's FY2021 return on equity?",  # no line has the equity
        "What was Hollin's FY2021 effective tax rate?",
    ],
)
def test_a_figure_that_is_not_reported_is_not_made_up(question: str) -> None:
    metric = read(question)
    assert metric is not None
    assert compute(metric, REPORT) is None


@pytest.mark.parametrize(
    "question",
    [
        "How many lamps were made in 1969?",
        "What was the revenue in the South in 2023?",
        "Who founded Microsoft in 1975?",
        "What is the price of a longsword?",
        "",
        "FY2020 " * 50,
        # a part of the revenue, and the assets of another company
        "How much did Hollin's Lamp Systems revenue grow from 2020 to 2021, in percent?",
        "What was FY2021 goodwill as a percentage of total assets acquired with Brandt?",
        "Did Hollin's wages as a percent of net sales increase in FY2021?",  # no statement has them
        "What is the quick ratio of Hollin for Q2 of FY2021?",
        "What drove the gross margin change of Hollin in FY2021?",
    ],
)
def test_other_questions_are_no_metric(question: str) -> None:
    assert read(question) is None


def test_a_company_is_named_by_the_question() -> None:
    assert companies("What is the FY2018 capex for 3M? Round your answer.") == ["3M"]
    assert companies("Based on the P&L, what is Best Buy's FY2019 revenue?") == ["Best Buy"]
    assert companies("Aon's revenue in 2010?") == ["Aon"]
    assert companies("Does Aon have positive working capital in FY2010?") == ["Aon"]


def test_costs_may_be_reported_as_negative_figures() -> None:
    statement = passage(
        1,
        "Consolidated Statements of Income (in millions)\n\n"
        "Year ended June 30 | 2023 | 2022\n"
        "Net sales | $1,000 | $900\n"
        "Cost of sales | (810) | (720)",
    )
    metric = read("Does Amble have an improving gross margin as of FY2023?")
    assert metric is not None
    computed = compute(metric, (statement,))
    assert computed is not None
    assert computed.text.startswith("No.")
    assert "19.0 %" in computed.text
