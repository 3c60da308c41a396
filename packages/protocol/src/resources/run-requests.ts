import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { OperatorId, Timestamp } from '../ids.ts'
import { strictObject } from '../plain-object.ts'
import { OnBusy } from './agents.ts'
import { Budget, TimeoutMs } from './budgets.ts'
import { SentMetadata } from './metadata.ts'
import { Priority } from './runs.ts'

const YEAR_MS = 365 * 86_400_000
const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z')

const StartTimestamp = v.pipe(
  Timestamp,
  v.check((time) => Date.parse(time) <= LAST_TIME, 'must not be after the year 9999 in UTC'),
)

/** The members of each request that starts a run. */
export const StartEntries = {
  input: member(
    v.optional(v.unknown()),
    'Input of the run. The server checks it against the schema of the agent or workflow. Default: `null`.',
  ),
  sessionId: member(
    v.optional(OperatorId),
    'Session that the run belongs to, at most 128 characters. Created on first use. Default: no session.',
  ),
  userId: member(
    v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(128))),
    'End user on whose behalf the run starts, 1 to 128 characters.',
  ),
  metadata: member(
    v.optional(SentMetadata),
    'Labels to filter runs by: at most 16 keys of up to 128 characters, with values of up to 512 characters.',
  ),
  timeoutMs: member(
    v.optional(TimeoutMs),
    'Time limit of one execution in milliseconds; time in suspension does not count. Default: the limit of the registration.',
  ),
  budget: member(
    v.optional(Budget),
    'Limits on what the run may use. A request can only lower the limits of the registration.',
  ),
  version: member(v.optional(OperatorId), 'Version of the registration to run. Default: the default version.'),
  priority: member(
    v.optional(Priority),
    'Rank among the queued runs of the same subject, from -100 to 100. A run with a higher rank starts earlier: each point counts as 10 seconds of waiting. Default: 0.',
  ),
  startAt: member(
    v.optional(StartTimestamp),
    'Time before which the run does not start, as ISO 8601 with a UTC offset. Excludes `delayMs`. Default: the run may start at once.',
  ),
  delayMs: member(
    v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(YEAR_MS))),
    'Milliseconds before which the run does not start, at most 31,536,000,000 (a year). Excludes `startAt`.',
  ),
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

const AgentStartEntries = {
  ...StartEntries,
  onBusy: member(
    v.optional(OnBusy),
    'Treatment of the run while the agent is busy: one of the choices of its registration. Default: its first choice.',
  ),
  replaces: member(
    v.optional(OperatorId),
    'Id of an earlier run of the session. It and all later runs of the session are withdrawn from the conversation, and aborted.',
  ),
}

export const RunRequest = documented(
  v.pipe(strictObject(AgentStartEntries), oneStartTime()),
  'Starts a run of an agent.',
  {
    input: { question: 'Where is my parcel?' },
    metadata: { ticket: '17' },
  },
)

export const EditMessageRequest = documented(
  strictObject({ input: member(v.unknown(), 'New input of the run.') }),
  'Changes the input of a run that has not started.',
  { input: { question: 'Where is my second parcel?' } },
)

const RepeatEntries = {
  input: member(v.optional(v.unknown()), 'Input of the new run. Default: the input of the original run.'),
  sessionId: member(v.optional(OperatorId), 'Session of the new run. Default: the session of the original run.'),
  threadId: member(v.optional(OperatorId), 'Thread of the new run, for workflows only. Default: a new thread.'),
}

const Seq = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(Number.MAX_SAFE_INTEGER))
const ForkResults = v.record(
  v.pipe(v.string(), v.regex(/^[1-9][0-9]{0,15}$/, 'must be the number of a call')),
  v.unknown(),
)

export const ForkFromCall = documented(
  strictObject({ seq: member(Seq, 'Number of the first call to make again, from 1.') }),
  'Forks a run before one of its recorded calls.',
  { seq: 3 },
)

export const ForkRunRequest = documented(
  strictObject({
    from: member(
      v.union([v.picklist(['failure', 'start']), ForkFromCall]),
      'The point: `failure`, `start`, or the number of a call.',
    ),
    results: member(
      v.optional(ForkResults),
      'Results to use instead of the recorded ones, by the number of the call. Each must be before the point of the fork.',
    ),
    ...RepeatEntries,
  }),
  'Starts a new run that keeps the recorded calls of this run before a given point.',
  { from: { seq: 3 }, results: { 2: { paid: true } } },
)
export const RetryRunRequest = documented(
  strictObject({
    results: member(
      v.optional(ForkResults),
      'Results to use instead of the recorded ones, by the number of the call. Each must be before the point of the fork.',
    ),
    ...RepeatEntries,
  }),
  'Starts a new run that keeps the recorded calls of this run before its failure.',
  { results: { 2: { paid: true } } },
)
export const RerunRequest = documented(
  strictObject(RepeatEntries),
  'Starts a new run with the input of this run and without its recorded calls.',
  { input: { question: 'Where is my second parcel?' } },
)

export const AbortRequest = documented(
  strictObject({
    reason: member(
      v.optional(v.pipe(v.string(), v.maxLength(512))),
      'Reason that the runs keep as `abortReason`, at most 512 characters.',
    ),
  }),
  'Aborts one or more runs.',
  { reason: 'asked by the customer' },
)
