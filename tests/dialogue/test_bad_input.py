"""Every row of the table of malformed arguments: repaired and reported, or refused by path."""

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


def send(arguments, *, tool="write_todos", box="todos", plan=None, **options):
    """Send arguments as they are, and hold the reply to what every reply keeps."""
    plan = Plan() if plan is None else plan
    reply = toolbox(box, **options).call(plan, tool, arguments)
    check_reply(plan, reply)
    return reply


def codes(reply):
    """Return the codes of the problems, or of the repairs where there are none."""
    return [each.code for each in reply.problems or reply.repairs]


def ends(given, *, plan=None):
    """Return the reply to an update that adds these blockers to task 4 of four."""
    plan = plan or planned("a", "b", "c", "d")
    return send({"taskId": "4", "addBlockedBy": given}, tool="TaskUpdate", box="tasks", plan=plan)


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_a_json_text_of_a_json_text(levels):
    """A list, and all arguments, are unwrapped up to three times, and told; a fourth is refused."""
    listed, whole = GOOD, json.dumps({"todos": GOOD})
    for _ in range(levels):
        listed, whole = json.dumps(listed), json.dumps(whole)
    for reply in (write(listed), send(whole)):
        assert texts_of(reply.plan) == ["a", "b"]
        assert codes(reply) == ["json_text"]
    assert "note: read a JSON text at todos as its value" in write(listed).text
    if levels == 3:
        assert codes(write(json.dumps(listed))) == ["too_deep"]


def test_entries_that_are_json_texts():
    """They are read; free text that looks like JSON stays text."""
    assert texts_of(write([json.dumps(entry) for entry in GOOD]).plan) == ["a", "b"]
    reply = send({"subject": '{"a": 1}', "description": "[1, 2]"}, tool="TaskCreate", box="tasks")
    assert (reply.plan["1"].subject, reply.plan["1"].description) == ('{"a": 1}', "[1, 2]")
    assert not reply.repairs


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ("{'todos': [{'content': \"a\", 'status': 'pending', 'priority': None}], 'clear': False}",
         "python_repr"),
        ("{'todos': [{'content': '\\x61', 'status': 'pending',},],}", "python_repr"),
        ("{'todos': ['a'], 'todos': ['a']}", "python_repr"),
        ('{todos: ["a"], clear: false}', "python_repr"),
        ('{todos: [{content: "a", status: "pending", priority: null}]}', "python_repr"),
        ('{"todos": ["a",],}', "trailing_comma"),
        ('```\n{"todos": ["a",]}\n```', "trailing_comma"),
        ('{"todos": [/* one */ "a"] // the end\n}', "noise"),
        ('{"todos": ["a"]} /* cut', "noise"),
        ('```json\n{"todos": ["a"]}\n```', "code_fence"),
        ('```\n{"todos": ["a"]}```', "code_fence"),
        ('Sure, here it is: {"todos": ["a"]}', "prose"),
        ('Here:\n```json\n{"todos": ["a"]}\n```', "prose"),
        (b'Here: {"todos": ["a",]}', "prose"),
        ("Here: {todos: ['a']}", "prose"),
        ('{"todos": ["a"]}</parameter>', "closing_tags"),
        ('{"todos": ["a"]}</todos>\n</invoke>', "closing_tags"),
        ('{"todos": ["a"]}</invoke></function_calls>\n', "closing_tags"),
        ('{"todos": [{"content": "a"}]', "last_brace"),
        ("{'todos': ['a']", "last_brace"),
    ],
)  # fmt: skip
def test_a_text_with_one_meaning_is_read_and_that_is_told(raw, code):
    """Python, commas, comments, fences, prose, keys without quotes, leaked tags, a lost brace."""
    reply = send(raw)
    assert texts_of(reply.plan) == ["a"]
    assert code in codes(reply)
    assert "note: " in reply.text


LONG = "{'a': 1" + " " * 70_000 + "}"


@pytest.mark.parametrize(
    ("code", "raws"),
    [
        ("not_json", [
            LONG, "[" + "-" * 60_000 + "1]", "[" + "1+" * 30_000 + "1]", "{[1]: 2}", "[f()]",
            "[a for a in b]", "{1: 'a'}", "[{1, 2}]", "['a', # and the rest\n'b']",
            "{**{'a': 1}}", "write the parser",
            'Here: ["a"] and {"todos": ["b"]}', "{todos: [a: 1]}", "{None: 1}", "Here: `a`",
        ]),
        ("truncated", [
            '{"todos": [{"content": "a", "status":"pen', '{"todos": [{"content": "a"}',
            '{"todos": [{"content": "a\\', '```json\n{"todos": [{"content": "a"', "[",
            "{'todos': [{'content': 'a'", '"{\\"todos\\": ', 'Here: {"todos": ["a"',
            "Here: {todos: [{content: 'a', sta", 'Here: "{"todos": ["a"]}',
            {"todos": ["a", '{"content": "b']},
        ]),
        ("duplicate_key", ["{'todos': ['a'], 'todos': ['b']}"]),
    ],
)  # fmt: skip
def test_a_text_that_is_cut_off_or_has_no_one_meaning_is_refused(code, raws):
    """What ends within a list, an entry or a value is never closed."""
    for raw in raws:
        reply = send(raw)
        assert codes(reply) == [code], raw
        assert ("Send fewer tasks in one call" in reply.text) == (code == "truncated")


