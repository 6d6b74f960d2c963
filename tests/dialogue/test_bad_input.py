"""Malformed arguments, row by row: what has one meaning is read and told, the rest is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.talk import BOXES, check_reply, planned, texts_of, toolbox, write

from todoplan.core.plan.model import Status
from todoplan.core.plan.plan import Plan
from todoplan.dialogue.calls import Call
from todoplan.dialogue.intake import MOST_KEPT, InputLimits

GOOD = [{"content": "a", "status": "pending"}, {"content": "b", "status": "in_progress"}]
TOOLS = {"write_todos": "todos", "read_todos": "todos", "plan": "lean"}


def send(arguments, tool="write_todos", plan=None, *, policy="default", **options):
    """Send arguments as they are, and hold the reply to what every reply keeps."""
    plan = Plan() if plan is None else plan
    reply = toolbox(TOOLS.get(tool, "tasks"), policy, **options).call(plan, tool, arguments)
    check_reply(plan, reply)
    return reply


def codes(reply):
    """Return the codes of the problems, or of the repairs where there are none."""
    return [each.code for each in reply.problems or reply.repairs]


def todos(*entries):
    """Return the arguments of a whole-list write."""
    return {"todos": [*entries]}


def entry(**fields):
    """Return the arguments of a write of one entry, "a" unless it has another title."""
    return todos({"content": "a", **fields})


def ends(given):
    """Return the arguments of an update that adds these blockers to task 4."""
    return {"taskId": "4", "addBlockedBy": given}


def state(plan):
    """Return the subjects; behind a status other than pending, its first letters and a colon."""
    marks = {Status.PENDING: "", **{one: f"{one.value[:2]}:" for one in [*Status][1:]}}
    return [f"{marks[task.status]}{task.subject}" for task in plan]


def encoded(value, levels):
    """Return JSON text of JSON text, so many levels deep."""
    for _ in range(levels):
        value = json.dumps(value)
    return value


# -------- read and told --------

TEXTS = [
    ("{'todos': [{'content': \"a\", 'status': 'pending', 'priority': None}], 'clear': False}",
     "python_repr"),
    ("{'todos': [{'content': '\\x61', 'status': 'pending',},],}", "python_repr"),
    ("{'todos': ['a'], 'todos': ['a']}", "python_repr"),
    ('{todos: ["a"], clear: false}', "python_repr"),
    ('{todos: [{content: "a", status: "pending", priority: null}]}', "python_repr"),
    ('{"todos": ["a",],}', "trailing_comma"),
    ('```\n{"todos": ["a",]}\n```', "code_fence trailing_comma"),
    ('{"todos": [/* one */ "a"] // the end\n}', "noise"),
    ('{"todos": ["a"]} /* cut', "noise"),
    ('```json\n{"todos": ["a"]}\n```', "code_fence"),
    ('```\n{"todos": ["a"]}```', "code_fence"),
    ('Sure, here it is: {"todos": ["a"]}', "prose"),
    ('Here:\n```json\n{"todos": ["a"]}\n```', "prose code_fence"),
    (b'Here: {"todos": ["a",]}', "prose trailing_comma"),
    ("Here: {todos: ['a']}", "prose python_repr"),
    ('{"todos": ["a"]}</parameter>', "closing_tags"),
    ('{"todos": ["a"]}</todos>\n</invoke>', "closing_tags"),
    ('{"todos": ["a"]}</invoke></function_calls>\n', "closing_tags"),
    ('{"todos": [{"content": "a"}]', "last_brace"),
    ("{'todos': ['a']", "last_brace python_repr"),
    ("{'todos': ['a\x00']}", "python_repr hidden_characters"),
    (r"{'todos': ['a\x00']}", "python_repr hidden_characters"),
    (json.dumps("- [ ] a"), "bare_list checklist"),
    (b'\xef\xbb\xbf{"todos": ["a"]}', ""),
    ('\ufeff{"todos": ["a"]}', ""),
    (bytearray(b'{"todos": {"content": "a"}}'), "bare_entry"),
    ('{"todos": [{"content": "a", "content": "a"}]}', ""),
]  # fmt: skip
CONTAINERS = [
    ({"todos": {"content": "a"}}, "bare_entry"),
    ({"content": "a", "status": "todo"}, "bare_entry word"),
    ([{"content": "a"}], "bare_list"),
    ({"arguments": {"todos": ["a"]}}, "wrapper"),
    ({"input": {"todos": ["a"]}}, "wrapper"),
    ({"arguments": '{"todos": ["a"]}'}, "wrapper json_text"),
    ({"name": "write_todos", "arguments": {"todos": ["a"]}}, "wrapper"),
    ({"id": "call_1", "type": "tool_use", "name": "write_todos", "input": {"todos": ["a"]}},
     "wrapper"),
    ({"type": "function", "function": {"name": "x", "arguments": '{"todos": ["a"]}'}},
     "wrapper wrapper json_text"),
    ({"input": {"args": {"params": {"todos": ["a"]}}}}, "wrapper wrapper wrapper"),
    ({"arguments": ["a"]}, "wrapper bare_list"),
    ({"todos": {"items": {"tasks": ["a"]}}}, "wrapper wrapper"),
    ({"todos": '["a"]'}, "json_text"),
    ({"todos": {"todos": "- [ ] a"}}, "wrapper checklist"),
    ({"input": "- [ ] a"}, "wrapper bare_list checklist"),
    ({"todos": ["a"], "input": "x"}, "ignored_key"),
    (todos('{"content": "a"}'), "json_text"),
    *((encoded(todos("a"), levels), "json_text" if levels > 1 else "") for levels in (1, 2, 3, 4)),
    *(({"todos": encoded(["a"], levels)}, "json_text") for levels in (1, 2, 3)),
]  # fmt: skip
ENTRIES = [
    (todos("[ ] a"), "box"),
    (entry(), ""),
    (entry(status=None, priority=None, activeForm=None, id=None, title=None), ""),
    (entry(status="null", priority="None"), "absent_word absent_word"),
    (entry(description="why"), "ignored_key"),
    (todos({"description": "why", "content": "a"}), "ignored_key"),
    (entry(activForm="x", zzz=1), "ignored_key ignored_key"),
    (entry(activeForm="x", active_form="x"), ""),
    (todos("a</parameter>\n</invoke> "), "closing_tags"),
    (entry(status="todo</parameter>"), "closing_tags word"),
    (todos("a\x00"), "hidden_characters"),
    *((todos(f"a{hidden}"), "hidden_characters")
      for hidden in ("\u202e", "\u2066", "\u2069", "\U000e0041", "\U000e007f")),
    *((entry(status=word), "word") for word in ("todo", "open", "not_started", "Pending", "[ ]")),
    *((entry(**{key: "doing a"}), "")
      for key in ("activeForm", "active_form", "active-form", "ActiveForm", "ACTIVE FORM")),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "repairs"), [*TEXTS, *CONTAINERS, *ENTRIES])
def test_what_has_one_meaning_is_read_and_that_is_told(raw, repairs):
    """Python, commas, fences, prose, wrappers, spellings: one task "a", and each repair by name."""
    reply = send(raw)
    assert state(reply.plan) == ["a"]
    assert codes(reply) == repairs.split()
    assert ("note: " in reply.text) == bool(repairs)


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        (todos(*GOOD), ["a", "in:b"]),
        (todos(*map(json.dumps, GOOD)), ["a", "in:b"]),
        ({"todos": "- [ ] a\n* [~] b\n\n3. [x] c"}, ["a", "in:b", "co:c"]),
        ({"todos": {"todos": "- [ ] a\n- [x] b"}}, ["a", "co:b"]),
        ({"input": "- [ ] a\n- [x] b"}, ["a", "co:b"]),
        (todos("[x] a", "b"), ["co:a", "b"]),
        *(({"todos": text}, ["a", "b", "c"])
          for text in ("1. a\n2. b\n3. c", "1) a\n\n2) b\n3) c\n", "- a\n- b\n- c")),
        (todos("[urgent] fix it", "{name} is empty", "{a: 1}", "Here: {}"),
         ["[urgent] fix it", "{name} is empty", "{a: 1}", "Here: {}"]),
        *((todos(text, "c"), [text, "c"])
          for text in ("1. a", "* a", "1. a\n3. b", "  - a\n- b", "Do:\n1. a\n2. b", "None",
                       "use <b></b>", "\U0001f468\u200d\U0001f469 \u0646\u200c\u0647")),
        (todos({"content": 404}, {"content": 1.5}), ["404", "1.5"]),
        ('{"todos": ["a, ] // b /* \\" */",]}', ['a, ] // b /* " */']),
        (r"{'todos': [{'content': 'see http://x.org/[1,] C:\d \\d'}]}",
         [r"see http://x.org/[1,] C:\d \d"]),
        ('{"todos": ["a\nb"]}', ["a\nb"]),
        ('{"todos": ["ü"]}'.encode("utf-8-sig"), ["ü"]),
        ('{"todos": ["\\ud83d\\ude00 \\ud83d"]}', ["\U0001f600 \ufffd"]),
        (todos("\ud83d\ude00"), ["\U0001f600"]),
        (r"{'todos': ['b\ud800']}", ["b\ufffd"]),
        (b'{"todos": ["a\xff"]}', ["a\ufffd"]),
        (todos("a\x00b", "c\x1b[31m\x85d"), ["ab", "c\x1b[31m\x85d"]),
    ],
)  # fmt: skip
def test_what_stands_in_a_text_or_a_title_is_kept(raw, wanted):
    """Statuses, quotes, brackets, joiners, half a pair: none of it is taken for syntax."""
    assert state(send(raw).plan) == wanted


SPELLINGS = {
    "in_progress": "in-progress IN_PROGRESS doing active started InProgress",
    "completed": "Done completed finished COMPLETE ✓ [x]",
    "cancelled": "canceled skipped",
    "failed": "failed Failure error",
}


@pytest.mark.parametrize(
    ("word", "status"),
    [(word, status) for status, words in SPELLINGS.items() for word in words.split()],
)
def test_status_spellings(word, status):
    """Known words are read, and told unless they are the word itself."""
    reply = send(entry(status=word))
    assert reply.plan["1"].status == status
    assert ("note" in reply.text) == (word != status)


OTHERS = [
    ("plan", {"add": "Buy flowers"}, ["Buy flowers"], "took one entry at add as a list"),
    ("plan", '{"add": ["a", "b"]', ["a", "b"], "note: added the last brace of the arguments"),
    ("plan", "{'add': ['a', 'b']", ["a", "b"], "note: added the last brace of the arguments"),
    *(("plan", {"add": ["a"], "wait": schema}, ["a"], "ignored wait")
      for schema in ({"type": "object", "description": "id: why"}, {"id": "why"})),
    ("plan", {"write": "1. a\n2. b"}, ["a", "b"], "as a checklist"),
    ("plan", ["a", "b"], ["a", "b"], "took the bare list as write"),
    ("TaskCreate", {"tasks": "1. a\n2. b"}, ["a", "b"], "as a checklist"),
    ("TaskCreate", [{"subject": "a"}], ["a"], "took the bare list as tasks"),
    ("TaskCreate", '{"subject": "b", "activeForm": "doing b"', ["b"], "added the last brace"),
    ("TaskCreate", {"name": "TaskCreate", "arguments": {"subject": "a"}}, ["a"], "of a wrapper"),
    ("write_todos", entry(activForm="x"), ["a"],
     "ignored todos[0].activForm; did you mean activeForm?"),
    ("write_todos", {"todos": ["a"], **{f"x{n}": n for n in range(40)}}, ["a"], "and 37 more"),
    ("write_todos", entry(status="null"), ["a"], 'read todos[0].status "null" as not given'),
    ("write_todos", entry(content=404), ["404"],
     "note: read the number 404 at todos[0].content as text"),
    ("write_todos", b'{"todos": ["a\xff"]}', ["a\ufffd"], "note: replaced broken characters"),
    ("write_todos", {"todos": '["a"]'}, ["a"], "note: read a JSON text at todos as its value"),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "raw", "wanted", "words"), OTHERS)
def test_what_is_read_otherwise_is_told_in_words(tool, raw, wanted, words):
    """By every tool that takes entries; three repairs are named, the others counted."""
    reply = send(raw, tool)
    assert texts_of(reply.plan) == wanted
    assert words in reply.text
    assert len(reply.text) < 200


def test_free_text_that_looks_like_json_stays_text():
    """Where a text is asked for, nothing is decoded."""
    reply = send({"subject": '{"a": 1}', "description": "[1, 2]"}, "TaskCreate")
    assert (reply.plan["1"].subject, reply.plan["1"].description) == ('{"a": 1}', "[1, 2]")
    assert not reply.repairs


def test_metadata_is_an_object_or_the_text_of_one():
    """Strict schemas ask for the text; broken characters in it are replaced as anywhere."""
    reply = send({"subject": "a", "metadata": '{"k": [1, null]}'}, "TaskCreate")
    assert (dict(reply.plan["1"].metadata), reply.repairs) == ({"k": (1, None)}, ())
    reply = send({"subject": "a", "metadata": {"\ud800": "\udfff"}}, "TaskCreate")
    assert dict(reply.plan["1"].metadata) == {"\ufffd": "\ufffd"}


@pytest.mark.parametrize(
    "given", [3, "3", "#3", "task-3", "Task #3", 3.0, " 3 ", "03", "# 3", "3.0"]
)
def test_ids(given):
    """An id has one form however it is spelled; a spelling of text is told."""
    reply = send({"taskId": given}, "TaskGet", planned("a", "b", "c"))
    assert "Task #3: c" in reply.text
    assert bool(reply.repairs) == (isinstance(given, str) and given != "3")


@pytest.mark.parametrize(
    ("given", "blockers"),
    [
        *(("1,2", "12"), ("1 and 2", "12"), ("1, 2 and 3", "123"), ("1 2", "12"), ("task 3", "3")),
        *(([[1]], "1"), ({"id": 1}, "1"), ([{"id": 1}, {"taskId": "#2"}], "12"), ([1, "2"], "12")),
        *((1, "1"), ("[1, 2]", "12"), ('"[1]"', "1"), (["1", "1", "#1"], "1"), ("none", "")),
    ],
)
def test_id_lists(given, blockers):
    """Lists of ids are split and unwrapped, and what was not a list is told; one twice is one."""
    reply = send(ends(given), "TaskUpdate", planned(*"abcd"))
    assert reply.plan["4"].blocked_by == tuple(blockers)
    assert bool(reply.repairs) == (given != [1, "2"])
    assert ("repeated_id" in codes(reply)) == (given == ["1", "1", "#1"])


def test_ids_are_numbers_in_order():
    """10 comes after 2, in lists and in receipts."""
    reply = send({"done": [10, 2, 11]}, "plan", planned(*"abcdefghijk"))
    assert reply.text.startswith("3/11: #2, #10-#11 completed; #1 started")


# -------- refused --------

LONG = "{'a': 1" + " " * 70_000 + "}"
ITSELF = {}
ITSELF["todos"] = [ITSELF, ITSELF]
DEEP = []
for _ in range(100_000):
    DEEP = [DEEP]
NO_LISTS = [
    *("null", "undefined", "None", "true", "x", "same as before", "[object Object]", "[a, b, c]"),
    *("{content: 'Write', status: 'pending'}", "[1, 2", "<todos><todo>a</todo></todos>", "..."),
    *("- only one", "Write, test, ship", "- [ ] a\nb", "1. a", "1. a\n3. b", "  - a\n- b"),
]
LEAKS = ('<parameter name="status">', '<parameter  name = "x">')
REFUSED = {
    "not_json": [
        *(LONG, "[" + "-" * 60_000 + "1]", "[" + "1+" * 30_000 + "1]", "{[1]: 2}", "[f()]"),
        *("[a for a in b]", "{1: 'a'}", "[{1, 2}]", "['a', # and the rest\n'b']", "{**{'a': 1}}"),
        *("write the parser", 'Here: ["a"] and {"todos": ["b"]}', "{todos: [a: 1]}", "{None: 1}"),
        "Here: `a`",
        *({"todos": text} for text in ('[{"content": "a" "b"}]', '[{"content" "a"}]', '["a" "b"]',
                                       "['a', 'b' 'c']")),
    ],
    "truncated": [
        *('{"todos": [{"content": "a", "status":"pen', '{"todos": [{"content": "a"}', "["),
        *('{"todos": [{"content": "a\\', '```json\n{"todos": [{"content": "a"', '"{\\"todos\\": '),
        *("{'todos': [{'content': 'a'", 'Here: {"todos": ["a"', 'Here: "{"todos": ["a"]}'),
        *("Here: {todos: [{content: 'a', sta", todos("a", '{"content": "b')),
        *({key: text} for key in ("todos", "arguments") for text in (
            '[{"content": "a", "stat', "[{'content': 'a'", '"[{\\"content\\": \\"a',
            '{"content": "a', '["a", ["b"')),
        ("TaskUpdate", ends('[[1], "2')),
        ("TaskCreate", {"subject": "a", "metadata": '{"k": '}),
        *(("plan", raw) for raw in ('{"done": [1], "wait": {"2": "x"', '{"done": [1], "fail": [2')),
    ],
    "duplicate_key": [
        "{'todos': ['a'], 'todos': ['b']}",
        *(f'{{"todos": [{{"content": {pair}}}]}}'
          for pair in ('"a", "content": "b"', '1, "content": true')),
    ],
    "no_list": [
        *({"todos": text} for text in NO_LISTS),
        *(("plan", {"add": text}) for text in ("null", " ", "[object Object]", "a\nb")),
    ],
    "missing_field": [
        *({"todos": None}, {"x": None}, entry(content=None), None, "", "  ", "{}", {}, "null", b""),
        {"arguments": None},
        *((tool, nothing) for tool in ("TaskCreate", "TaskUpdate") for nothing in ("", {}, None)),
        ("TaskGet", {"taskId": "none"}),
        ("TaskGet", {"taskId": None}),
    ],
    "wrong_type": [
        *(5, {"todos": 5}, todos(None), todos(5), entry(content=True), entry(content=["a"])),
        *(entry(content={}), entry(status=1), entry(status=True), entry(status=[])),
        *({"todos": [], "clear": flag} for flag in ("maybe", 2, [], 0.5)),
        *(("TaskCreate", {"subject": "a", "metadata": wrong}) for wrong in ("x", 3, [1])),
        *(("plan", [1]), ("TaskList", ["a"])),
    ],
    "unknown_status": [entry(status=word) for word in ("gone", "changes_made", "blockage", "✗",
                                                       "deleted")],
    "unknown_priority": [todos({"content": "a", "priority": "whatever"},
                               {"content": "b", "priority": "P1"})],
    "bad_id": [
        *(("TaskGet", {"taskId": wrong})
          for wrong in (True, False, 3.5, "\uff13", "²", "-3", -3, 0, "0", "x", "3x", [3], {},
                        "1.5")),
        *(("TaskUpdate", ends(wrong))
          for wrong in ([None], [[1, 2]], [{"id": 1, "x": 2}], [{"x": 1}], "x", [True],
                        [[[1]]], [["\uff13"]], {})),
    ],
    "bad_number": [
        ("TaskGet", {"taskId": 10**18}),
        *(("TaskCreate", {"subject": "a", **place})
          for value in (float("nan"), float("inf"), 10**5_000, -(10**18))
          for place in ({"estimate": value}, {"metadata": {"k": [value]}})),
    ],
    "conflicting_keys": [
        entry(activeForm="x", active_form="y"),
        todos({"content": "1", "title": 1}),
        todos({"content": 1, "title": 1.0}),
        ("TaskCreate", {"subject": "a", "metadata": {"k": 1, "k\x00": 2}}),
    ],
    "wrapper_siblings": [("plan", {"arguments": {"done": [1]}, "drop": [2]})],
    "too_deep": [
        ("plan", {"input": {"input": {"input": {"input": {"done": [1]}}}}}),
        {"todos": encoded(["a"], 4)},
        {"todos": DEEP},
        *(place for depth in (33, 500, 100_000)
          for place in ("[" * depth + "]" * depth, {"todos": "[" * depth + "]" * depth})),
    ],
    "too_large": ['"' + "a" * 1_048_576, b"x" * 1_048_577, todos(*["a" * 600_000] * 2)],
    "too_many": [todos(*["a"] * 1_001), ("TaskUpdate", ends([*range(1, 1_002)]))],
    "swallowed_field": [
        *(place for tag in LEAKS
          for place in (todos(f"a{tag}done"), entry(status=f"done{tag}"),
                        ("TaskCreate", {"subject": "a", "metadata": {"k": [f"x{tag}"]}}))),
    ],
    "empty_text": [todos("\u202e"), todos(" "), todos("\x00")],
    "empty_write": [{"todos": []}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("code", "raw"), [(code, raw) for code, raws in REFUSED.items() for raw in raws]
)
def test_what_has_no_one_meaning_is_refused_with_its_code(code, raw):
    """What is cut off, says nothing, contradicts itself or has a wrong type: never a guess."""
    tool, arguments = raw if isinstance(raw, tuple) else ("write_todos", raw)
    reply = send(arguments, tool, planned(*"abcd"))
    assert {*codes(reply)} == {code}
    assert ("Send fewer tasks in one call" in reply.text) == (code in {"truncated", "too_large"})


WORDS = [
    ("write_todos", entry(status="gone"), "todos[0].status: "),
    ("write_todos", entry(status=1), "pending, in_progress, completed, cancelled"),
    ("write_todos", entry(priority="x"), "high, medium, low"),
    ("write_todos", {}, "todos: is missing."),
    ("write_todos", entry(activeForm="x", active_form="y"),
     'todos[0].activeForm: given twice in different words ("active_form"'),
    ("write_todos", {"todos": "x"}, "which is no list; send the list itself"),
    ("write_todos", {"todos": "x"}, 'Correct, for example: {"todos"'),
    ("write_todos", {"todos": []}, "send clear: true"),
    ("write_todos", todos(*["a"] * 1_001), "1001 entries in one call; at most 1000"),
    ("write_todos", todos("a" * 501), "subject of 501 characters; at most 500"),
    ("write_todos", b"x" * 1_048_577, "1048576"),
    ("write_todos", todos(*[5] * 100), "and 90 more like these."),
    ("plan", ["c"], "arguments: is a list; it should be an object."),
    ("TaskUpdate", ends("1;x"), "addBlockedBy["),
    ("TaskUpdate", ends(["9"]), "There is no task 9; the ids are: 1, 2, 3, 4."),
    ("TaskUpdate", ends(["4"]), "Task 4 cannot wait for itself"),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "arguments", "words"), WORDS)
def test_a_refusal_says_where_what_was_seen_and_what_is_allowed(tool, arguments, words):
    """In words that name the place in the model's own names."""
    reply = send(arguments, tool, planned(*"abcd"))
    assert reply.is_error
    assert words in reply.text


