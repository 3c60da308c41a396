import {
  AbortRequest,
  ErrorCause,
  FinishReason,
  ForkFromCall,
  ForkPoint,
  ForkRunRequest,
  ListedRun,
  LogLevelName,
  Metadata,
  PendingApproval,
  RerunRequest,
  RetryRunRequest,
  Run,
  RunError,
  RunErrorStep,
  RunLinks,
  RunLogLine,
  RunOutcome,
  RunRequest,
  RunStatus,
  RunUsage,
  WaitingFor,
} from '../resources/runs.ts'
import { type NamedSchemas, namedObject, namedValue } from './named-schema.ts'

export const RUN_ID = 'run_01k5x3v8qk7m2n9b4c6d8f0g1h'
const usage = { inputTokens: 812, outputTokens: 96, costUsd: 0.0031, toolCalls: 1 }
const links = { self: `/v1/runs/${RUN_ID}`, events: `/v1/runs/${RUN_ID}/events` }

export const OUTCOME_MEMBERS = {
  runId: 'Id of the run, `run_…`.',
  status: 'Status of the run at the time of the response.',
  finishReason: 'Why the run ended; null while it has not ended.',
  result: 'Value that the run returned. Present only when `status` is `completed` and the run returned a value.',
  error: 'Why the run failed or was aborted. Present only when the run ended with an error.',
  usage: 'Tokens, cost and tool calls that the run has used so far.',
  sessionId: 'Id of the session of the run; null when the run has no session.',
  threadId: 'Id of the workflow thread. Present only for runs of a workflow.',
  waitingFor: 'What the run waits for. Present only when `status` is `suspended`.',
  approvals: 'Pending approvals of the run. Present only when the run waits for an approval.',
  position: 'Position of the run in its queue; 1 is next. Present only when `status` is `queued`.',
  subject: 'Subject of the run’s events, to subscribe to over the WebSocket.',
  links: 'Paths of the run and of its events.',
}

export const OUTCOME = {
  runId: RUN_ID,
  status: 'completed',
  finishReason: 'completed',
  result: { summary: 'The parcel arrives on Friday.' },
  usage,
  sessionId: 'ses_01k5x3v8qk7m2n9b4c6d8f0g1h',
  subject: `agent:support/runs/${RUN_ID}/events`,
  links,
} as const

const RUN_MEMBERS = {
  id: 'Id of the run, `run_…`.',
  kind: 'Whether the run executes an agent or a workflow.',
  agentId: 'Id of the agent. Present only when `kind` is `agent`.',
  workflowId: 'Id of the workflow. Present only when `kind` is `workflow`.',
  threadId: 'Id of the workflow thread. Present only when `kind` is `workflow`.',
  sessionId: 'Id of the session. Absent when the run has no session.',
  owner: 'Subject of the token that started the run.',
  userId: 'End user on whose behalf the run was started. Absent when the start request named none.',
  status: 'Current status of the run.',
  finishReason: 'Why the run ended; null while it has not ended.',
  input: 'Input of the run, as the schema of the agent or workflow parsed it.',
  result: 'Value that the run returned. Present only when `status` is `completed` and the run returned a value.',
  error: 'Why the run failed or was aborted. Present only when the run ended with an error.',
  usage: 'Tokens, cost and tool calls that the run has used so far.',
  attempt: 'Number of the current or last attempt, from 1. A restart after a crash or an error adds 1.',
  parentRunId: 'Id of the run that started this run as its child. Absent when no run did.',
  triggerId: 'Id of the trigger that started the run. Absent when no trigger did.',
  traceparent: 'W3C trace context of the request that started the run. Absent when tracing recorded none.',
  metadata: 'Metadata from the start request; an empty object when the request had none.',
  createdAt: 'When the run was accepted.',
  startedAt: 'When the first attempt started. Absent while the run is queued.',
  suspendedAt: 'When the run was last suspended. Absent when it never was.',
  completedAt: 'When the run ended. Absent while it has not ended.',
  deadlineAt: 'When the `maxDuration` of the budget is used up. Absent when the run has no such limit.',
  startAt: 'Earliest start of the run or of its next attempt. Absent when the run may start at once.',
  priority: 'Rank among the queued runs of the same subject, from -100 to 100. Absent when it is 0.',
  budget: 'Limits on what the run may use. Absent when it has none.',
  abortReason:
    'Reason given by the caller who aborted the run. Absent when the run was not aborted or no reason was given.',
  version: 'Version of the registration that executes the run. Absent when the registration has no version.',
  forkOf: 'Run and call from which this run was forked. Absent when the run is not a fork.',
  links: 'Paths of the run and of its events.',
}