def test_a_list_that_is_cut_off_is_no_title():
    """Nor are ids and metadata read by halves; a bracketed title is a title."""
    for inner in ('[{"content": "a", "stat', "[{'content': 'a'", '"[{\\"content\\": \\"a',
                  '{"content": "a', '["a", ["b"'):  # fmt: skip
        assert codes(write(inner)) == codes(send({"arguments": inner})) == ["truncated"]
    assert codes(ends('[[1], "2')) == ["truncated"]
    metadata = {"subject": "a", "metadata": '{"k": '}
    assert codes(send(metadata, tool="TaskCreate", box="tasks")) == ["truncated"]
    for text in ('[{"content": "a" "b"}]', '[{"content" "a"}]', '["a" "b"]', "['a', 'b' 'c']"):
        assert codes(write(text)) == ["not_json"]
    for title in ("[urgent] fix it", "{name} is empty"):
        assert texts_of(write([title]).plan) == [title]


def test_the_last_brace_alone_may_be_missing():
    """Of other tools too; a number may have had more digits, and a list more entries."""
    for raw in ('{"add": ["a", "b"]', "{'add': ['a', 'b']"):
        reply = send(raw, tool="plan", box="lean")
        assert texts_of(reply.plan) == ["a", "b"]
        assert "note: added the last brace of the arguments" in reply.text
    new = '{"subject": "b", "activeForm": "doing b"'
    assert texts_of(send(new, tool="TaskCreate", box="tasks", plan=planned("a")).plan) == ["a", "b"]
    for raw in ('{"done": [1], "wait": {"2": "x"', '{"done": [1], "fail": [2'):
        refused = send(raw, tool="plan", box="lean", plan=planned("a", "b"))
        assert codes(refused) == ["truncated"]


def test_python_repr_keeps_what_looks_like_a_comment():
    """Inside a Python string `//` and `,]` are text; an unknown escape keeps its backslash."""
    reply = send(r"{'todos': [{'content': 'see http://x.org/[1,] C:\d \\d'}]}")
    assert texts_of(reply.plan) == [r"see http://x.org/[1,] C:\d \d"]


def test_python_repr_is_cleaned_as_json_is():
    """What hides in its texts is taken out, and told."""
    assert texts_of(send("{'todos': ['a\x00', 'b\ud800']}").plan) == ["a", "b\ufffd"]
    assert texts_of(send(r"{'todos': ['a\x00', 'b\ud800']}").plan) == ["a", "b\ufffd"]


def test_prose_removes_nothing():
    """The container is a guess, so that a list behind prose drops no task (law 17)."""
    plan = send('{"todos": ["a", "b"]}').plan
    reply = send('Only this: {"todos": ["a"]}', plan=plan)
    assert codes(reply) == ["guessed_container"]
    assert reply.plan is plan


def test_a_title_in_braces_is_a_title():
    """Keys without quotes are read in the arguments of a call only, not in a text of them."""
    assert texts_of(write(["{a: 1}", "Here: {}"]).plan) == ["{a: 1}", "Here: {}"]


def test_one_title_is_a_list_where_tasks_are_only_added():
    """A title to add is a list of one; a word for nothing, or a broken list, is none."""
    reply = send({"add": "Buy flowers"}, tool="plan", box="lean")
    assert texts_of(reply.plan) == ["Buy flowers"]
    assert "took one entry at add as a list" in reply.text
    for text in ("null", " ", "[object Object]", "a\nb"):
        assert codes(send({"add": text}, tool="plan", box="lean")) == ["no_list"]


@pytest.mark.parametrize("schema", [{"type": "object", "description": "id: why"}, {"id": "why"}])
def test_a_wait_that_repeats_its_schema_is_ignored(schema):
    """And that is told; the rest of the call is carried out."""
    reply = send({"add": ["a"], "wait": schema}, tool="plan", box="lean")
    assert texts_of(reply.plan) == ["a"]
    assert "ignored wait" in reply.text


def test_noise_within_strings_is_text():
    """Commas, comments and quotes within strings stay."""
    reply = send('{"todos": ["a, ] // b /* \\" */",]}')
    assert texts_of(reply.plan) == ['a, ] // b /* " */']


