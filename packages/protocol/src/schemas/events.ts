import { AsyncApiDocument, OpenApiDocument } from '../resources/documents.ts'
import { ErrorBody, ErrorName } from '../resources/error-body.ts'
import { EmitEventRequest, EmittedEvent } from '../resources/named-events.ts'
import { ClientToolResult, Decision, ReplayRequest, ResumeRequest } from '../resources/replay.ts'
import { EventEnvelope } from '../resources/runs.ts'
import { APPROVAL_ID } from './approvals.ts'
import { type NamedSchemas, namedObject, namedValue } from './named-schema.ts'
import { RUN_ID } from './runs.ts'

export const eventSchemas = {
  EventEnvelope: namedObject(EventEnvelope, {
    description: 'An event. The AsyncAPI document describes the payload of each type.',
    members: {
      eventId: 'Id of the event: the cursor for resuming a stream after it.',
      subject: 'Subject that the event belongs to.',
      type: 'Type of the event, such as `run.completed`. Agents can emit types of their own.',
      payload: 'Data of the event. Its shape depends on `type`.',
      at: 'When the event was recorded.',
      runId: 'Id of the run. Absent when the event belongs to no run.',
    },
    example: {
      eventId: '8c1f3a.117',
      subject: `agent:support/runs/${RUN_ID}/events`,
      type: 'run.started',
      payload: { runId: RUN_ID, status: 'running', attempt: 1 },
      at: '2026-03-02T09:15:00.004Z',
      runId: RUN_ID,
    },
  }),
  ReplayRequest: namedObject(ReplayRequest, {
    description: 'Options of a replay.',
    members: {
      raw: 'Whether to skip the sanitizer. Needs `traces:read:raw`. Default: false.',
      limit: 'Maximum number of events in a page, from 1 to 200. Default: 50.',
      cursor: '`nextCursor` of the previous page. Default: the first page.',
      order: 'Sort order by time. Default: `asc`.',
      speed: 'Speed of a stream relative to the original run, more than 0. Default: as fast as possible.',
    },
    example: { limit: 100 },
  }),
  Decision: namedObject(Decision, {
    description: 'A decision on one approval, identified by its id or by the tool call that requested it.',
    members: {
      id: 'Id of the approval. Needed without `toolCallId`.',
      toolCallId: 'Id of the tool call that needs the approval. Needed without `id`.',
      approved: 'Whether to approve the request.',
      reason: 'Reason for the decision.',
      payload: 'Value to pass to the waiting code together with the decision.',
    },
    example: { id: APPROVAL_ID, approved: true },
  }),
  ClientToolResult: namedObject(ClientToolResult, {
    description: 'The result of a tool call that the client performs.',
    members: {
      toolCallId: 'Id of the tool call.',
      result: 'Result of the tool. Default: `null`.',
      error: 'Why the tool failed. Without it, the tool has succeeded.',
    },
    example: { toolCallId: 'call_1', result: { color: 'red' } },
  }),
  ResumeRequest: namedObject(ResumeRequest, {
    description: 'Resumes a suspended run.',
    members: {
      payload: 'Value that the waiting code receives.',
      approvals: 'Decisions on approvals of the run. Default: none.',
      toolResults: 'Results of tool calls that the client performs. Default: none.',
    },
    example: { approvals: [{ id: APPROVAL_ID, approved: true }] },
  }),
  EmitEventRequest: namedObject(EmitEventRequest, {
    description: 'Emits a named event.',
    members: { payload: 'Value that waiting runs receive. Default: `null`.' },
    example: { payload: { order: 7 } },
  }),
  EmittedEvent: namedObject(EmittedEvent, {
    description: 'The effects of an event, as far as the caller may see them.',
    members: {
      name: 'Name of the event.',
      wokenRunIds: 'Ids of the runs that the event woke, at most 1,000.',
      fireIds: 'Ids of the fires that the event caused.',
    },
    example: { name: 'order.paid', wokenRunIds: [RUN_ID], fireIds: [] },
  }),
  ErrorCode: namedValue(ErrorName, {
    description: 'Permanent identifier of an error. A later version of the server can add identifiers.',
    example: 'agent-not-found',
  }),
  Error: namedObject(ErrorBody, {
    description: 'The body of every error response.',
    members: {
      error: 'Identifier of the error, to branch on.',
      message: 'Explanation for people. The wording may change.',
      hint: 'What the caller can do. Absent when there is no advice. The wording may change.',
      requestId: 'Id of the request in the server log.',
    },
    example: {
      error: 'agent-not-found',
      message: 'no agent is registered as suport',
      hint: 'registered agents: support',
      requestId: 'req_01k5x3v8qk7m2n9b4c6d8f0g1h',
    },
  }),
  OpenApiDocument: namedObject(OpenApiDocument, {
    description: 'An OpenAPI document.',
    members: { openapi: 'Version of the OpenAPI specification.' },
    example: { openapi: '3.1.1' },
  }),
  AsyncApiDocument: namedObject(AsyncApiDocument, {
    description: 'An AsyncAPI document.',
    members: { asyncapi: 'Version of the AsyncAPI specification.' },
    example: { asyncapi: '3.0.0' },
  }),
} as const satisfies NamedSchemas
