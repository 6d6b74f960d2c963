from todoplan.core.problems import Problem


def test_problem_is_a_value():
    """Only the code is needed; equal fields make equal problems."""
    assert Problem("cycle") == Problem("cycle", (), "", "", "")
    assert len({Problem("cycle", ("1",)), Problem("cycle", ("1",)), Problem("cycle", ("2",))}) == 2
