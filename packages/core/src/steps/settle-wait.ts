import {
  type Clock,
  type CommitOutcome,
  type EpochMs,
  EVERY_ROW,
  type JsonText,
  type NewEvent,
  type RunRecord,
  type RunStore,
  type StepChange,
  type StepRecord,
  type UnitOfWork,
  type Write,
  type WriteType,
} from '@berth/ports'
import { lifecycleEvent } from '../runs/run-events.ts'
import { isTerminal } from '../runs/run-states.ts'
import { awaitsResume } from '../runs/suspension.ts'
import { settledEvents } from './step-events.ts'

export interface SettleWaitDeps {
  readonly runs: RunStore
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  /** Executes a run that was queued again. */
  readonly relaunch: (run: RunRecord) => void
  /** Tells an executing run that one of its waits may be over. */
  readonly notify: (runId: string) => void
}

/** How a wait ends, and what else belongs into that commit. */
export interface WaitEnd {
  readonly result?: JsonText
  /** Another change than completion, for a step that a human lets run again or not. */
  readonly change?: StepChange | ((run: RunRecord) => StepChange)
  readonly writes?: readonly Write[]
  readonly events?: (run: RunRecord) => readonly NewEvent[]
}

/**
 * Ends a wait once: the call is settled and its run, when it is suspended, is queued to go on, in one commit.
 *
 * @returns `settled`; `over` when the wait or its run had ended before; or the conflict of one of the caller's writes
 */
export type SettleWait = (step: StepRecord, end: WaitEnd) => Promise<'settled' | 'over' | CommitOutcome>

export function createSettleWait(deps: SettleWaitDeps): SettleWait {
  const { runs, unitOfWork, relaunch, notify } = deps

  const trySettle = async (settlement: Settlement): Promise<'settled' | 'over' | 'again' | CommitOutcome> => {
    const { writes, resumed } = planSettlement(deps, settlement)
    const outcome = await unitOfWork.commit(writes)
    if (!outcome.committed) return MEANING[outcome.conflict.type] ?? outcome
    if (resumed === undefined) notify(settlement.run.id)
    else relaunch(resumed)
    return 'settled'
  }

  return async (step, end) => {
    for (;;) {
      const run = await runs.find(step.runId, EVERY_ROW)
      if (run === undefined || isTerminal(run.status)) return abandon(deps, step)
      const result = await trySettle({ run, step, end })
      if (result !== 'again') return result
    }
  }
}

/** What a conflict says of the wait: settled by somebody else, or its run has moved on and is looked at again. */
const MEANING: { readonly [Type in WriteType]?: 'over' | 'again' } = {
  'step.change': 'over',
  'run.transition': 'again',
}

/** Nobody waits any more: the call is closed, so that no timer and no event finds it again. */
async function abandon({ unitOfWork, clock }: SettleWaitDeps, { runId, seq }: StepRecord): Promise<'over'> {
  const error = { code: 'run-not-active', message: 'the run had ended' }
  const change: StepChange = { status: 'failed', error, settledAt: clock.now() }
  await unitOfWork.commit([{ type: 'step.change', runId, seq, from: 'waiting', change }])
  return 'over'
}

interface Settlement {
  readonly run: RunRecord
  readonly step: StepRecord
  readonly end: WaitEnd
}

function planSettlement({ clock }: SettleWaitDeps, { run, step, end }: Settlement) {
  const at = clock.now()
  const change = changeOf({ run, step, end }, at)
  const isGood = change.status === 'completed'
  const events = [...(end.events?.(run) ?? []), ...(isGood ? settledEvents(run, step, at) : [])]
  const { transition, resumed } = resumption(run)
  const writes: Write[] = [
    transition,
    { type: 'step.change', runId: step.runId, seq: step.seq, from: 'waiting', change },
    ...(end.writes ?? []),
    { type: 'event.append', events: [...events, ...(resumed === undefined ? [] : [resumedEvent(resumed, step, at)])] },
  ]
  return { writes, resumed }
}

function changeOf({ run, end: { change, result } }: Settlement, settledAt: EpochMs): StepChange {
  if (change === undefined) return { status: 'completed', result, settledAt }
  return typeof change === 'function' ? change(run) : change
}

/** Queues a run that is suspended at its calls; any other one only has to stay what it is. */
function resumption(run: RunRecord): { readonly transition: Write; readonly resumed: RunRecord | undefined } {
  const guard = { type: 'run.transition', runId: run.id, from: [run.status], attempt: run.attempt } as const
  if (run.status !== 'suspended' || awaitsResume(run))
    return { transition: { ...guard, change: {} }, resumed: undefined }
  return { transition: { ...guard, change: { status: 'queued' } }, resumed: { ...run, status: 'queued' } }
}

const resumedEvent = (run: RunRecord, step: StepRecord, at: StepRecord['startedAt']) =>
  lifecycleEvent(run, 'run.resumed', { at, reason: `${step.kind} ${step.name}` })