def test_bom_and_raw_newline():
    """A byte order mark is no matter, and a raw line end in a string is kept."""
    assert texts_of(send('\ufeff{"todos": ["a\nb"]}').plan) == ["a\nb"]
    assert texts_of(send('{"todos": ["ü"]}'.encode("utf-8-sig")).plan) == ["ü"]


@pytest.mark.parametrize(
    ("arguments", "tool", "box"),
    [
        ({"write": ["a", "b", "c"]}, "plan", "lean"),
        ({"add": ["c"]}, "plan", "lean"),
        ({"done": [1, 12]}, "plan", "lean"),
        ({"edit": [{"id": 2, "text": "B"}]}, "plan", "lean"),
        ({"todos": [*GOOD, {"content": "c", "status": "pending"}]}, "write_todos", "todos"),
    ],
)
def test_a_call_that_is_cut_anywhere_is_read_as_meant_or_refused(arguments, tool, box):
    """
    A list whose bracket is missing is not closed: behind each entry but the last that would be
    another list.
    """
    text = json.dumps(arguments)
    plan = planned(*"ab" if "todos" in arguments or "write" in arguments else "abcdefghijkl")
    meant = send(text, tool=tool, box=box, plan=plan)
    assert not meant.is_error
    for end in range(1, len(text)):
        reply = send(text[:end], tool=tool, box=box, plan=plan)
        assert reply.is_error or reply.plan == meant.plan, text[:end]


def test_a_list_without_the_last_brace_removes_nothing():
    """It may have had a further argument, so it is a guess (law 17)."""
    plan = planned("a", "b")
    assert codes(send('{"todos": ["a"]', plan=plan)) == ["guessed_container"]


@pytest.mark.parametrize("nothing", [None, "", "  ", "{}", {}, "null", b"", {"arguments": None}])
def test_nothing_given(nothing):
    """Nothing is a read where all is optional, and else a refusal that names what is missing."""
    assert not send(nothing, tool="read_todos").is_error
    assert not send(nothing, tool="plan", box="lean").is_error
    reply = send(nothing)
    assert codes(reply) == ["missing_field"]
    assert "todos: is missing." in reply.text
    assert codes(send(nothing, tool="TaskCreate", box="tasks")) == ["missing_field"]
    assert codes(send(nothing, tool="TaskUpdate", box="tasks")) == ["missing_field"]


def test_null_is_not_given():
    """`null` means not given, and never the task "None"."""
    given = {"content": "a", "status": None, "priority": None, "activeForm": None, "id": None}
    task = write([given]).plan["1"]
    assert (task.status, task.priority, task.active_form) == (Status.PENDING, None, None)
    assert codes(write([{"content": None}])) == ["missing_field"]
    assert codes(write([None])) == ["wrong_type"]
    assert codes(write(None)) == ["missing_field"]
    assert codes(ends([None])) == ["bad_id"]


def test_the_word_none():
    """The word "None" stays text in a title, and is not given, with a note, for an id or a word."""
    reply = write([{"content": "None", "status": "null", "priority": "None"}])
    assert texts_of(reply.plan) == ["None"]
    assert codes(reply) == ["absent_word", "absent_word"]
    assert 'note: read todos[0].status "null" as not given' in reply.text
    assert codes(send({"taskId": "none"}, tool="TaskGet", box="tasks")) == ["missing_field"]
    assert codes(ends("none")) == ["unwrapped", "absent_word"]


def test_missing_status_on_create():
    """It is pending, and nothing is said about it."""
    reply = write([{"content": "a"}])
    assert reply.plan["1"].status is Status.PENDING
    assert reply.text == "ok, 0/1 completed"


