import type {
  ApprovalRecord,
  EpochMs,
  JsonText,
  NewEvent,
  RunChange,
  RunRecord,
  StepRecord,
  Write,
} from '@perdure/ports'
import { approvalRequest } from '../durable/approvals/approval-request.ts'
import type { Ledger } from '../durable/ledger.ts'
import type { Suspension } from '../durable/suspension.ts'
import { type Blocker, blockerOf } from '../runs/blocker.ts'
import { unparked } from '../runs/parked.ts'
import { lifecycleEvent } from '../runs/run-events.ts'
import { listedWaits, renderOutcome, type WaitingFor } from '../runs/run-outcome.ts'
import { NOT_RESUMED, readSuspension, type StoredSuspension, storeSuspension } from '../runs/stored-suspension.ts'
import { isoOf, toWaitingFor } from '../runs/waiting-for.ts'
import type { EndRunDeps } from './end-run.ts'

/** The writes that suspend a run, and the record of the suspended run. */
export interface SuspendPlan {
  readonly suspended: RunRecord
  readonly waitingFor: readonly WaitingFor[]
  readonly writes: readonly Write[]
  /** When the earliest approval of the run expires, or the earliest reminder is due. */
  readonly dueAt?: EpochMs | undefined
}

/**
 * Plans the suspension of a run whose code waits at these calls. The writes conflict at `step.fence` when one of these
 * calls has ended.
 *
 * @param waits the calls, and events that are not in the log yet
 * @returns the suspended run and the writes to commit
 */
export function planSuspension(
  deps: EndRunDeps,
  run: RunRecord,
  { waits, events }: { readonly waits: readonly StepRecord[]; readonly events: readonly NewEvent[] },
): SuspendPlan {
  const waitingFor = waits.map(toWaitingFor)
  const fence: Write = { type: 'step.fence', runId: run.id, seqs: waits.map(({ seq }) => seq) }
  return planSuspensionOf(deps, run, { waitingFor, writes: [fence], events, change: unparked(run) })
}

/** Plans the suspension of a run whose code returned `ctx.suspend(…)`. */
export function planOwnSuspension(
  deps: EndRunDeps,
  run: RunRecord,
  {
    suspension,
    ledger,
    ancestors,
  }: {
    readonly suspension: Suspension
    readonly ledger: Pick<Ledger, 'lastSeq' | 'passedVersions'>
    readonly ancestors: readonly string[]
  },
): SuspendPlan {
  const asked = (suspension.approvals ?? []).map((ask) => approvalRequest({ ...deps, run, ancestors }, ask))
  const approvals = asked.map(({ approval }) => approval)
  const passedVersions = ledger.passedVersions()
  const stored: StoredSuspension = {
    state: suspension.state ?? null,
    approvalIds: approvals.map(({ id }) => id),
    throughSeq: ledger.lastSeq(),
    part: (readSuspension(run)?.part ?? 0) + 1,
    ...(passedVersions.length === 0 ? {} : { passedVersions }),
  }
  const timers = approvals.flatMap(({ expiresAt, remindAt }) => [expiresAt, remindAt].filter((at) => at !== undefined))
  const planned = planSuspensionOf(deps, run, {
    waitingFor: approvals.length === 0 ? [{ kind: 'resume', name: 'resume' }] : approvals.map(approvalWait),
    writes: approvals.map((approval) => ({ type: 'approval.insert', approval })),
    events: asked.flatMap(({ events }) => events),
    change: { suspension: storeSuspension(stored), resumption: NOT_RESUMED, ...unparked(run) },
  })
  return timers.length === 0 ? planned : { ...planned, dueAt: Math.min(...timers) as EpochMs }
}

const approvalWait = ({ id, name, expiresAt }: ApprovalRecord): WaitingFor => ({
  kind: 'approval',
  name,
  approvalId: id,
  dueAt: isoOf(expiresAt),
})

export interface SuspensionParts {
  readonly waitingFor: readonly WaitingFor[]
  readonly writes: readonly Write[]
  readonly events: readonly NewEvent[]
  readonly change?: RunChange
  /** The reason in the event. */
  readonly reason?: string
  /** Whether to write no event. */
  readonly isSilent?: boolean
}

/** Plans a suspension that waits for these things. */
export function planSuspensionOf(
  deps: EndRunDeps,
  run: RunRecord,
  { waitingFor, writes, events, change: own, reason, isSilent = false }: SuspensionParts,
): SuspendPlan {
  const at = deps.clock.now()
  const change: RunChange = { ...own, status: 'suspended', suspendedAt: at }
  const suspended: RunRecord = { ...run, ...change }
  const detail = { at, waitingFor: listedWaits(waitingFor), ...(reason === undefined ? {} : { reason }) }
  const told = isSilent ? events : [...events, lifecycleEvent(suspended, 'run.suspended', detail)]
  const body = renderOutcome(suspended, deps.basePath, { waitingFor })
  // Whether a run that waits for children has an outcome depends on them: `settle-outcome.ts` finds out.
  const blocker = blockerOf(waitingFor)
  const answer = blocker === 'work' ? [] : answerOf(deps, suspended, { body, blocker })
  return {
    suspended,
    waitingFor,
    writes: [
      {
        ...{
          type: 'run.transition',
          runId: run.id,
          from: [run.status],
          attempt: run.attempt,
          execution: run.execution,
        },
        change,
      },
      ...writes,
      { type: 'event.append', events: told },
      ...answer,
    ],
  }
}

/** The write that answers the keys of a suspended run, unless their callers wait longer. */
export function answerOf(
  { runWaiters, isStorageShared, clock }: Pick<EndRunDeps, 'runWaiters' | 'isStorageShared' | 'clock'>,
  { id: runId }: Pick<RunRecord, 'id'>,
  { body, blocker }: { readonly body: JsonText; readonly blocker: Exclude<Blocker, 'work'> },
): readonly Write[] {
  const isForNow = blocker === 'time'
  if (isForNow && runWaiters.hasPatientWaiter(runId)) return []
  // A caller of another process may be patient.
  const unlessPatientAt = isForNow && isStorageShared === true ? clock.now() : undefined
  return [{ type: 'idempotency.complete', runId, response: { status: 200, body }, unlessPatientAt }]
}
