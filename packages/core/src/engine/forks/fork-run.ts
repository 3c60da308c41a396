import {
  type ApprovalStore,
  type Clock,
  type EpochMs,
  type IdGenerator,
  type NewEvent,
  perdureError,
  type RunRecord,
  type RunStore,
  type StepRecord,
  type StepStore,
  type Visibility,
  type Write,
  type YieldTurn,
} from '@perdure/ports'
import { auditWrite } from '../../audit/audit-write.ts'
import type { Principal } from '../../auth/principal.ts'
import { keepResultFiles } from '../../durable/recorded-result.ts'
import type { KeyedRequest } from '../../idempotency/keyed-request.ts'
import type { Reply } from '../../idempotency/reply.ts'
import { findRunToChange } from '../../runs/find-run-to-change.ts'
import { lifecycleEvent } from '../../runs/run-events.ts'
import { isUnresumed } from '../../runs/stored-suspension.ts'
import { withoutDebounce } from '../lanes/flow-keys.ts'
import { keepShownFiles } from '../run-file-writes.ts'
import type { StartRun } from '../start-run.ts'
import { askAgain, type OpenWaits, type WaitsDeps } from './ask-again.ts'
import { type ForkedCalls, type ForkPoint, type ForkResults, withResults } from './fork-calls.ts'
import { selectCallsFor } from './fork-decisions.ts'
import type { RunSeed } from './run-seed.ts'

export interface ForkRunDeps extends WaitsDeps {
  readonly runs: RunStore
  readonly steps: StepStore
  readonly approvals: ApprovalStore
  readonly yieldTurn: YieldTurn
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly maxResultBytes: number
  readonly startRun: StartRun
  /** Executes a child whose record is committed as queued. */
  readonly relaunch: (run: RunRecord) => void
  /** Passes a due time to the timer driver. */
  readonly onDue: (dueAt: number) => void
}

export interface ForkRunRequest {
  readonly runId: string
  readonly from: ForkPoint
  /** The name of the operation in the audit chain. */
  readonly action: 'runs.fork' | 'runs.retry' | 'runs.rerun'
  readonly input?: unknown
  readonly results?: ForkResults | undefined
  readonly sessionId?: string | undefined
  readonly threadId?: string | undefined
  readonly principal: Principal
  readonly visibility: Visibility
  readonly key?: KeyedRequest | undefined
  readonly traceparent?: string | undefined
}

/**
 * Starts a new run that repeats another one: one commit stores the new run with the calls that the other run had
 * recorded before the point. The other run is not changed.
 *
 * @throws PerdureError `run-not-found`, `run-active`, `validation-failed`, `scope-denied`; and as `StartRun`
 */
export type ForkRun = (request: ForkRunRequest) => Promise<Reply>

/** What one attempt to commit the fork has planned. */
interface Plan {
  readonly calls: ForkedCalls
  readonly settled: readonly StepRecord[]
  readonly waits: (fork: RunRecord) => OpenWaits
}

export function createForkRun(deps: ForkRunDeps): ForkRun {
  return async (request) => {
    const source = await findSource(deps, request)
    const { kind, targetId: id, version, sessionId, userId, metadata, timeoutMs, budget, priority } = source
    const isMessage =
      request.input !== undefined || (request.sessionId !== undefined && request.sessionId !== sessionId)
    return deps.startRun({
      target: { kind, id },
      body: {
        ...{ input: request.input, version, userId, metadata, timeoutMs, budget, priority },
        sessionId: request.sessionId ?? sessionId,
        threadId: request.threadId,
      },
      ...{ principal: request.principal, visibility: request.visibility, key: request.key },
      traceparent: request.traceparent,
      answer: 'accepted',
      async seed() {
        const current = await findSource(deps, request)
        return seedOf(deps, { source: current, request, plan: await planFork(deps, current, request), isMessage })
      },
    })
  }
}

async function findSource(deps: ForkRunDeps, request: ForkRunRequest): Promise<RunRecord> {
  const source = await findRunToChange(deps, request)
  if (source.status !== 'queued' && source.status !== 'running') return source
  throw perdureError('run-active', {
    message: `the run is ${source.status}`,
    hint: 'wait until it has ended, or abort it first',
  })
}

async function planFork(deps: ForkRunDeps, source: RunRecord, request: ForkRunRequest): Promise<Plan> {
  const calls = await selectCallsFor(deps, source, request)
  return {
    calls,
    settled: withResults(calls.settled, request.results ?? {}, deps.maxResultBytes),
    waits: await askAgain(deps, source, calls),
  }
}

interface Forking {
  readonly source: RunRecord
  readonly request: ForkRunRequest
  readonly plan: Plan
  readonly isMessage: boolean
}