SPELLINGS = {
    "pending": "todo open not_started Pending",
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
    reply = write([{"content": "a", "status": word}])
    assert reply.plan["1"].status == status
    assert ("note" in reply.text) == (word != status)


@pytest.mark.parametrize("word", ["gone", "changes_made", "blockage", "✗", "deleted", 1, True, []])
def test_unknown_status(word):
    """Another word, or none, is refused with the list: never a silent pending."""
    reply = write([{"content": "a", "status": word}])
    assert codes(reply)[0] in {"unknown_status", "wrong_type"}
    assert "todos[0].status: " in reply.text
    assert "pending, in_progress, completed, cancelled" in reply.text


def test_unknown_priority():
    """Priorities likewise."""
    reply = write([{"content": "a", "priority": "whatever"}, {"content": "b", "priority": "P1"}])
    assert codes(reply) == ["unknown_priority"]
    assert "high, medium, low" in reply.text
    assert write([{"content": "a", "priority": "urgent"}]).plan["1"].priority == "high"


def test_two_in_progress():
    """The policy says whether that is allowed; nothing is demoted."""
    both = [{"content": text, "status": "in_progress"} for text in "ab"]
    reply = write(both)
    assert reply.plan.counts.in_progress == 2
    assert "Note: 2 tasks are in progress (#1-#2)" in reply.text
    assert "single_in_progress" in codes(send({"todos": both}, policy="claude"))


@pytest.mark.parametrize(
    "given", [3, "3", "#3", "task-3", "Task #3", 3.0, " 3 ", "03", "# 3", "3.0"]
)
def test_ids(given):
    """An id has one form however it is spelled; a spelling of text is told."""
    plan = planned("a", "b", "c")
    reply = send({"taskId": given}, tool="TaskGet", box="tasks", plan=plan)
    assert "Task #3: c" in reply.text
    assert bool(reply.repairs) == (isinstance(given, str) and given != "3")


@pytest.mark.parametrize(
    "given", [True, False, 3.5, "\uff13", "²", "-3", -3, 0, "0", "x", "3x", [3], {}, "1.5", 10**18]
)
def test_what_is_no_id(given):
    """Booleans, fractions, other alphabets' digits and the like are refused."""
    reply = send({"taskId": given}, tool="TaskGet", box="tasks", plan=planned("a", "b", "c"))
    assert codes(reply)[0] in {"bad_id", "bad_number"}


def test_ids_are_numbers_in_order():
    """10 comes after 2, in lists and in receipts."""
    plan = planned(*"abcdefghijk")
    done = {"done": [10, 2, 11]}
    reply = send(done, tool="plan", box="lean", plan=plan)
    assert reply.text.startswith("3/11: #2, #10-#11 completed; #1 started")


@pytest.mark.parametrize(
    ("given", "blockers"),
    [
        ("1,2", "12"),
        ("1 and 2", "12"),
        ("1, 2 and 3", "123"),
        ("1 2", "12"),
        ("task 3", "3"),
        ([[1]], "1"),
        ({"id": 1}, "1"),
        ([{"id": 1}, {"taskId": "#2"}], "12"),
        ([1, "2"], "12"),
        (1, "1"),
        ("[1, 2]", "12"),
        ('"[1]"', "1"),
    ],
)
def test_id_lists(given, blockers):
    """Lists of ids are split and unwrapped, and what was not a list is told."""
    reply = ends(given)
    assert reply.plan["4"].blocked_by == tuple(blockers)
    assert bool(reply.repairs) == (given != [1, "2"])
    assert "repeated_id" not in codes(reply)


@pytest.mark.parametrize(
    "given",
    [[[1, 2]], [{"id": 1, "x": 2}], [{"x": 1}], "x", [True], "1;x", [[[1]]], [["\uff13"]], {}],
)
def test_id_lists_that_are_none(given):
    """Anything else is refused, with the place."""
    reply = ends(given)
    assert codes(reply)[0] == "bad_id"
    assert "addBlockedBy[" in reply.text


def test_unknown_duplicate_and_self_dependency():
    """Unknown ids, the task itself and cycles are refused by name; an id twice counts once."""
    reply = ends(["1", "1", "#1"])
    assert reply.plan["4"].blocked_by == ("1",)
    assert "note: " in reply.text
    assert "There is no task 9; the ids are: 1, 2, 3, 4." in ends(["9"]).text
    assert "Task 4 cannot wait for itself" in ends(["4"]).text
    back = {"taskId": "1", "addBlockedBy": ["4"]}
    cycle = send(back, tool="TaskUpdate", box="tasks", plan=ends(["1"]).plan)
    assert "1 -> 4 -> 1" in cycle.text


@pytest.mark.parametrize(
    "key", ["activeForm", "active_form", "active-form", "ActiveForm", "ACTIVE FORM"]
)
def test_key_spellings(key):
    """Case, `_`, `-` and spaces in keys are no matter."""
    reply = write([{"content": "a", key: "doing a"}])
    assert reply.plan["1"].active_form == "doing a"
    assert not reply.repairs


def test_both_spellings():
    """Both with one value are fine, with different ones refused; `null` is no value."""
    same = {"content": "a", "activeForm": "x", "active_form": "x", "title": None}
    assert texts_of(write([same]).plan) == ["a"]
    reply = write([{"content": "a", "activeForm": "x", "active_form": "y"}])
    assert codes(reply) == ["conflicting_keys"]
    assert 'todos[0].activeForm: given twice in different words ("active_form"' in reply.text
    assert codes(write([{"content": "1", "title": 1}])) == ["conflicting_keys"]


@pytest.mark.parametrize(
    "entry", [{"content": "a", "description": "why"}, {"description": "why", "content": "a"}]
)
def test_weak_spellings(entry):
    """A description is the title only where no title is given; else it is ignored, and told."""
    reply = write([entry])
    assert texts_of(reply.plan) == ["a"]
    assert "note: ignored todos[0].description" in reply.text


@pytest.mark.parametrize(
    "wrap",
    [
        lambda given: {"todos": given},
        lambda given: {"arguments": given},
        lambda given: {"input": given},
        lambda given: {"arguments": json.dumps(given)},
        lambda given: {"name": "write_todos", "arguments": given},
        lambda given: {"name": "write_todos", "arguments": json.dumps(given)},
        lambda given: {"id": "call_1", "type": "tool_use", "name": "write_todos", "input": given},
        lambda given: {
            "type": "function",
            "function": {"name": "x", "arguments": json.dumps(given)},
        },
        lambda given: {"input": {"args": {"params": given}}},
        lambda given: {"arguments": given["todos"]},
        lambda given: {"todos": {"items": {"tasks": given}}},
        lambda given: {"todos": json.dumps(given)},
    ],
)
def test_wrappers(wrap):
    """Up to three wrappers are taken off, also those that are texts; a tool's name is no title."""
    reply = send(wrap({"todos": GOOD}))
    assert texts_of(reply.plan) == ["a", "b"]
    assert "out of a wrapper" in reply.text
    given = {"name": "TaskCreate", "arguments": {"subject": "a"}}
    assert texts_of(send(given, tool="TaskCreate", box="tasks").plan) == ["a"]


def test_too_many_wrappers():
    """A fourth wrapper is refused."""
    deep = {"input": {"input": {"input": {"input": {"done": [1]}}}}}
    assert codes(send(deep, tool="plan", box="lean", plan=planned("a"))) == ["too_deep"]
    deep = {"todos": {"todos": {"todos": {"todos": {"todos": ["a"]}}}}}
    assert codes(send(deep))[0] == "missing_field"


def test_siblings_beside_a_wrapper():
    """Other keys beside the wrapper are refused: one of the two would be lost."""
    reply = send({"arguments": {"done": [1]}, "drop": [2]}, tool="plan", box="lean")
    assert codes(reply) == ["wrapper_siblings"]
    assert codes(send({"todos": {"todos": ["a"], "clear": True}}))[0] == "missing_field"
    plain = {"todos": ["a"], "input": "x"}
    assert codes(send(plain)) == ["ignored_key"]


def test_one_object_instead_of_a_list():
    """One entry, at its place or in place of all, is a list of one."""
    assert texts_of(write({"content": "a"}).plan) == ["a"]
    assert texts_of(send({"content": "a", "status": "done"}).plan) == ["a"]
    assert texts_of(send(GOOD).plan) == ["a", "b"]
    assert codes(send({"x": 1}))[-1] == "missing_field"
    assert codes(send(5)) == ["wrong_type"]
    assert codes(write(5)) == ["wrong_type"]


def test_bare_string_instead_of_a_list():
    """A bare string is no list; a list of strings is titles; a checklist is its lines."""
    assert codes(write("a")) == ["no_list"]
    assert texts_of(write(["a", "b"]).plan) == ["a", "b"]
    reply = write("- [ ] a\n* [~] b\n\n3. [x] c")
    assert [(task.subject, task.status.value) for task in reply.plan] == [
        ("a", "pending"),
        ("b", "in_progress"),
        ("c", "completed"),
    ]
    assert codes(reply) == ["checklist"]
    assert write(["[x] a", "b"]).plan["1"].status is Status.COMPLETED
    assert texts_of(send(json.dumps("- [ ] a")).plan) == ["a"]
    assert codes(write("- [ ] a\nb")) == ["no_list"]


@pytest.mark.parametrize("text", ["1. a\n2. b\n3. c", "1) a\n\n2) b\n3) c\n", "- a\n- b\n- c"])
def test_a_list_in_a_text_is_its_lines(text):
    """Numbers and bullets go, and the reply says so; for every tool that takes a list."""
    for reply in (
        write(text),
        send(json.dumps(text)),
        send({"write": text}, tool="plan", box="lean"),
        send({"tasks": text}, tool="TaskCreate", box="tasks"),
    ):
        assert texts_of(reply.plan) == ["a", "b", "c"]
        assert codes(reply)[-1] == "checklist"
        assert "as a checklist" in reply.text


def test_a_checklist_within_a_wrapper():
    """It is its lines there as well: once it became one title."""
    for packed in ({"todos": {"todos": "- [ ] a\n- [x] b"}}, {"input": "- [ ] a\n- [x] b"}):
        reply = send(packed)
        assert [(t.subject, t.status.value) for t in reply.plan] == [
            ("a", "pending"),
            ("b", "completed"),
        ]
        assert "checklist" in codes(reply)


def test_a_list_in_a_text_keeps_statuses():
    """It says nothing of them, so what is there stays as it is."""
    plan = write([{"content": "a", "status": "completed"}]).plan
    assert [task.status.value for task in write("1. a\n2. b", plan).plan] == [
        "completed",
        "pending",
    ]


@pytest.mark.parametrize("text", ["1. a", "* a", "1. a\n3. b", "  - a\n- b", "Do:\n1. a\n2. b"])
def test_a_text_that_is_not_plainly_a_list_is_none(text):
    """Instead of a list it is refused, with a correct example; within a list it is a title."""
    reply = write(text)
    assert codes(reply) == ["no_list"]
    assert 'Correct, for example: {"todos"' in reply.text
    assert texts_of(write([text, "c"]).plan) == [text, "c"]
    assert texts_of(send({"write": [text]}, tool="plan", box="lean").plan) == [text]


NO_LISTS = [
    "null",
    "undefined",
    "None",
    "true",
    "x",
    "same as before",
    "[object Object]",
    "{content: 'Write', status: 'pending'}",
    "[a, b, c]",
    "[1, 2",
    "<todos><todo>a</todo></todos>",
    "- only one",
    "Write, test, ship",
    "...",
]


@pytest.mark.parametrize("text", NO_LISTS)
def test_a_text_that_is_no_list_leaves_the_plan_alone(text):
    """Law 17: each of these once emptied a plan of five open tasks, and was answered with ok."""
    plan = planned(*"abcde")
    for reply in (
        write(text, plan),
        write({"todos": text}, plan),
        send(json.dumps({"arguments": {"todos": text}}), plan=plan),
        send({"write": text}, tool="plan", box="lean", plan=plan),
        send({"tasks": text}, tool="TaskCreate", box="tasks", plan=plan),
    ):
        assert codes(reply) == ["no_list"]
        assert "which is no list; send the list itself" in reply.text
        assert "Correct, for example: {" in reply.text


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
    reply = write("- [x] a\n- [ ] b\n- [ ] c", plan)
    assert [task.status.value for task in reply.plan] == ["completed", "pending", "pending"]
    assert texts_of(write({"content": "a", "status": "done"}, planned("a")).plan) == ["a"]
    assert send({"arguments": {"todos": [], "clear": True}}, plan=plan).text.startswith("ok")


def test_an_exact_text_of_a_list_is_no_guess():
    """A whole JSON text or Python literal says what is in it as clearly as the list does."""
    plan = planned("a", "b")
    comma = json.dumps([ONE])[:-1] + ",]"
    for text in (json.dumps([ONE]), json.dumps(json.dumps([ONE])), repr([ONE]), comma):
        assert texts_of(write(text, plan).plan) == ["f"]
    assert texts_of(send(f"```json\n{json.dumps({'todos': [ONE]})}\n```", plan=plan).plan) == ["f"]


def test_a_guess_removes_nothing_for_a_set_with_several_lists():
    """`lean`'s `write` is a whole list too; what is dropped by its id is named."""
    plan = planned("a", "b")
    for arguments in ({"write": "1. c\n2. d"}, {"arguments": {"write": ["c"]}}):
        assert codes(send(arguments, tool="plan", box="lean", plan=plan)) == ["guessed_container"]
    dropped = send({"input": {"drop": [1]}}, tool="plan", box="lean", plan=plan)
    assert dropped.plan["1"].status is Status.CANCELLED
    gone = {"input": {"taskId": 1, "status": "deleted"}}
    assert texts_of(send(gone, tool="TaskUpdate", box="tasks", plan=plan).plan) == ["b"]


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


def test_bare_list_for_a_tool_with_several():
    """A bare list is not taken where it could mean several things: titles begin an empty plan."""
    begun = send(["a", "b"], tool="plan", box="lean")
    assert (texts_of(begun.plan), codes(begun)) == (["a", "b"], ["bare_list"])
    for titles in (["c"], ["a"], ["b", "a"], ["a", "b", "c"]):
        refused = send(titles, tool="plan", box="lean", plan=begun.plan)
        assert codes(refused) == ["wrong_type"]
        assert "arguments: is a list; it should be an object." in refused.text
    assert codes(send([1], tool="plan", box="lean")) == ["wrong_type"]
    assert codes(send({"text": "a"}, tool="plan", box="lean")) == ["ignored_key"]
    assert texts_of(send([{"subject": "a"}], tool="TaskCreate", box="tasks").plan) == ["a"]
    assert codes(send(["a"], tool="TaskList", box="tasks")) == ["wrong_type"]


def test_xml_leak_within_values():
    """Leaked closers at a text's end are dropped, and told; other tags are text."""
    reply = write(
        [{"content": "a</parameter>\n</invoke> ", "status": "done</parameter>"}, "use <b></b>"]
    )
    assert texts_of(reply.plan) == ["a", "use <b></b>"]
    assert codes(reply)[:2] == ["closing_tags", "closing_tags"]


@pytest.mark.parametrize("tag", ['<parameter name="status">', '<parameter  name = "x">'])
def test_xml_leak_that_swallowed_a_field(tag):
    """A leaked opening tag means that a field was lost: refused, wherever it stands."""
    assert codes(write([f"a{tag}done"])) == ["swallowed_field"]
    assert codes(write([{"content": "a", "status": f"done{tag}"}])) == ["swallowed_field"]
    new = {"subject": "a", "metadata": {"k": [f"x{tag}"]}}
    assert codes(send(new, tool="TaskCreate", box="tasks")) == ["swallowed_field"]
    new = {"taskId": f"1{tag}"}
    assert "swallowed_field" in codes(send(new, tool="TaskGet", box="tasks"))


def test_extra_keys():
    """Unknown keys are ignored with the nearest known name, or refused in strict mode."""
    given = {"todos": [{"content": "a", "activForm": "x", "zzz": 1}], "why": "because"}
    reply = send(given)
    assert "ignored todos[0].activForm; did you mean activeForm?" in reply.text
    assert codes(reply) == ["ignored_key"] * 3
    strict = send(given, limits=InputLimits(strict=True))
    assert codes(strict) == ["unknown_key"] * 3
    assert "todos[0].zzz: is no argument here; the arguments are content, status" in strict.text
    none = send({"x": 1}, tool="read_todos", limits=InputLimits(strict=True))
    assert "x: is no argument here; the arguments are none." in none.text


def test_many_extra_keys_are_told_shortly():
    """Three are named, the others counted."""
    reply = send({"todos": ["a"], **{f"x{n}": n for n in range(40)}})
    assert "and 37 more" in reply.text
    assert len(reply.text) < 200


@pytest.mark.parametrize(
    ("pair", "refused"),
    [('"a", "content": "b"', True), ('"a", "content": "a"', False), ('1, "content": true', True)],
)
def test_duplicate_json_keys(pair, refused):
    """A key twice with one value is fine; with different ones it is refused."""
    reply = send(f'{{"todos": [{{"content": {pair}}}]}}')
    assert (codes(reply) == ["duplicate_key"]) == refused


def test_numbers_given_as_values():
    """So they are when a framework has parsed them."""
    for value in (float("nan"), float("inf"), 10**5_000, -(10**18)):
        for place in ({"estimate": value}, {"metadata": {"k": [value]}}):
            reply = send({"subject": "a", **place}, tool="TaskCreate", box="tasks")
            assert codes(reply) == ["bad_number"]


@pytest.mark.parametrize("depth", [33, 500, 100_000])
@pytest.mark.parametrize("closed", [True, False])
def test_deep_nesting(depth, closed):
    """Deep nesting is refused, whatever the Python version's own limit."""
    raw = "[" * depth + "]" * (depth * closed)
    assert codes(send(raw))[0] in ({"too_deep"} if closed else {"too_deep", "truncated"})
    assert codes(write(raw))[0] in ({"too_deep"} if closed else {"too_deep", "truncated"})


def test_deep_values():
    """So is a value that nests deeply, or that holds itself."""
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert codes(write(deep)) == ["too_deep"]
    itself = {}
    itself["todos"] = [itself, itself]
    assert codes(send(itself))[0] in {"too_deep", "too_large"}


def test_lone_surrogates():
    """A pair is joined; what is alone becomes U+FFFD, and is told."""
    reply = send('{"todos": ["\\ud83d\\ude00 \\ud83d"]}')
    assert texts_of(reply.plan) == ["\U0001f600 \ufffd"]
    assert codes(reply) == ["surrogates"]
    assert texts_of(write(["\ud83d\ude00"]).plan) == ["\U0001f600"]
    metadata = {"subject": "a", "metadata": {"\ud800": "\udfff"}}
    assert dict(send(metadata, tool="TaskCreate", box="tasks").plan["1"].metadata) == {
        "\ufffd": "\ufffd"
    }


def test_bytes():
    """Bytes are UTF-8; what is not is replaced, and told."""
    reply = send(b'{"todos": ["a\xff"]}')
    assert texts_of(reply.plan) == ["a\ufffd"]
    assert "note: replaced broken characters" in reply.text
    assert codes(send(bytearray(b'{"todos": {"content": "a"}}'))) == ["bare_entry"]


def test_nul_and_other_controls():
    """NUL is removed and told; other controls are kept, and never shown raw in a list."""
    reply = write(["a\x00b", "c\x1b[31m\x85d"])
    assert texts_of(reply.plan) == ["ab", "c\x1b[31m\x85d"]
    assert codes(reply) == ["hidden_characters"]
    shown = send({}, tool="read_todos", plan=reply.plan).text
    assert shown == "#1 [pending] ab\n#2 [pending] c d"


@pytest.mark.parametrize("hidden", ["\u202e", "\u2066", "\u2069", "\U000e0041", "\U000e007f"])
def test_bidi_and_tags(hidden):
    """Bidi overrides, isolates and the tag block are removed and told."""
    reply = write([f"a{hidden}b"])
    assert texts_of(reply.plan) == ["ab"]
    assert codes(reply) == ["hidden_characters"]
    assert codes(write([hidden])) == ["empty_text"] or texts_of(write([hidden]).plan) == []


def test_joiners_stay():
    """Zero-width joiners belong to scripts and emoji, and stay."""
    text = "\U0001f468\u200d\U0001f469 \u0646\u200c\u0647"
    reply = write([text])
    assert (texts_of(reply.plan), reply.repairs) == ([text], ())


def test_two_metadata_keys_that_become_one():
    """Keys that differ only in hidden characters contradict each other."""
    given = {"subject": "a", "metadata": {"k": 1, "k\x00": 2}}
    assert "conflicting_keys" in codes(send(given, tool="TaskCreate", box="tasks"))


@pytest.mark.parametrize(
    "raw", ['"' + "a" * 1_048_576, b"x" * 1_048_577, {"todos": ["a" * 600_000] * 2}]
)
def test_huge_input(raw):
    """More than the limit is refused with the size and the limit."""
    reply = send(raw)
    assert codes(reply) == ["too_large"]
    assert "1048576" in reply.text


def test_too_many_entries():
    """So are more entries or ids than one call may bring."""
    assert "1001 entries in one call; at most 1000" in write(["a"] * 1_001).text
    assert codes(ends(list(range(1, 1_002)))) == ["too_many"]
    assert codes(send({"todos": ["a", "b"]}, limits=InputLimits(items=1))) == ["too_many"]


def test_too_long_texts():
    """A title over its limit is refused with the length and the limit."""
    assert "subject of 501 characters; at most 500" in write(["a" * 501]).text


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


def test_empty_list():
    """Emptying a list with open work needs `clear: true`."""
    plan = write(["a"]).plan
    refused = write([], plan)
    assert codes(refused) == ["empty_write"]
    assert "send clear: true" in refused.text
    assert texts_of(write([], plan, clear=True).plan) == []
    assert write([], plan, clear="true").text.startswith("ok, the list is empty")


@pytest.mark.parametrize("flag", ["maybe", 2, [], 0.5])
def test_flags(flag):
    """A flag is true or false, or one of their few words."""
    assert codes(write([], clear=flag)) == ["wrong_type"]


def test_numbers_and_other_types_as_text():
    """A number as a title is text, told; other types are refused."""
    reply = write([{"content": 404}, {"content": 1.5}])
    assert texts_of(reply.plan) == ["404", "1.5"]
    assert "note: read the number 404 at todos[0].content as text" in reply.text
    assert (
        codes(write([{"content": True}, {"content": ["a"]}, {"content": {}}])) == ["wrong_type"] * 3
    )


def test_metadata():
    """Metadata is an object, or the JSON text of one, which strict schemas ask for."""
    reply = send({"subject": "a", "metadata": '{"k": [1, null]}'}, tool="TaskCreate", box="tasks")
    assert dict(reply.plan["1"].metadata) == {"k": (1, None)}
    assert not reply.repairs
    for wrong in ("x", 3, [1]):
        assert codes(send({"subject": "a", "metadata": wrong}, tool="TaskCreate", box="tasks")) == [
            "wrong_type"
        ]


def test_a_payload_is_never_echoed():
    """An error quotes at most forty escaped characters of what was sent."""
    secret = "payload " * 50
    for box in BOXES:
        for name in box.toolset.tool_names:
            for arguments in (secret, [secret], {"taskId": secret, "todos": [{"status": secret}]}):
                assert (
                    "payload payload payload payload payload"
                    not in box.call(Plan(), name, arguments).text
                )


def test_all_problems_at_once():
    """Every fault is named with its path, at most ten in words, and a correct example follows."""
    reply = write([{"content": "", "status": "x"}, {"status": "y"}, 5])
    assert codes(reply) == [
        "empty_text",
        "unknown_status",
        "missing_field",
        "unknown_status",
        "wrong_type",
    ]
    for path in ("todos[0].content: ", "todos[0].status: ", "todos[1].content: ", "todos[2]: "):
        assert path in reply.text
    assert 'Correct, for example: {"todos"' in reply.text
    assert "and 90 more like these." in write([5] * 100).text
