import * as v from 'valibot'
import { OperatorId } from '../ids.ts'
import type { OperationTable } from '../operation.ts'
import { EventEnvelope } from '../resources/event-envelope.ts'
import { Include, listOf, PageEntries } from '../resources/list.ts'
import { FilterValue, MetadataFilter } from '../resources/metadata.ts'
import { QueuedMessage } from '../resources/queued-messages.ts'
import { ReplayRequest } from '../resources/replay.ts'
import { ListedRun } from '../resources/runs.ts'
import { CreateSessionRequest, Message, Session, UpdateSessionRequest } from '../resources/sessions.ts'

const READ = 'sessions:read:{sessionId}'
const WRITE = 'sessions:write:{sessionId}'

export const sessionOperations = {
  listSessions: {
    id: 'sessions.list',
    method: 'GET',
    path: '/sessions',
    scope: { anyOf: [READ] },
    idempotent: false,
    query: v.strictObject({
      ...PageEntries,
      agentId: v.optional(OperatorId),
      userId: v.optional(FilterValue),
      metadata: v.optional(MetadataFilter),
    }),
    responses: { 200: { schema: listOf(Session), description: 'Sessions, newest first.' } },
    errors: [],
    summary: 'List sessions.',
  },
  createSession: {
    id: 'sessions.create',
    method: 'POST',
    path: '/sessions',
    scope: 'sessions:write',
    idempotent: true,
    body: CreateSessionRequest,
    responses: { 201: { schema: Session, location: true, description: 'Created.' } },
    errors: ['session-exists', 'session-not-found'],
    summary: 'Create a session.',
  },
  getSession: {
    id: 'sessions.get',
    method: 'GET',
    path: '/sessions/:sessionId',
    scope: READ,
    idempotent: false,
    responses: { 200: { schema: Session, description: 'The session.' } },
    errors: ['session-not-found'],
    summary: 'Read a session.',
  },
  updateSession: {
    id: 'sessions.update',
    method: 'PATCH',
    path: '/sessions/:sessionId',
    scope: WRITE,
    idempotent: true,
    body: UpdateSessionRequest,
    responses: { 200: { schema: Session, description: 'The updated session.' } },
    errors: ['session-not-found'],
    summary: 'Update a session.',
  },
  deleteSession: {
    id: 'sessions.delete',
    method: 'DELETE',
    path: '/sessions/:sessionId',
    scope: WRITE,
    idempotent: true,
    responses: { 204: { description: 'The session, its runs, events and messages are deleted.' } },
    errors: ['session-not-found'],
    summary: 'Delete a session and all its data.',
  },
  listMessages: {
    id: 'sessions.messages',
    method: 'GET',
    path: '/sessions/:sessionId/messages',
    scope: READ,
    idempotent: false,
    query: v.strictObject(PageEntries),
    responses: { 200: { schema: listOf(Message), description: 'The transcript, newest first.' } },
    errors: ['session-not-found'],
    summary: 'Read the transcript of a session.',
  },
  listQueuedMessages: {
    id: 'sessions.queue',
    method: 'GET',
    path: '/sessions/:sessionId/queue',
    scope: READ,
    idempotent: false,
    query: v.strictObject({ ...PageEntries, order: v.optional(v.picklist(['asc', 'desc']), 'asc') }),
    responses: {
      200: { schema: listOf(QueuedMessage), description: 'The messages that wait, in the order of their turns.' },
    },
    errors: ['session-not-found'],
    summary: 'List the messages of a session that wait for their agent.',
  },
  listSessionRuns: {
    id: 'sessions.runs',
    method: 'GET',
    path: '/sessions/:sessionId/runs',
    scope: READ,
    idempotent: false,
    query: v.strictObject({ ...PageEntries, include: Include }),
    responses: { 200: { schema: listOf(ListedRun), description: 'Runs in the session, newest first.' } },
    errors: ['session-not-found'],
    summary: 'List the runs of a session.',
  },
  exportSession: {
    id: 'sessions.export',
    method: 'POST',
    path: '/sessions/:sessionId/export',
    scope: 'sessions:export:{sessionId}',
    idempotent: true,
    changesNothing: true,
    privileged: true,
    responses: { 200: { stream: 'ndjson', description: 'One JSON record per line; the last line is a checksum.' } },
    errors: ['session-not-found'],
    summary: 'Export a session.',
  },
  getSessionEvents: {
    id: 'sessions.events',
    method: 'GET',
    path: '/sessions/:sessionId/events',
    scope: READ,
    idempotent: false,
    query: v.strictObject({ lastEventId: v.optional(v.string()) }),
    responses: {
      200: { stream: 'event-stream', description: 'Live events, starting after the cursor if the request has one.' },
    },
    errors: ['session-not-found', 'overloaded'],
    summary: 'Follow the events of a session.',
  },
  replaySession: {
    id: 'sessions.replay',
    method: 'POST',
    path: '/sessions/:sessionId/replay',
    scope: { scope: 'traces:read:sanitized', rawScope: 'traces:read:raw' },
    idempotent: true,
    changesNothing: true,
    rereads: true,
    privileged: true,
    body: ReplayRequest,
    responses: {
      200: { schema: listOf(EventEnvelope), stream: 'event-stream', description: 'The recorded events.' },
    },
    errors: ['session-not-found', 'overloaded'],
    summary: 'Replay the recorded events of a session.',
  },
} as const satisfies OperationTable
