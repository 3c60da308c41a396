import * as v from 'valibot'
import { OperatorId, Timestamp } from '../ids.ts'
import { record, strictObject } from '../plain-object.ts'
import { RUN_STATUS_NAMES } from '../run-statuses.ts'
import { Count } from './count.ts'

export const RunStatus = v.picklist(RUN_STATUS_NAMES)

export const FINISH_REASONS = [
  'completed',
  'error',
  'aborted',
  'timeout',
  'shutdown',
  'interrupted',
  'budget-exhausted',
] as const
export const FinishReason = v.picklist(FINISH_REASONS)

/** At most 16 keys of up to 512 characters. */
export const Metadata = v.pipe(
  record(v.pipe(v.string(), v.minLength(1), v.maxLength(128)), v.pipe(v.string(), v.maxLength(512))),
  v.maxEntries(16, 'must have at most 16 keys'),
)

/** Metadata that the server keeps about a chat has keys with this prefix. */
export const RESERVED_METADATA = 'interop.'

/** Metadata in a request. */
export const SentMetadata = v.pipe(
  Metadata,
  v.check(
    (metadata) => Object.keys(metadata).every((key) => !key.startsWith(RESERVED_METADATA)),
    `must have no key that starts with ${RESERVED_METADATA}: the server keeps its own values there`,
  ),
)

/** A value to filter by. */
export const FilterValue = v.pipe(v.string(), v.minLength(1), v.maxLength(512))

/** Metadata that the listed items must have. In a query, each is a member `metadata.<key>`. */
export const MetadataFilter = v.pipe(
  record(v.pipe(v.string(), v.minLength(1), v.maxLength(128)), v.pipe(v.string(), v.maxLength(512))),
  v.maxEntries(3, 'must have at most 3 keys'),
)

export const RunErrorStep = v.object({ seq: Count, name: v.string() })
export const ErrorCause = v.object({ name: v.string(), message: v.string() })

export const RunError = v.object({
  code: v.string(),
  message: v.string(),
  step: v.optional(RunErrorStep),
  budgetOf: v.optional(v.string()),
  cause: v.optional(v.array(ErrorCause)),
})

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]
export const LogLevelName = v.picklist(LOG_LEVELS)

const LogEntries = {
  level: LogLevelName,
  message: v.string(),
  fields: v.optional(v.record(v.string(), v.unknown())),
}

/** A line that the code of a run wrote with `ctx.log`. */
export const RunLogLine = v.object({ eventId: v.string(), at: Timestamp, ...LogEntries })
export const RunLogEvent = v.object({ runId: v.string(), ...LogEntries })

export const RunUsage = v.object({
  inputTokens: v.number(),
  outputTokens: v.number(),
  costUsd: v.number(),
  toolCalls: Count,
})

export const RunLinks = v.object({ self: v.string(), events: v.string() })

/**
 * Something that a suspended run waits for. `code`: the registered code does not make the recorded calls, or its version
 * is not registered; such a wait has no name.
 */
export const WaitingFor = v.object({
  kind: v.picklist(['sleep', 'event', 'approval', 'child', 'client-tool', 'resume', 'step', 'code']),
  name: v.optional(v.string()),
  approvalId: v.optional(v.string()),
  toolCallId: v.optional(v.string()),
  runId: v.optional(v.string()),
  dueAt: v.optional(Timestamp),
  seq: v.optional(Count),
  expected: v.optional(v.string()),
  found: v.optional(v.nullable(v.string())),
  version: v.optional(v.string()),
})

/** A hundred years. A longer timeout would never expire in practice, and its deadline might not be a valid date. */
const LONGEST_MS = 36_525 * 86_400_000

const TimeoutMs = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(LONGEST_MS))

/** Limits on what a run may use. A run that reaches a limit ends with the finish reason `budget-exhausted`. */
export const Budget = strictObject({
  tokens: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(Number.MAX_SAFE_INTEGER))),
  costUsd: v.optional(v.pipe(v.number(), v.gtValue(0))),
  toolCalls: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(Number.MAX_SAFE_INTEGER))),
  maxDuration: v.optional(TimeoutMs),
})

/** The budget of a run, as its registration and its request have set it. */
export const RunBudget = v.object({ ...Budget.entries, onExceeded: v.optional(v.picklist(['fail', 'ask'])) })

export const PendingApproval = v.object({ id: v.string(), name: v.string() })

