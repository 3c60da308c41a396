import * as v from 'valibot'
import { IdempotencyKey, OperatorId, Timestamp } from '../ids.ts'
import type { OperationTable } from '../operation.ts'
import { EventEnvelope } from '../resources/event-envelope.ts'
import { CaseRequest, KeptRun } from '../resources/kept-cases.ts'
import { Include, listOf, PageEntries } from '../resources/list.ts'
import { FilterValue, MetadataFilter } from '../resources/metadata.ts'
import { Receipt } from '../resources/queued-messages.ts'
import { ReplayRequest, ResumeRequest } from '../resources/replay.ts'
import { LogLevelName, RunLogLine } from '../resources/run-logs.ts'
import { FinishReason, RunOutcome, RunStatus } from '../resources/run-outcome.ts'
import {
  AbortRequest,
  EditMessageRequest,
  ForkRunRequest,
  RerunRequest,
  RetryRunRequest,
} from '../resources/run-requests.ts'
import { ListedRun, Run } from '../resources/runs.ts'
import { DECIDE, DECISION_REFUSALS } from './approvals.ts'

const READ = { anyOf: ['runs:read:{runId}', 'agents:read:{agentId}', 'workflows:read:{workflowId}'] } as const
/** The scopes that make a run visible. */
export const RUN_SIGHT = READ.anyOf

const ACT = { anyOf: ['agents:invoke:{agentId}', 'workflows:execute:{workflowId}'] } as const

/** A fork that keeps a decision also needs the scope to decide. */
const REPAIR = ['runs:repair:{runId}', ...DECIDE] as const

/** What the operations that repeat a run have in common. */
const REPEAT = {
  method: 'POST',
  scope: ACT,
  sight: RUN_SIGHT,
  idempotent: true,
  privileged: true,
  responses: { 202: { schema: RunOutcome, location: true, description: 'The new run.' } },
  errors: [
    'run-not-found',
    'run-active',
    'agent-not-found',
    'workflow-not-found',
    'version-unknown',
    'session-not-found',
    'thread-not-found',
    'invalid-input',
    'agent-busy',
    'queue-full',
    'quota-exceeded',
    'server-draining',
  ],
} as const