function seedOf(deps: ForkRunDeps, { source, request, plan, isMessage }: Forking): RunSeed {
  const { calls, settled, waits: waitsOf } = plan
  let waits: OpenWaits | undefined
  const planned = (fork: RunRecord): OpenWaits => {
    waits ??= waitsOf(fork)
    return waits
  }
  const at = deps.clock.now()
  return {
    isMessage,
    members: {
      ...(request.input === undefined ? { input: source.input, flow: withoutDebounce(source.flow) } : {}),
      forkOf: { runId: source.id, seq: calls.seq },
      // Keeps a missing version missing: the default version could not replay calls of code without a version.
      ...(request.from === 'start' ? {} : { version: source.version }),
      ...(calls.suspension === undefined ? {} : suspendedMembers(source, at)),
    },
    writes: (fork) => [
      ...planned(fork).writes,
      ...outcomesOf(fork, source, settled),
      ...keepResultFiles(fork.id, settled),
      ...keepShownFiles(fork.id, request.input === undefined ? source : fork),
      ...calls.open.map((step) => insert(fork, restarted(step, at))),
      ...(source.status === 'suspended' ? [unchanged(source)] : []),
      auditWrite(request.principal, {
        at,
        action: request.action,
        target: source.id,
        detail: { runId: fork.id, seq: calls.seq, ...replacedBy(request), ...keptBy(calls) },
      }),
    ],
    onStored() {
      for (const child of waits?.children ?? []) deps.relaunch(child)
      for (const dueAt of waits?.dueAts ?? []) deps.onDue(dueAt)
    },
    events: (fork) => eventsOf(fork, source, { seq: calls.seq, events: planned(fork).events }),
  }
}

/** The parts of the source that the request has replaced, for the audit log. */
const replacedBy = ({ input, results = {} }: ForkRunRequest) => ({
  ...(input === undefined ? {} : { hasNewInput: true }),
  ...(Object.keys(results).length === 0 ? {} : { newResults: Object.keys(results).join(',') }),
})

/** The calls whose decisions the fork keeps, for the audit log. */
function keptBy({ settled }: ForkedCalls): { readonly keptDecisions?: string } {
  const kept = settled.filter(({ kind }) => kind === 'approval').map(({ seq }) => seq)
  return kept.length === 0 ? {} : { keptDecisions: kept.toSorted((one, other) => one - other).join(',') }
}

const eventsOf = (
  fork: RunRecord,
  source: RunRecord,
  { seq, events }: { readonly seq: number; readonly events: readonly NewEvent[] },
): readonly NewEvent[] => [
  lifecycleEvent(fork, 'run.forked', { at: fork.createdAt, from: { runId: source.id, seq } }),
  ...events,
]

/** A run that waits for a resume is copied as it is; one that was resumed continues with the payload of its resume. */
const suspendedMembers = (source: RunRecord, at: EpochMs): Partial<RunRecord> => ({
  suspension: source.suspension,
  resumption: source.resumption,
  ...(isUnresumed(source) ? { status: 'suspended', suspendedAt: at } : {}),
})

/** The outcomes of the fork, in their order. The storage copies those that the request does not replace. */
function outcomesOf({ id: runId, attempt }: RunRecord, source: RunRecord, settled: readonly StepRecord[]): Write[] {
  const ordered = settled.map((step, index) => ({ ...step, endOrder: index + 1 }))
  const copied = ordered.filter(({ result }) => result === undefined).map(({ seq, endOrder }) => ({ seq, endOrder }))
  return [
    ...(copied.length === 0 ? [] : [{ type: 'step.copy', runId, attempt, source: source.id, calls: copied } as const]),
    ...ordered.filter(({ result }) => result !== undefined).map((step) => insert({ id: runId, attempt }, step)),
  ]
}

/**
 * A call of the fork. The usage of a settled call belongs to the source; its child and its approval are kept, because they
 * tell whose decision the fork acts on.
 */
function insert({ id: runId, attempt }: Pick<RunRecord, 'id' | 'attempt'>, { usage: _, ...step }: StepRecord): Write {
  return { type: 'step.insert', step: { ...step, runId, attempt } }
}

/** A call that the code makes again; `onCrash` does not apply to a step, because this run has not executed it. */
const restarted = ({ runId, seq, kind, name, attempt }: StepRecord, startedAt: EpochMs): StepRecord => ({
  ...{ runId, seq, kind, name, attempt, startedAt },
  status: 'started',
})

/** Conflicts when a suspended source has continued since its calls were read. */
const unchanged = ({ id: runId, status, attempt }: RunRecord): Write => ({
  ...{ type: 'run.transition', runId, from: [status], attempt, change: {} },
})