def test_all_problems_at_once():
    """Every fault is named with its path, and a correct example follows."""
    reply = write([{"content": "", "status": "x"}, {"status": "y"}, 5])
    wanted = "empty_text unknown_status missing_field unknown_status wrong_type"
    assert codes(reply) == wanted.split()
    for path in ("todos[0].content: ", "todos[0].status: ", "todos[1].content: ", "todos[2]: "):
        assert path in reply.text
    assert 'Correct, for example: {"todos"' in reply.text


def test_too_many_wrappers_and_what_stands_beside_one():
    """A fifth list within lists is none, nor is a list with another key beside it."""
    nested = {"todos": {"todos": {"todos": {"todos": {"todos": ["a"]}}}}}
    for raw in (nested, {"todos": {"todos": ["a"], "clear": True}}, {"x": 1}):
        assert "missing_field" in codes(send(raw))
    assert {*codes(send(ITSELF))} <= {"too_deep", "too_large"}
    for raw in ("[" * 500, {"todos": "[" * 100_000}):
        assert {*codes(send(raw))} <= {"too_deep", "truncated"}


def test_extra_keys_are_refused_in_strict_mode():
    """With the keys that there are."""
    strict = InputLimits(strict=True)
    reply = send(entry(activForm="x", zzz=1) | {"why": "because"}, limits=strict)
    assert codes(reply) == ["unknown_key"] * 3
    assert "todos[0].zzz: is no argument here; the arguments are content, status" in reply.text
    none = send({"x": 1}, "read_todos", limits=strict)
    assert "x: is no argument here; the arguments are none." in none.text
    assert codes(send(todos("a", "b"), limits=InputLimits(items=1))) == ["too_many"]


