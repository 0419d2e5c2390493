"""Every operation: its id, what it does in one line, and the right it needs.

OpenAPI has the same ids; `trivium --help` and OpenAPI show the same lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

# A right of a token (`access.Right`); or `owner`: `manage` for all audiences and collections, where
# an answer concerns everyone's documents; or `token`: any, where callers get what is theirs.
Needs = Literal["search", "add", "manage", "owner", "token"]


class Operation(NamedTuple):
    id: str
    says: str
    needs: Needs
    command: str = ""  # in the terminal
    tool: str = ""  # of assistants


OPERATIONS: Mapping[str, Operation] = {
    row[0]: Operation(*row)
    for row in (
        ("search", "Search by meaning, words and spelling.", "search", "search", "search"),
        ("suggest", "Suggest completions of what was typed so far.", "search"),
        ("ask", "Answer a question from your documents, with citations.", "search", "ask", "ask"),
        ("quote", "Find the document and page a sentence comes from.", "search", "quote", "quote"),
        ("similar", "Find documents or passages like a given one.", "search", "similar", "similar"),
        # documents
        ("add", "Add files and folders to the library.", "add", "add", "add_document"),
        ("add_url", "Add a page or file from a public web address.", "add"),
        (
            "list_collections",
            "List collections and how they are split into passages.",
            "search",
            "collections",
            "list_collections",
        ),
        ("list_documents", "List documents.", "search", "list", "list_documents"),
        ("show_document", "Show one document: metadata, text, passages.", "search", "show"),
        ("read_text", "Get the text of a document.", "search", "", "get_document"),
        ("list_passages", "List the passages of a document.", "search"),
        ("show_passage", "Get one passage with its neighbours.", "search", "", "get_passage"),
        ("download_original", "Download the original file from the archive.", "search"),
        ("show_page", "Get a page of a PDF or scan as a picture.", "search"),
        ("remove", "Remove documents from the library.", "manage", "remove", "remove_document"),
        # conversations
        ("list_conversations", "List saved conversations.", "search", "conversations"),
        ("show_conversation", "Show the turns of a conversation, oldest first.", "search"),
        ("forget_conversation", "Delete a conversation.", "search"),
        # versions
        (
            "history",
            "List the interpretations (versions) of a document.",
            "search",
            "history",
            "history",
        ),
        ("diff", "Show what changed between two interpretations.", "search", "diff"),
        ("restore", "Make an old interpretation active again.", "manage", "restore"),
        # jobs
        ("list_jobs", "List jobs, newest first.", "owner", "jobs"),
        ("show_job", "Show a job.", "token", "jobs show"),
        ("list_tasks", "List the documents of a job.", "token"),
        ("follow_job", "Follow a job as it runs.", "token", "jobs watch"),
        ("cancel_job", "Stop a job at its next document.", "owner", "jobs cancel"),
        ("retry_job", "Retry the failed documents of a job.", "owner", "jobs retry"),
        # folders and sources
        ("list_folders", "List the watched folders.", "owner"),
        ("watch_folder", "Watch a folder on the server's machine.", "owner", "watch"),
        ("unwatch_folder", "Stop watching a folder.", "owner"),
        ("list_syncs", "List the synced sources.", "owner", "sync"),
        (
            "list_sync_kinds",
            "List the kinds of sources, with their options.",
            "owner",
            "sync kinds",
        ),
        ("add_sync", "Add a source to sync.", "owner", "sync add"),
        ("show_sync", "Show a source and the items that failed.", "owner", "sync status"),
        ("run_sync", "Sync a source now.", "owner", "sync run"),
        ("pause_sync", "Pause a source.", "owner", "sync pause"),
        ("resume_sync", "Resume a paused source.", "owner", "sync resume"),
        ("check_sync", "Read a source's first item, to check its access.", "owner", "sync check"),
        ("verify_sync", "Compare a source with the library, item by item.", "owner", "sync verify"),
        ("remove_sync", "Remove a source and its documents.", "owner", "sync remove"),
        # evaluation
        ("list_evaluations", "List the judged sets in the library.", "owner"),
        ("generate_evaluation", "Generate a set of queries from the documents.", "owner"),
        ("list_runs", "List the saved evaluations of a set, newest first.", "owner"),
        ("run_evaluation", "Measure search quality on a judged set of queries.", "owner", "eval"),
        ("show_run", "Get one saved evaluation, with the values of every query.", "owner"),
        ("compare_runs", "Compare two saved evaluations.", "owner"),
        ("list_judgments", "List the judgments for one query.", "owner"),
        ("judge", "Say which results are relevant.", "owner", "judge"),
        # access
        ("list_tokens", "List access tokens.", "owner", "token list"),
        ("create_token", "Create an access token.", "owner", "token create"),
        ("revoke_token", "Revoke an access token.", "owner", "token revoke"),
        ("show_caller", "Show what your token may see and do.", "token"),
        (
            "list_settings",
            "Show every setting, its value and where it comes from.",
            "owner",
            "config",
        ),
        ("list_presets", "List the presets: settings of known systems.", "token"),
    )
}

# Commands that are no single operation of a request: groups, and what only a terminal can do.
_COMMANDS = {
    "serve": "Open the library in a browser; serve HTTP and MCP.",
    "duplicates": "List documents that are nearly the same.",
    "contradictions": "List passages that may disagree with each other.",
    "conversations": "List, show or delete saved conversations.",
    "watch": "Watch folders and follow every change in them.",
    "sync": "Sync Slack, notes, mail, feeds and other services.",
    "jobs": "List jobs; watch, cancel, retry or resume them.",
    "worker": "Run jobs that other processes have queued.",
    "alert": "Save searches and learn when something new matches.",
    "prune": "Delete old interpretations for good.",
    "token": "Create, list and revoke access tokens.",
    "slack": "Answer questions in a Slack workspace, with citations.",
    "copy": "Copy a library between folders and databases.",
    "library": "Show where the rows are; spread them over nodes.",
    "mcp": "Serve an AI assistant that starts this program.",
    "log": "Show what people search for and don't find.",
    "doctor": "Check versions, model, indexes and archive; repair them.",
    "models": "List models, download one, see which one the library uses.",
    "reembed": "Change the embedding model while the library stays in use.",
    "backup": "Write the library to one file.",
    "recover": "Restore a library from a backup.",
    "compact": "Rewrite the library without removed documents.",
    "judge": "Say which results are relevant, or generate queries.",
    "tune": "Fit the fusion to judged queries and test whether it helps.",
}
# Of each command, its line in `trivium --help`, which is read without loading anything.
LINES = {operation.command: operation.says for operation in OPERATIONS.values()} | _COMMANDS
