import {
  type EpochMs,
  type StepChange,
  type StepRecord,
  type StepStore,
  takeWithin,
  takeWithinPage,
} from '@perdure/ports'
import { changed } from './changed.ts'
import { takePage } from './ordered-page.ts'
import { outlined } from './outlined.ts'
import type { RunBelongings } from './thread-deletion.ts'
import { putEntry, type UndoLog } from './undo-log.ts'
import type { Table, WritesOf } from './write-applier.ts'

export function createStepTable(): Table<StepStore, WritesOf<'step'>> & RunBelongings {
  const stepsByRun = new Map<string, Map<number, StepRecord>>()
  const lastOrders = new Map<string, number>()
  const waiting = new Map<string, StepRecord>()

  const find = (runId: string, seq: number): StepRecord | undefined => stepsByRun.get(runId)?.get(seq)

  const put = (step: StepRecord, undo: UndoLog): void => {
    const { runId, seq, status, endOrder = 0 } = step
    const steps = stepsByRun.get(runId) ?? new Map<number, StepRecord>()
    stepsByRun.set(runId, steps)
    putEntry(steps, [seq, step], undo)
    putEntry(waiting, [keyOf(step), status === 'waiting' ? step : undefined], undo)
    putEntry(lastOrders, [runId, Math.max(endOrder, lastOrders.get(runId) ?? 0)], undo)
  }

  const ofRun = (runId: string) =>
    Array.from(stepsByRun.get(runId)?.values() ?? []).sort((one, other) => one.seq - other.seq)

  const lastOrderOf = (runId: string) => Math.max(0, ...ofRun(runId).map(({ endOrder = 0 }) => endOrder))

  const waitingBy = (matches: (step: StepRecord) => boolean, rankOf: (step: StepRecord) => number) =>
    Array.from(waiting.values())
      .filter(matches)
      .sort((one, other) => rankOf(one) - rankOf(other))

  const waitingUntil = (now: EpochMs): readonly StepRecord[] =>
    waitingBy(({ dueAt }) => dueAt !== undefined && dueAt <= now, dueTime)

  return {
    store: {
      list: async (runId, { results } = { results: true }) => (results ? ofRun(runId) : ofRun(runId).map(brief)),
      read: async (runId, { after, ...part }) =>
        takeWithin(
          ofRun(runId).filter(({ seq }) => seq > after),
          part,
        ),
      async listBriefly(runId, { after, limit, status }) {
        const selected = ofRun(runId)
          .filter((step) => step.seq > after && (status === undefined || step.status === status))
          .map(brief)
        return takeWithinPage(selected, limit).items
      },
      async ended(runId, { after, limit }) {
        const selected = ofRun(runId)
          .filter(({ endOrder = 0 }) => endOrder > after)
          .sort((one, other) => (one.endOrder ?? 0) - (other.endOrder ?? 0))
        return takeWithinPage(selected.map(brief), limit)
      },
      completed: async (runId, page) =>
        takePage({ records: ofRun(runId), sortKeyOf: ({ seq }) => [seq, runId] }, page, {
          matches: ({ status }) => status === 'completed',
          show: (step) => outlined(step, ['result'], () => find(runId, step.seq)),
        }),
      find: async (runId, seq) => find(runId, seq),
      due: async (now, limit) => waitingUntil(now).slice(0, limit),
      nextDueAt: async () => waitingUntil(END_OF_TIME)[0]?.dueAt,
      async waitingForEvent(eventName, { limit, after, runId }) {
        const isMeant = (step: StepRecord) =>
          step.eventName === eventName && (runId === undefined || step.runId === runId)
        const all = waitingBy(isMeant, ({ startedAt }) => startedAt)
        const last = after === undefined ? -1 : all.findIndex((step) => keyOf(step) === keyOf(after))
        const rest = all.slice(last + 1).filter(({ startedAt }) => startedAt >= (after?.startedAt ?? 0))
        return rest.slice(0, limit)
      },
      waitingForChild: async (childRunId) =>
        Array.from(waiting.values()).find((step) => step.childRunId === childRunId),
    },
    appliers: {
      'step.insert'({ type, step }, { undo }) {
        const current = find(step.runId, step.seq)
        if (current !== undefined) return { type, current }
        put(step, undo)
        return 1
      },
      'step.copy'({ type, runId, attempt, source, calls }, { undo }) {
        for (const { seq, endOrder } of calls) {
          const copied = find(source, seq)
          const current = find(runId, seq)
          if (copied === undefined || current !== undefined) return { type, current }
          const { usage: _, ...step } = copied
          put({ ...step, runId, attempt, endOrder }, undo)
        }
        return calls.length
      },
      'step.change'({ type, runId, seq, from, change }, { undo }) {
        const current = find(runId, seq)
        if (current?.status !== from) return { type, current }
        if (change.status === 'started') {
          put(changed(withoutEnd(current), change), undo)
          putEntry(lastOrders, [runId, lastOrderOf(runId)], undo)
          return 1
        }
        const endOrder = endsCall(change) ? (lastOrders.get(runId) ?? 0) + 1 : undefined
        put(changed(current, { ...change, endOrder }), undo)
        return 1
      },
      'step.fence'({ type, runId, seqs }) {
        const first = seqs.find((seq) => find(runId, seq)?.status !== 'waiting')
        return first === undefined ? 0 : { type, current: find(runId, first) }
      },
    },
    removeRun(runId, undo) {
      for (const step of stepsByRun.get(runId)?.values() ?? []) putEntry(waiting, [keyOf(step), undefined], undo)
      putEntry(stepsByRun, [runId, undefined], undo)
      putEntry(lastOrders, [runId, undefined], undo)
    },
  }
}

const END_OF_TIME = Number.POSITIVE_INFINITY as EpochMs

const brief = (step: StepRecord): StepRecord => ({ ...step, result: undefined, error: undefined })

const keyOf = ({ runId, seq }: Pick<StepRecord, 'runId' | 'seq'>): string => `${runId} ${seq}`

const dueTime = ({ dueAt }: StepRecord): number => dueAt ?? END_OF_TIME

const withoutEnd = (step: StepRecord): StepRecord => ({
  ...step,
  ...{ result: undefined, resultFile: undefined, error: undefined },
  ...{ dueAt: undefined, endedAt: undefined, endOrder: undefined },
})

const endsCall = ({ status }: StepChange): boolean => status === 'completed' || status === 'failed'