@pytest.mark.parametrize("nothing", [None, "", "  ", "{}", {}, "null", b"", {"arguments": None}])
def test_nothing_given_is_a_read_where_all_is_optional(nothing):
    """Frameworks send a call without arguments in many forms."""
    assert not send(nothing, "read_todos").is_error
    assert not send(nothing, "plan").is_error


def test_cycles_are_named():
    """A blocker that waits for the task itself is refused with the way around."""
    plan = send(ends(["1"]), "TaskUpdate", planned(*"abcd")).plan
    cycle = send({"taskId": "1", "addBlockedBy": ["4"]}, "TaskUpdate", plan)
    assert "1 -> 4 -> 1" in cycle.text


@pytest.mark.parametrize(
    ("arguments", "tool"),
    [
        ({"write": ["a", "b", "c"]}, "plan"),
        ({"add": ["c"]}, "plan"),
        ({"done": [1, 12]}, "plan"),
        ({"edit": [{"id": 2, "text": "B"}]}, "plan"),
        (todos(*GOOD, {"content": "c", "status": "pending"}), "write_todos"),
    ],
)
def test_a_call_that_is_cut_anywhere_is_read_as_meant_or_refused(arguments, tool):
    """
    A list whose bracket is missing is not closed: behind each entry but the last that would be
    another list.
    """
    text = json.dumps(arguments)
    plan = planned(*"ab" if "todos" in arguments or "write" in arguments else "abcdefghijkl")
    meant = send(text, tool, plan)
    assert not meant.is_error
    for end in range(1, len(text)):
        reply = send(text[:end], tool, plan)
        assert reply.is_error or reply.plan == meant.plan, text[:end]


