import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { Timestamp } from '../ids.ts'
import { RUN_STATUS_NAMES } from '../run-statuses.ts'
import { Count } from './count.ts'
import { APPROVAL_ID, RUN_ID } from './example-ids.ts'

export const RunStatus = documented(
  v.picklist(RUN_STATUS_NAMES),
  'Status of a run. `completed`, `failed` and `aborted` are final.',
  'completed',
)

export const FINISH_REASONS = [
  'completed',
  'error',
  'aborted',
  'timeout',
  'shutdown',
  'interrupted',
  'budget-exhausted',
  'joined',
] as const
export const FinishReason = documented(
  v.picklist(FINISH_REASONS),
  'Why a run ended. `error` is an error of the run itself, `interrupted` a crash, `shutdown` a server shutdown; `timeout` and `budget-exhausted` mean that the run exceeded a limit; `joined` that another run of the session has taken the message before this run started.',
  'completed',
)

export const RunErrorStep = documented(
  v.object({
    seq: member(Count, 'Number of the call within the run, from 1.'),
    name: member(v.string(), 'Name of the call.'),
  }),
  'The recorded call in which a run failed.',
  { seq: 2, name: 'charge-card' },
)
export const ErrorCause = documented(
  v.object({
    name: member(v.string(), 'Name of the error class.'),
    message: member(v.string(), 'Message of the error.'),
  }),
  'An error that led to another error.',
  { name: 'TypeError', message: 'fetch failed' },
)

export const RunError = documented(
  v.object({
    code: member(v.string(), 'Permanent identifier of the error; `run-failed` when the thrown error has none.'),
    message: member(v.string(), 'Explanation for people. The wording may change.'),
    step: member(
      v.optional(RunErrorStep),
      'The call that failed. Absent when the run did not fail in a recorded call.',
    ),
    budgetOf: member(
      v.optional(v.string()),
      'Id of the run whose budget was used up: this run or one of its ancestors. Present with the code `budget-exhausted`.',
    ),
    cause: member(
      v.optional(v.array(ErrorCause)),
      'Chain of causes, the direct cause first. Absent when the error has no cause.',
    ),
  }),
  'Why a run failed or was aborted.',
  {
    code: 'run-failed',
    message: 'the card was declined',
    step: { seq: 2, name: 'charge-card' },
    cause: [{ name: 'TypeError', message: 'fetch failed' }],
  },
)

export const USAGE = { inputTokens: 812, outputTokens: 96, costUsd: 0.0031, toolCalls: 1 }

export const RunUsage = documented(
  v.object({
    inputTokens: member(v.number(), 'Tokens sent to models.'),
    outputTokens: member(v.number(), 'Tokens received from models.'),
    costUsd: member(v.number(), 'Cost in US dollars.'),
    toolCalls: member(Count, 'Number of tool calls.'),
  }),
  'What a run has used, as its code reported it.',
  USAGE,
)

export const LINKS = { self: `/v1/runs/${RUN_ID}`, events: `/v1/runs/${RUN_ID}/events` }

export const RunLinks = documented(
  v.object({
    self: member(v.string(), 'Path of the run.'),
    events: member(v.string(), 'Path of the events of the run.'),
  }),
  'Paths of a run on this server.',
  LINKS,
)

export const WaitingFor = documented(
  v.object({
    kind: member(
      v.picklist(['sleep', 'event', 'approval', 'child', 'client-tool', 'resume', 'step', 'code']),
      'What ends the wait. `code`: the run continues after the server starts with code that makes the same calls as recorded.',
    ),
    name: member(v.optional(v.string()), 'Name of the wait. Absent when `kind` is `code`.'),
    approvalId: member(v.optional(v.string()), 'Id of the approval. Present only when the run waits for an approval.'),
    toolCallId: member(v.optional(v.string()), 'Id of the tool call. Present only when `kind` is `client-tool`.'),
    runId: member(v.optional(v.string()), 'Id of the child run. Present only when `kind` is `child`.'),
    dueAt: member(v.optional(Timestamp), 'When the wait ends on its own. Absent when it does not.'),
    seq: member(
      v.optional(Count),
      'Number of the recorded call that the code does not make. Present only after a divergence.',
    ),
    expected: member(v.optional(v.string()), 'The recorded call. Present only after a divergence.'),
    found: member(
      v.optional(v.nullable(v.string())),
      'The call that the code made instead; null when it ended. Present only after a divergence.',
    ),
    version: member(
      v.optional(v.string()),
      'Version that is not registered. Present only when the run waits for this version.',
    ),
  }),
  'Something that a suspended run waits for.',
  { kind: 'approval', name: 'refund', approvalId: APPROVAL_ID },
)

export const PendingApproval = documented(
  v.object({
    id: member(v.string(), 'Id of the approval, `apr_…`.'),
    name: member(v.string(), 'Name of the approval in the code of the run.'),
  }),
  'An approval that a run waits for.',
  { id: APPROVAL_ID, name: 'refund' },
)

export const OUTCOME = {
  runId: RUN_ID,
  status: 'completed',
  finishReason: 'completed',
  result: { summary: 'The parcel arrives on Friday.' },
  usage: USAGE,
  sessionId: 'ses_01k5x3v8qk7m2n9b4c6d8f0g1h',
  subject: `agent:support/runs/${RUN_ID}/events`,
  links: LINKS,
} as const

export const RunOutcome = documented(
  v.object({
    runId: member(v.string(), 'Id of the run, `run_…`.'),
    status: member(RunStatus, 'Status of the run at the time of the response.'),
    finishReason: member(v.nullable(FinishReason), 'Why the run ended; null while it has not ended.'),
    joinedTo: member(
      v.optional(v.string()),
      'Id of the run that has taken the message of this run. Present only when `finishReason` is `joined`.',
    ),
    result: member(
      v.optional(v.unknown()),
      'Value that the run returned. Present only when `status` is `completed` and the run returned a value.',
    ),
    error: member(
      v.optional(RunError),
      'Why the run failed or was aborted. Present only when the run ended with an error.',
    ),
    usage: member(RunUsage, 'Tokens, cost and tool calls that the run has used so far.'),
    sessionId: member(v.nullable(v.string()), 'Id of the session of the run; null when the run has no session.'),
    threadId: member(v.optional(v.string()), 'Id of the workflow thread. Present only for runs of a workflow.'),
    waitingFor: member(
      v.optional(v.array(WaitingFor)),
      'What the run waits for. Present only when `status` is `suspended`.',
    ),
    approvals: member(
      v.optional(v.array(PendingApproval)),
      'Pending approvals of the run. Present only when the run waits for an approval.',
    ),
    position: member(
      v.optional(Count),
      'Position of the run in its queue; 1 is next. Present only when `status` is `queued`.',
    ),
    subject: member(v.string(), 'Subject of the run’s events, to subscribe to over the WebSocket.'),
    links: member(RunLinks, 'Paths of the run and of its events.'),
  }),
  'The outcome of a run or, while it has none, its current status.',
  OUTCOME,
)
