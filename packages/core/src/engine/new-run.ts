import {
  type Clock,
  type EpochMs,
  type FlowKeys,
  type IdGenerator,
  NO_USAGE,
  perdureError,
  plusMs,
  type RunBudget,
  type RunRecord,
  toJsonText,
} from '@perdure/ports'
import type { Principal } from '../auth/principal.ts'
import { isLongerThan } from '../json/json-members.ts'
import type { DebounceRule } from '../targets/flow-control.ts'
import type { OnBusy } from '../targets/registration.ts'
import type { RunTarget } from '../targets/run-target.ts'
import { flowKeysOf, withoutDebounce } from './lanes/flow-keys.ts'
import { smaller, smallerBudget } from './smaller-budget.ts'

export interface NewRunDeps {
  readonly ids: IdGenerator
  readonly clock: Clock
  readonly maxResultBytes: number
}

export interface RunRequestBody {
  readonly input?: unknown
  readonly sessionId?: string | undefined
  readonly userId?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly timeoutMs?: number | undefined
  readonly budget?: RunBudget | undefined
  /** The version of the registration to execute; the default when missing. */
  readonly version?: string | undefined
  /** For workflows: the thread to continue; a new thread when missing. */
  readonly threadId?: string | undefined
  /** For agents: a run of the session. The new run withdraws it and all later runs of the session from the conversation. */
  readonly replaces?: string | undefined
  /** The treatment of the run while the agent is busy; must be a choice of its registration. Default: its first choice. */
  readonly onBusy?: OnBusy | undefined
  /** From -100 to 100; 0 when missing. Each point counts as 10 seconds of waiting for a slot. */
  readonly priority?: number | undefined
  /** The run starts at this time at the earliest. ISO-8601. */
  readonly startAt?: string | undefined
  /** The run starts after this time at the earliest. Milliseconds. */
  readonly delayMs?: number | undefined
}

type NewTarget = Pick<RunTarget, 'kind' | 'id' | 'version' | 'timeoutMs' | 'budget' | 'concurrency' | 'debounce'>

interface Accepted {
  readonly target: NewTarget
  /** The parsed input. */
  readonly input: unknown
  readonly flow: FlowKeys | undefined
}

export interface NewRunRequest {
  readonly body: RunRequestBody
  readonly principal: Pick<Principal, 'subject' | 'caller'>
  readonly origin?: { readonly triggerId?: string }
  readonly seed?: unknown
  readonly traceparent?: string | undefined
}

/** The keys by which flow control groups the run. Computed once, because key functions may have effects. */
export function acceptedFlow(
  request: NewRunRequest,
  target: NewTarget & Pick<RunTarget, 'rateLimit' | 'onBusy'>,
  input: unknown,
): FlowKeys | undefined {
  const { body, principal, seed } = request
  if (seed !== undefined && body.input === undefined) return undefined
  const { sessionId, userId, metadata = {} } = body
  const keys = flowKeysOf(target, { sessionId, userId, metadata, owner: principal.subject }, input)
  return withOnBusy(isDebounced(request) ? keys : withoutDebounce(keys), target, sessionId)
}

/** Notes what the run does to the run ahead of it in its session. */
function withOnBusy(
  keys: FlowKeys | undefined,
  { kind, concurrency, onBusy }: Pick<RunTarget, 'kind' | 'concurrency' | 'onBusy'>,
  sessionId: string | undefined,
): FlowKeys | undefined {
  const isOfSession = kind === 'agent' && concurrency === 'session' && sessionId !== undefined
  return isOfSession && (onBusy === 'steer' || onBusy === 'interrupt') ? { ...keys, onBusy } : keys
}

/** The target with the choice of the request. @throws PerdureError `validation-failed` for a choice that it does not offer */
export function chosenTarget(target: RunTarget, { onBusy }: Pick<RunRequestBody, 'onBusy'>): RunTarget {
  if (onBusy === undefined) return target
  if (target.onBusyChoices.includes(onBusy)) return { ...target, onBusy }
  throw perdureError('validation-failed', {
    message: `body.onBusy: the ${target.kind} ${target.id} offers ${target.onBusyChoices.join(', ')}, not ${onBusy}`,
    hint: `list it in the registration: onBusy: ['${target.onBusyChoices[0]}', '${onBusy}']`,
  })
}

/** The record of the run that a request asks for. @throws PerdureError `body-too-large` */
export function newRun(
  { ids, clock, maxResultBytes }: NewRunDeps,
  { body, principal, origin, traceparent }: NewRunRequest,
  { target, input, flow }: Accepted,
): RunRecord {
  const text = toJsonText(input)
  if (isLongerThan(text, maxResultBytes)) throw perdureError('body-too-large', { hint: 'raise runs.maxResultBytes' })
  const budget = smallerBudget(body.budget, target.budget)
  const { maxDuration } = budget ?? {}
  const createdAt = clock.now()
  const { sessionId, userId, metadata = {} } = body
  const startAt = startTimeOf(body, createdAt, flow?.debounce === undefined ? undefined : target.debounce)
  return {
    id: ids.newId('run'),
    kind: target.kind,
    targetId: target.id,
    version: target.version,
    threadId: target.kind === 'workflow' ? (body.threadId ?? ids.newId('thread')) : undefined,
    sessionId,
    owner: principal.subject,
    caller: principal.caller,
    userId,
    status: 'queued',
    flow,
    startAt,
    priority: body.priority === 0 ? undefined : body.priority,
    input: text,
    usage: NO_USAGE,
    attempt: 1,
    execution: 0,
    timeoutMs: smaller(body.timeoutMs, target.timeoutMs),
    budget,
    deadlineAt: maxDuration === undefined ? undefined : plusMs(startAt ?? createdAt, maxDuration),
    depth: 0,
    triggerId: origin?.triggerId,
    traceparent,
    metadata,
    createdAt,
  }
}

/** Whether the request may be combined with others: it is neither a fire, nor a repetition, nor bound to a thread. */
const isDebounced = ({ body, origin, seed }: NewRunRequest): boolean =>
  origin === undefined && seed === undefined && body.threadId === undefined

/** `undefined` when the run may start at once. */
function startTimeOf(
  { startAt, delayMs }: Pick<RunRequestBody, 'startAt' | 'delayMs'>,
  now: EpochMs,
  debounce: Pick<DebounceRule, 'periodMs'> | undefined,
): EpochMs | undefined {
  const asked = startAt === undefined ? plusMs(now, delayMs ?? 0) : (Date.parse(startAt) as EpochMs)
  const earliest = Math.max(asked, plusMs(now, debounce?.periodMs ?? 0)) as EpochMs
  return earliest > now ? earliest : undefined
}