@pytest.mark.parametrize("text", NO_LISTS)
def test_a_text_that_is_no_list_leaves_the_plan_alone(text):
    """Law 17: each of these once emptied a plan of five open tasks, and was answered with ok."""
    plan = planned(*"abcde")
    for reply in (
        write({"todos": text}, plan),
        send(json.dumps({"arguments": {"todos": text}}), plan=plan),
        send({"write": text}, "plan", plan),
        send({"tasks": text}, "TaskCreate", plan),
    ):
        assert codes(reply) == ["no_list"]
        assert "Correct, for example: {" in reply.text


# -------- guesses, law 17 --------

ONE = {"content": "f", "status": "completed"}
GUESSED = [
    ({"todos": ONE}, "took one entry at todos as a list"),
    ({"todos": json.dumps(ONE)}, "took one entry at todos as a list"),
    (ONE, "took one entry at todos as a list"),
    ([ONE], "took the bare list as todos"),
    (["a", "b"], "took the bare list as todos"),
    ({"todos": "- [x] a\n- [ ] f"}, "read todos as a checklist"),
    ({"todos": "1. a\n2. b"}, "read todos as a checklist"),
    ('"- [x] a"', "took the bare list as todos"),
    ({"todos": {"todos": [ONE]}}, "took todos out of a wrapper"),
    ({"todos": {"items": "- [x] a\n- [ ] b"}}, "took todos out of a wrapper"),
    ({"arguments": {"todos": [ONE]}}, "took the arguments out of a wrapper"),
    ({"input": [ONE]}, "took the arguments out of a wrapper"),
    ('{"todos": ["a" /* and the rest as before */]}', "dropped comments in"),
    ({"todos": '["a" // b and c stay\n]'}, "dropped comments in todos"),
    ('Only this: {"todos": ["a"]}', "dropped the text before the arguments"),
    ('{"todos": ["a"]', "added the last brace of the arguments"),
]


