"""The page of forgeries has a row for each forgery of the tests."""

from __future__ import annotations

from .forgery_table import PAGE, table


def test_the_page_lists_the_forgeries_of_the_tests():
    assert table() in PAGE.read_text(), "run python -m tests.verify.forgery_table and put what it prints into the page"
