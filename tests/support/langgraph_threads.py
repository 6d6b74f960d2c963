"""Agents with a planner that work on one thread, and what stands there."""

from langchain.agents import create_agent
from support.scripted import Scripted, wrote

from todoplan import TASKS, Toolbox
from todoplan.adapters.langgraph import PlanMiddleware, plan_of_state
from todoplan.dialogue import Settings

HELLO = {"messages": [("user", "hello")]}
THREAD = {"configurable": {"thread_id": "1"}}
QUIET = Settings(plan_lost=False, unfinished=0)
TOLD = Settings(plan_lost=False, unfinished=0, changed=True)
THREE = wrote(("a", "completed"), ("b", "in_progress"), ("c", "pending"))


def ours(settings=QUIET):
    """Return our planner with task tools."""
    return PlanMiddleware(Toolbox(TASKS), settings=settings)


def agent(saver, planner, *script):
    """Return a scripted model, and an agent of it under a planner."""
    model = Scripted(script=[*script])
    return model, create_agent(model, middleware=[planner], checkpointer=saver)


def run(saver, planner, *script):
    """Return the model, the agent and the state after one run on the thread."""
    model, made = agent(saver, planner, *script)
    return model, made, made.invoke(HELLO, THREAD)


def lines(made):
    """Return id, subject and status of the tasks on the thread."""
    plan = plan_of_state(made.get_state(THREAD))
    return [(task.id, task.subject, task.status.value) for task in plan]


def entries(*pairs):
    """Return a list of todos as LangChain has it."""
    return [{"content": content, "status": status} for content, status in pairs]