export const runOperations = {
  listRuns: {
    id: 'runs.list',
    method: 'GET',
    path: '/runs',
    scope: { anyOf: ['runs:read:{runId}'] },
    idempotent: false,
    query: v.strictObject({
      ...PageEntries,
      status: v.optional(RunStatus),
      agentId: v.optional(OperatorId),
      workflowId: v.optional(OperatorId),
      sessionId: v.optional(OperatorId),
      threadId: v.optional(OperatorId),
      parentRunId: v.optional(OperatorId),
      since: v.optional(Timestamp),
      until: v.optional(Timestamp),
      owner: v.optional(FilterValue),
      userId: v.optional(FilterValue),
      metadata: v.optional(MetadataFilter),
      tag: v.optional(FilterValue),
      version: v.optional(OperatorId),
      finishReason: v.optional(FinishReason),
      code: v.optional(FilterValue),
      idempotencyKey: v.optional(IdempotencyKey),
      include: Include,
    }),
    responses: { 200: { schema: listOf(ListedRun), description: 'Runs, newest first.' } },
    errors: [],
    summary: 'List runs.',
  },
  getRun: {
    id: 'runs.get',
    method: 'GET',
    path: '/runs/:runId',
    scope: READ,
    idempotent: false,
    responses: { 200: { schema: Run, description: 'The run.' } },
    errors: ['run-not-found'],
    summary: 'Read a run.',
  },
  getRunState: {
    id: 'runs.state',
    method: 'GET',
    path: '/runs/:runId/state',
    scope: READ,
    idempotent: false,
    responses: { 200: { schema: RunOutcome, description: 'The current status of the run, or its outcome.' } },
    errors: ['run-not-found'],
    summary: 'Read the outcome of a run.',
  },
  getRunEvents: {
    id: 'runs.events',
    method: 'GET',
    path: '/runs/:runId/events',
    scope: READ,
    idempotent: false,
    query: v.strictObject({
      ...PageEntries,
      order: v.optional(v.picklist(['asc', 'desc']), 'asc'),
      lastEventId: v.optional(v.string()),
    }),
    responses: {
      200: {
        schema: listOf(EventEnvelope),
        stream: 'event-stream',
        description: 'A page of events, or the live stream with Accept: text/event-stream.',
      },
      204: { description: 'The run has ended and the cursor is at its last event: no more events will follow.' },
    },
    errors: ['run-not-found', 'overloaded'],
    summary: 'Read or follow the events of a run.',
  },
  getRunLogs: {
    id: 'runs.logs',
    method: 'GET',
    path: '/runs/:runId/logs',
    scope: READ,
    idempotent: false,
    query: v.strictObject({
      ...PageEntries,
      order: v.optional(v.picklist(['asc', 'desc']), 'asc'),
      level: v.optional(LogLevelName),
    }),
    responses: { 200: { schema: listOf(RunLogLine), description: 'Log lines, oldest first.' } },
    errors: ['run-not-found'],
    summary: 'Read the lines that the code of a run logged.',
  },
  abortRun: {
    id: 'runs.abort',
    method: 'POST',
    path: '/runs/:runId/abort',
    scope: ACT,
    sight: RUN_SIGHT,
    idempotent: true,
    body: AbortRequest,
    responses: {
      200: { schema: RunOutcome, description: 'The run is aborted; aborting it again returns the same response.' },
    },
    errors: ['run-not-found', 'run-not-active', 'session-not-found', 'thread-not-found'],
    summary: 'Abort a run.',
  },
  getReceipt: {
    id: 'runs.receipt',
    method: 'GET',
    path: '/runs/:runId/receipt',
    scope: READ,
    idempotent: false,
    responses: { 200: { schema: Receipt, description: 'The state of the message.' } },
    errors: ['run-not-found'],
    summary: 'Read the state of the message that started a run.',
  },
  editQueuedMessage: {
    id: 'runs.edit',
    method: 'PATCH',
    path: '/runs/:runId',
    scope: ACT,
    sight: RUN_SIGHT,
    idempotent: true,
    body: EditMessageRequest,
    responses: { 200: { schema: RunOutcome, description: 'The run waits with its new input.' } },
    errors: [
      'run-not-found',
      'run-not-queued',
      'invalid-input',
      'file-not-found',
      'agent-not-found',
      'workflow-not-found',
      'version-unknown',
    ],
    summary: 'Change the input of a run that has not started.',
  },
  withdrawQueuedMessage: {
    id: 'runs.withdraw',
    method: 'POST',
    path: '/runs/:runId/withdraw',
    scope: ACT,
    sight: RUN_SIGHT,
    idempotent: true,
    responses: {
      200: { schema: RunOutcome, description: 'The run is aborted, and its message is not in the conversation.' },
    },
    errors: ['run-not-found', 'run-not-queued'],
    summary: 'Withdraw a message that waits.',
  },
  forkRun: {
    id: 'runs.fork',
    path: '/runs/:runId/fork',
    ...REPEAT,
    mayNeed: REPAIR,
    body: ForkRunRequest,
    summary: 'Start a new run with the recorded calls of this run before a point.',
  },
  retryRun: {
    id: 'runs.retry',
    path: '/runs/:runId/retry',
    ...REPEAT,
    mayNeed: REPAIR,
    body: RetryRunRequest,
    summary: 'Repeat a run from its failure.',
  },
  rerunRun: {
    id: 'runs.rerun',
    path: '/runs/:runId/rerun',
    ...REPEAT,
    body: RerunRequest,
    summary: 'Repeat a run from its start.',
  },
  resumeRun: {
    id: 'runs.resume',
    method: 'POST',
    path: '/runs/:runId/resume',
    scope: ACT,
    sight: RUN_SIGHT,
    mayNeed: DECIDE,
    idempotent: true,
    body: ResumeRequest,
    responses: { 200: { schema: RunOutcome, description: 'The outcome of the resumed run.' } },
    errors: [
      'run-not-found',
      'run-not-suspended',
      ...DECISION_REFUSALS,
      'tool-call-not-found',
      'tool-call-ended',
      'run-not-active',
      'session-not-found',
      'thread-not-found',
      'server-draining',
    ],
    summary: 'Resume a suspended run.',
  },
  replayRun: {
    id: 'runs.replay',
    method: 'POST',
    path: '/runs/:runId/replay',
    scope: { scope: 'traces:read:sanitized', rawScope: 'traces:read:raw' },
    idempotent: true,
    changesNothing: true,
    rereads: true,
    privileged: true,
    body: ReplayRequest,
    responses: {
      200: { schema: listOf(EventEnvelope), stream: 'event-stream', description: 'The recorded events.' },
    },
    errors: ['run-not-found', 'overloaded'],
    summary: 'Replay the recorded events of a run.',
  },
  keepCase: {
    id: 'runs.case',
    method: 'POST',
    path: '/runs/:runId/case',
    scope: READ,
    idempotent: true,
    changesNothing: true,
    rereads: true,
    privileged: true,
    body: CaseRequest,
    responses: { 200: { schema: KeptRun, description: 'The case, and how it differs from the run.' } },
    errors: ['run-not-found'],
    summary: 'Make a case of `perdure eval` from a run.',
  },
} as const satisfies OperationTable