const run = {
  id: RUN_ID,
  kind: 'agent',
  agentId: 'support',
  sessionId: 'ses_01k5x3v8qk7m2n9b4c6d8f0g1h',
  owner: 'svc-web',
  status: 'completed',
  finishReason: 'completed',
  usage,
  attempt: 1,
  metadata: { ticket: '17' },
  createdAt: '2026-03-02T09:15:00.000Z',
  startedAt: '2026-03-02T09:15:00.004Z',
  completedAt: '2026-03-02T09:15:02.310Z',
  links,
} as const

/** Members of each request that starts a run. */
export const START_MEMBERS = {
  input: 'Input of the run. The server checks it against the schema of the agent or workflow. Default: `null`.',
  sessionId: 'Session that the run belongs to, at most 128 characters. Created on first use. Default: no session.',
  userId: 'End user on whose behalf the run starts, 1 to 128 characters.',
  metadata: 'Labels to filter runs by: at most 16 keys of up to 128 characters, with values of up to 512 characters.',
  timeoutMs:
    'Time limit of one execution in milliseconds; time in suspension does not count. Default: the limit of the registration.',
  budget: 'Limits on what the run may use. A request can only lower the limits of the registration.',
  version: 'Version of the registration to run. Default: the default version.',
  priority:
    'Rank among the queued runs of the same subject, from -100 to 100. A run with a higher rank starts earlier: each point counts as 10 seconds of waiting. Default: 0.',
  startAt:
    'Time before which the run does not start, as ISO 8601 with a UTC offset. Excludes `delayMs`. Default: the run may start at once.',
  delayMs: 'Milliseconds before which the run does not start, at most 31,536,000,000 (a year). Excludes `startAt`.',
}

const REPEAT_MEMBERS = {
  input: 'Input of the new run. Default: the input of the original run.',
  sessionId: 'Session of the new run. Default: the session of the original run.',
  threadId: 'Thread of the new run, for workflows only. Default: a new thread.',
}
const FORK_RESULTS =
  'Results to use instead of the recorded ones, by the number of the call. Each must be before the point of the fork.'

