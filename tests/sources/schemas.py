"""The parts of two public GraphQL schemas that we ask for, written down field by field.

The tests check our queries, and what the fakes are asked, against these. To check these against
the schemas themselves (github: octokit/graphql-schema, schema.graphql; linear: linear/linear,
packages/sdk/src/schema.graphql), get one and run

    python -m tests.sources.schemas github schema.graphql
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from graphql import (
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    build_schema,
    parse,
    validate,
)

from trivium.sources import github, linear

SCHEMAS = {
    "github": """
scalar URI scalar DateTime
type Query { repository(owner: String!, name: String!): Repository }
type Repository {
  discussions(first: Int, after: String, orderBy: DiscussionOrder): DiscussionConnection!
  discussion(number: Int!): Discussion
}
input DiscussionOrder { direction: OrderDirection! field: DiscussionOrderField! }
enum OrderDirection { ASC DESC }
enum DiscussionOrderField { CREATED_AT UPDATED_AT }
type DiscussionConnection { pageInfo: PageInfo! nodes: [Discussion] }
type PageInfo { hasNextPage: Boolean! endCursor: String }
type Discussion {
  number: Int! title: String! body: String! url: URI! createdAt: DateTime! updatedAt: DateTime!
  closed: Boolean! author: Actor category: DiscussionCategory! labels(first: Int): LabelConnection
  comments(first: Int, after: String): DiscussionCommentConnection!
}
interface Actor { login: String! }
type DiscussionCategory { name: String! }
type LabelConnection { nodes: [Label] }
type Label { name: String! }
type DiscussionCommentConnection { pageInfo: PageInfo! nodes: [DiscussionComment] }
type DiscussionComment {
  databaseId: Int body: String! url: URI! createdAt: DateTime! updatedAt: DateTime! author: Actor
  replies(first: Int): DiscussionCommentConnection!
}
""",
    "linear": """
scalar DateTime scalar TimelessDate scalar DateTimeOrDuration
type Query {
  issues(first: Int, after: String, filter: IssueFilter, orderBy: PaginationOrderBy,
    includeArchived: Boolean): IssueConnection!
  comments(first: Int, after: String, filter: CommentFilter, orderBy: PaginationOrderBy,
    includeArchived: Boolean): CommentConnection!
  issue(id: String!): Issue!
  comment(id: String): Comment!
}
enum PaginationOrderBy { createdAt updatedAt }
input IssueFilter { updatedAt: DateComparator team: TeamFilter }
input CommentFilter { updatedAt: DateComparator issue: NullableIssueFilter }
input NullableIssueFilter { team: TeamFilter }
input TeamFilter { key: StringComparator }
input StringComparator { in: [String!] }
input DateComparator { gte: DateTimeOrDuration }
type IssueConnection { pageInfo: PageInfo! nodes: [Issue!]! }
type CommentConnection { pageInfo: PageInfo! nodes: [Comment!]! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
type Issue {
  id: ID! identifier: String! title: String! description: String url: String! createdAt: DateTime!
  updatedAt: DateTime! archivedAt: DateTime trashed: Boolean priorityLabel: String!
  dueDate: TimelessDate state: WorkflowState! team: Team! project: Project cycle: Cycle
  labels: IssueLabelConnection! assignee: User creator: User botActor: ActorBot
  externalUserCreator: ExternalUser
}
type Comment {
  id: ID! body: String! url: String! createdAt: DateTime! updatedAt: DateTime!
  archivedAt: DateTime user: User botActor: ActorBot externalUser: ExternalUser issue: Issue
}
type WorkflowState { name: String! type: String! }
type Team { id: ID! key: String! name: String! }
type Project { name: String! }
type Cycle { name: String number: Float! }
type IssueLabelConnection { nodes: [IssueLabel!]! }
type IssueLabel { name: String! }
type User { name: String! }
type ActorBot { name: String userDisplayName: String }
type ExternalUser { name: String! }
""",
}
QUERIES = {
    "github": (github._DISCUSSIONS, github._MORE_COMMENTS),
    "linear": (*linear.QUERIES.values(), *linear._ONE.values()),
}
_FIELDS = GraphQLObjectType | GraphQLInterfaceType | GraphQLInputObjectType


def faults(schema: GraphQLSchema, service: str) -> list[str]:
    """What is wrong with our queries by a schema."""
    found = (validate(schema, parse(query)) for query in QUERIES[service])
    return [error.message for errors in found for error in errors]


def differences(ours: GraphQLSchema, theirs: GraphQLSchema) -> Iterator[str]:
    """Fields and arguments of ours that are other in theirs, or not there."""
    for name, kind in ours.type_map.items():
        other = theirs.type_map.get(name)
        if name.startswith("__") or not isinstance(kind, _FIELDS):
            continue
        for field, told in kind.fields.items():
            known = other.fields.get(field) if isinstance(other, _FIELDS) else None
            if known is None or str(known.type) != str(told.type):
                yield f"{name}.{field}: {told.type}, theirs: {known and known.type}"
                continue
            for argument, asked in getattr(told, "args", {}).items():
                given = known.args.get(argument)
                if given is None or str(given.type) != str(asked.type):
                    yield f"{name}.{field}({argument}): {asked.type}, theirs: {given}"


def main(service: str, path: str) -> None:
    text = Path(path).read_text(encoding="utf-8")
    theirs = build_schema(text, assume_valid=True, assume_valid_sdl=True)
    found = [*faults(theirs, service), *differences(build_schema(SCHEMAS[service]), theirs)]
    print("\n".join(found) or f"{service}: no differences, and no errors in the queries")
    sys.exit(bool(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