/** The outcome or current status of a run: the response body of every request that starts a run or waits for it. */
export const RunOutcome = v.object({
  runId: v.string(),
  status: RunStatus,
  finishReason: v.nullable(FinishReason),
  result: v.optional(v.unknown()),
  error: v.optional(RunError),
  usage: RunUsage,
  sessionId: v.nullable(v.string()),
  threadId: v.optional(v.string()),
  waitingFor: v.optional(v.array(WaitingFor)),
  approvals: v.optional(v.array(PendingApproval)),
  position: v.optional(Count),
  subject: v.string(),
  links: RunLinks,
})

/** The point in another run from which a run was forked. */
export const ForkPoint = v.object({ runId: v.string(), seq: Count })

const MAX_PRIORITY = 100

/** Each point counts as 10 seconds of waiting. */
const Priority = v.pipe(v.number(), v.integer(), v.minValue(-MAX_PRIORITY), v.maxValue(MAX_PRIORITY))

export const Run = v.object({
  id: v.string(),
  kind: v.picklist(['agent', 'workflow']),
  agentId: v.optional(v.string()),
  workflowId: v.optional(v.string()),
  threadId: v.optional(v.string()),
  sessionId: v.optional(v.string()),
  owner: v.string(),
  userId: v.optional(v.string()),
  status: RunStatus,
  finishReason: v.nullable(FinishReason),
  input: v.unknown(),
  result: v.optional(v.unknown()),
  error: v.optional(RunError),
  usage: RunUsage,
  attempt: Count,
  parentRunId: v.optional(v.string()),
  triggerId: v.optional(v.string()),
  traceparent: v.optional(v.string()),
  metadata: Metadata,
  createdAt: Timestamp,
  startedAt: v.optional(Timestamp),
  suspendedAt: v.optional(Timestamp),
  completedAt: v.optional(Timestamp),
  deadlineAt: v.optional(Timestamp),
  startAt: v.optional(Timestamp),
  priority: v.optional(Priority),
  budget: v.optional(RunBudget),
  abortReason: v.optional(v.string()),
  version: v.optional(v.string()),
  forkOf: v.optional(ForkPoint),
  links: RunLinks,
})

/** A run in a list, which holds `input` and `result` only on request. */
export const ListedRun = v.object({ ...Run.entries, input: v.optional(v.unknown()) })

const YEAR_MS = 365 * 86_400_000
const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z')

const StartTimestamp = v.pipe(
  Timestamp,
  v.check((time) => Date.parse(time) <= LAST_TIME, 'must not be after the year 9999 in UTC'),
)

/** The members of each request that starts a run. */
export const StartEntries = {
  input: v.optional(v.unknown()),
  sessionId: v.optional(OperatorId),
  userId: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(128))),
  metadata: v.optional(SentMetadata),
  timeoutMs: v.optional(TimeoutMs),
  budget: v.optional(Budget),
  version: v.optional(OperatorId),
  priority: v.optional(Priority),
  startAt: v.optional(StartTimestamp),
  delayMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(YEAR_MS))),
}

interface StartTime {
  readonly startAt?: string | undefined
  readonly delayMs?: number | undefined
}

/** Rejects a request with two start times. */
export const oneStartTime = <Request extends StartTime>() =>
  v.check<Request, string>(
    ({ startAt, delayMs }) => startAt === undefined || delayMs === undefined,
    'startAt and delayMs exclude each other',
  )

export const RunRequest = v.pipe(strictObject(StartEntries), oneStartTime())

const RepeatEntries = {
  input: v.optional(v.unknown()),
  sessionId: v.optional(OperatorId),
  threadId: v.optional(OperatorId),
}

const Seq = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(Number.MAX_SAFE_INTEGER))
const ForkResults = v.record(
  v.pipe(v.string(), v.regex(/^[1-9][0-9]{0,15}$/, 'must be the number of a call')),
  v.unknown(),
)

export const ForkFromCall = strictObject({ seq: Seq })

/** Starts a new run with the recorded calls of this one before the point. */
export const ForkRunRequest = strictObject({
  from: v.union([v.picklist(['failure', 'start']), ForkFromCall]),
  results: v.optional(ForkResults),
  ...RepeatEntries,
})
export const RetryRunRequest = strictObject({ results: v.optional(ForkResults), ...RepeatEntries })
export const RerunRequest = strictObject(RepeatEntries)

export const AbortRequest = strictObject({ reason: v.optional(v.pipe(v.string(), v.maxLength(512))) })

export const EventEnvelope = v.object({
  eventId: v.string(),
  subject: v.string(),
  type: v.string(),
  payload: v.unknown(),
  at: Timestamp,
  runId: v.optional(v.string()),
})