export const runSchemas = {
  RunStatus: namedValue(RunStatus, {
    description: 'Status of a run. `completed`, `failed` and `aborted` are final.',
    example: 'completed',
  }),
  FinishReason: namedValue(FinishReason, {
    description:
      'Why a run ended. `error` is an error of the run itself, `interrupted` a crash, `shutdown` a server shutdown; `timeout` and `budget-exhausted` mean that the run exceeded a limit.',
    example: 'completed',
  }),
  Metadata: namedValue(Metadata, {
    description: 'Labels: at most 16 keys of up to 128 characters, with values of up to 512 characters.',
    example: { ticket: '17' },
  }),
  RunErrorStep: namedObject(RunErrorStep, {
    description: 'The recorded call in which a run failed.',
    members: { seq: 'Number of the call within the run, from 1.', name: 'Name of the call.' },
    example: { seq: 2, name: 'charge-card' },
  }),
  ErrorCause: namedObject(ErrorCause, {
    description: 'An error that led to another error.',
    members: { name: 'Name of the error class.', message: 'Message of the error.' },
    example: { name: 'TypeError', message: 'fetch failed' },
  }),
  RunError: namedObject(RunError, {
    description: 'Why a run failed or was aborted.',
    members: {
      code: 'Permanent identifier of the error; `run-failed` when the thrown error has none.',
      message: 'Explanation for people. The wording may change.',
      step: 'The call that failed. Absent when the run did not fail in a recorded call.',
      budgetOf:
        'Id of the run whose budget was used up: this run or one of its ancestors. Present with the code `budget-exhausted`.',
      cause: 'Chain of causes, the direct cause first. Absent when the error has no cause.',
    },
    example: {
      code: 'run-failed',
      message: 'the card was declined',
      step: { seq: 2, name: 'charge-card' },
      cause: [{ name: 'TypeError', message: 'fetch failed' }],
    },
  }),
  LogLevel: namedValue(LogLevelName, { description: 'Severity of a log line, in increasing order.', example: 'info' }),
  RunLogLine: namedObject(RunLogLine, {
    description: 'A line that the code of a run wrote with `ctx.log`.',
    members: {
      eventId: 'Id of the event that carries the line.',
      at: 'When the line was written.',
      level: 'Severity of the line.',
      message: 'Text of the line.',
      fields: 'Structured data of the line. Absent when the line has none.',
    },
    example: {
      eventId: '8c1f3a.118',
      at: '2026-03-02T09:15:01.120Z',
      level: 'info',
      message: 'parcel found',
      fields: { parcel: 'PX-204' },
    },
  }),
  RunUsage: namedObject(RunUsage, {
    description: 'What a run has used, as its code reported it.',
    members: {
      inputTokens: 'Tokens sent to models.',
      outputTokens: 'Tokens received from models.',
      costUsd: 'Cost in US dollars.',
      toolCalls: 'Number of tool calls.',
    },
    example: usage,
  }),
  RunLinks: namedObject(RunLinks, {
    description: 'Paths of a run on this server.',
    members: { self: 'Path of the run.', events: 'Path of the events of the run.' },
    example: links,
  }),
  WaitingFor: namedObject(WaitingFor, {
    description: 'Something that a suspended run waits for.',
    members: {
      kind: 'What ends the wait. `code`: the run continues after the server starts with code that makes the same calls as recorded.',
      name: 'Name of the wait. Absent when `kind` is `code`.',
      approvalId: 'Id of the approval. Present only when the run waits for an approval.',
      toolCallId: 'Id of the tool call. Present only when `kind` is `client-tool`.',
      runId: 'Id of the child run. Present only when `kind` is `child`.',
      dueAt: 'When the wait ends on its own. Absent when it does not.',
      seq: 'Number of the recorded call that the code does not make. Present only after a divergence.',
      expected: 'The recorded call. Present only after a divergence.',
      found: 'The call that the code made instead; null when it ended. Present only after a divergence.',
      version: 'Version that is not registered. Present only when the run waits for this version.',
    },
    example: { kind: 'approval', name: 'refund', approvalId: 'apr_01k5x3v8qk7m2n9b4c6d8f0g1h' },
  }),
  PendingApproval: namedObject(PendingApproval, {
    description: 'An approval that a run waits for.',
    members: { id: 'Id of the approval, `apr_…`.', name: 'Name of the approval in the code of the run.' },
    example: { id: 'apr_01k5x3v8qk7m2n9b4c6d8f0g1h', name: 'refund' },
  }),
  RunOutcome: namedObject(RunOutcome, {
    description: 'The outcome of a run or, while it has none, its current status.',
    members: OUTCOME_MEMBERS,
    example: OUTCOME,
  }),
  ForkPoint: namedObject(ForkPoint, {
    description: 'The point in another run from which a run was forked.',
    members: { runId: 'Id of the original run.', seq: 'Number of the first call that was not copied, from 1.' },
    example: { runId: RUN_ID, seq: 3 },
  }),
  Run: namedObject(Run, {
    description: 'One execution of an agent or a workflow.',
    members: RUN_MEMBERS,
    example: { ...run, input: { question: 'Where is my parcel?' }, result: OUTCOME.result },
  }),
  ListedRun: namedObject(ListedRun, {
    description: 'A run in a list.',
    members: {
      ...RUN_MEMBERS,
      input: 'Input of the run. Present only when the request has `include=input`.',
      result:
        'Value that the run returned. Present only when the request has `include=result` and the run returned a value.',
    },
    example: run,
  }),
  RunRequest: namedObject(RunRequest, {
    description: 'Starts a run of an agent.',
    members: START_MEMBERS,
    example: { input: { question: 'Where is my parcel?' }, metadata: { ticket: '17' } },
  }),
  ForkFromCall: namedObject(ForkFromCall, {
    description: 'Forks a run before one of its recorded calls.',
    members: { seq: 'Number of the first call to make again, from 1.' },
    example: { seq: 3 },
  }),
  ForkRunRequest: namedObject(ForkRunRequest, {
    description: 'Starts a new run that keeps the recorded calls of this run before a given point.',
    members: {
      from: 'The point: `failure`, `start`, or the number of a call.',
      results: FORK_RESULTS,
      ...REPEAT_MEMBERS,
    },
    example: { from: { seq: 3 }, results: { 2: { paid: true } } },
  }),
  RetryRunRequest: namedObject(RetryRunRequest, {
    description: 'Starts a new run that keeps the recorded calls of this run before its failure.',
    members: { results: FORK_RESULTS, ...REPEAT_MEMBERS },
    example: { results: { 2: { paid: true } } },
  }),
  RerunRequest: namedObject(RerunRequest, {
    description: 'Starts a new run with the input of this run and without its recorded calls.',
    members: REPEAT_MEMBERS,
    example: { input: { question: 'Where is my second parcel?' } },
  }),
  AbortRequest: namedObject(AbortRequest, {
    description: 'Aborts one or more runs.',
    members: { reason: 'Reason that the runs keep as `abortReason`, at most 512 characters.' },
    example: { reason: 'asked by the customer' },
  }),
} as const satisfies NamedSchemas