@pytest.mark.parametrize(("arguments", "guess"), GUESSED)
def test_a_guess_never_removes(arguments, guess):
    """Law 17: where the container was guessed, a task that the call does not name stays."""
    plan = planned(*"abcde")
    reply = send(arguments, plan=plan)
    assert codes(reply) == ["guessed_container"]
    assert set(reply.problems[0].task_ids) >= {"3", "4", "5"}
    assert guess in reply.text
    assert "would be lost, which it does not name" in reply.text
    assert "Correct, for example: " in reply.text
    assert not send(arguments).is_error


def test_a_guess_that_names_every_task_is_carried_out():
    """It may close what it names, and add; only what it leaves out is not to be removed by it."""
    plan = planned("a", "b")
    assert state(write("- [x] a\n- [ ] b\n- [ ] c", plan).plan) == ["co:a", "b", "c"]
    assert texts_of(write({"content": "a", "status": "done"}, planned("a")).plan) == ["a"]
    assert send({"arguments": {"todos": [], "clear": True}}, plan=plan).text.startswith("ok")
    done = write([{"content": "a", "status": "completed"}]).plan
    assert state(write("1. a\n2. b", done).plan) == ["co:a", "b"]
    dropped = send({"input": {"drop": [1]}}, "plan", plan)
    assert dropped.plan["1"].status is Status.CANCELLED
    gone = send({"input": {"taskId": 1, "status": "deleted"}}, "TaskUpdate", plan)
    assert texts_of(gone.plan) == ["b"]


def test_an_exact_text_of_a_list_is_no_guess():
    """A whole JSON text or Python literal says what is in it as clearly as the list does."""
    plan = planned("a", "b")
    comma = json.dumps([ONE])[:-1] + ",]"
    for text in (json.dumps([ONE]), json.dumps(json.dumps([ONE])), repr([ONE]), comma):
        assert texts_of(write(text, plan).plan) == ["f"]
    assert texts_of(send(f"```json\n{json.dumps({'todos': [ONE]})}\n```", plan=plan).plan) == ["f"]


@given(
    st.lists(st.sampled_from(["a", "b", "c", "- [x] d", "null"]), max_size=4),
    st.sampled_from(GUESSED),
    st.booleans(),
)
def test_no_call_with_a_guess_drops_a_task(titles, guessed, clear):
    """Whatever the plan: all that was in it is there afterwards."""
    plan = planned(*titles)
    arguments = guessed[0]
    if clear and isinstance(arguments, dict) and "todos" in arguments:
        arguments = arguments | {"clear": True}
    after = send(arguments, plan=plan).plan
    assert {task.id for task in plan} <= {task.id for task in after}


def test_many_findings_hide_no_guess():
    """Of thousands of repairs some are not kept; a guess always is."""
    many = {f"x{n}": n for n in range(1_200)}
    reply = send({**many, "todos": ONE}, plan=planned("a"))
    assert codes(reply) == ["guessed_container"]
    assert len(reply.repairs) == MOST_KEPT + 1


def test_a_bare_list_for_a_tool_with_several_lists():
    """It is not taken where it could mean several things: titles begin an empty plan."""
    begun = send(["a", "b"], "plan")
    for titles in (["c"], ["a"], ["b", "a"], ["a", "b", "c"]):
        assert codes(send(titles, "plan", begun.plan)) == ["wrong_type"]
    assert codes(send({"text": "a"}, "plan")) == ["ignored_key"]
    for arguments in ({"write": "1. c\n2. d"}, {"arguments": {"write": ["c"]}}):
        assert codes(send(arguments, "plan", begun.plan)) == ["guessed_container"]


# -------- and besides --------


def test_two_in_progress():
    """The policy says whether that is allowed; nothing is demoted."""
    both = todos(*({"content": text, "status": "in_progress"} for text in "ab"))
    reply = send(both)
    assert reply.plan.counts.in_progress == 2
    assert "Note: 2 tasks are in progress (#1-#2)" in reply.text
    assert "single_in_progress" in codes(send(both, policy="claude"))


def test_control_characters_are_never_shown_raw():
    """They are kept in the task, and a list has none of them."""
    plan = send(todos("a\x00b", "c\x1b[31m\x85d")).plan
    assert send({}, "read_todos", plan).text == "#1 [pending] ab\n#2 [pending] c d"


def test_parallel_writes():
    """Two whole lists in one turn are refused, both; other calls of the turn count."""
    plan = write(["a"]).plan
    calls = [
        Call("write_todos", {"todos": ["b"]}, "1"),
        Call("read_todos", {}, "2"),
        Call("write_todos", {}, "3"),
    ]
    turn = toolbox().turn(plan, calls)
    assert [reply.is_error for reply in turn.replies] == [True, False, True]
    assert turn.plan is plan
    assert "2 calls in this turn replace the whole list" in turn.replies[0].text


def test_a_plan_is_emptied_by_a_flag():
    """`clear`, also as a word."""
    plan = write(["a"]).plan
    assert texts_of(write([], plan, clear=True).plan) == []
    assert write([], plan, clear="true").text.startswith("ok, the list is empty")


def test_a_payload_is_never_echoed():
    """An error quotes at most forty escaped characters of what was sent."""
    secret = "payload " * 50
    for box in BOXES:
        for name in box.toolset.tool_names:
            for arguments in (secret, [secret], {"taskId": secret, "todos": [{"status": secret}]}):
                text = box.call(Plan(), name, arguments).text
                assert "payload payload payload payload payload" not in text
