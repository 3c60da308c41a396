import type { StepRecord, Storage } from '@perdure/ports'
import { expect } from 'vitest'
import { aRun, aStep } from '../builders.ts'
import { commit, insertRuns, insertSteps } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

const RUNS = ['run-a', 'run-b', 'run-c']

const waiting = (over: Partial<StepRecord>): StepRecord =>
  aStep({ runId: 'run-a', kind: 'sleep', status: 'waiting', ...over })

async function open(storage: Storage, ...steps: readonly StepRecord[]): Promise<void> {
  await insertRuns(storage, ...RUNS.map((id) => aRun({ id })))
  await insertSteps(storage, ...steps)
}

/** One call per status, the waiting call last. All other fields of the calls are identical. */
const inEveryStatus = (fields: Partial<StepRecord>): readonly StepRecord[] =>
  (['started', 'completed', 'failed', 'waiting'] as const).map((status, index) =>
    waiting({ seq: index + 1, status, ...fields }),
  )

const callKey = ({ runId, seq }: StepRecord): string => `${runId}/${seq}`
const callKeys = (steps: readonly StepRecord[]): string[] => steps.map(callKey)

const endCall = (storage: Storage, { runId, seq }: StepRecord) =>
  commit(storage, { type: 'step.change', runId, seq, from: 'waiting', change: { status: 'completed' } })

const dueCases: readonly ContractCase[] = [
  {
    title: 'reports no due call and no next due time while no call waits for a timer',
    async run(storage) {
      expect([await storage.steps.due(at(1_000), 10), await storage.steps.nextDueAt()]).toEqual([[], undefined])
      await open(storage, waiting({}), waiting({ seq: 2, kind: 'event', eventName: 'e' }))

      expect([await storage.steps.due(at(1_000), 10), await storage.steps.nextDueAt()]).toEqual([[], undefined])
    },
  },
  {
    title: 'treats a waiting call as due exactly from dueAt',
    async run(storage) {
      const step = waiting({ dueAt: at(1_000) })
      await open(storage, step)

      expect(await storage.steps.due(at(999), 10)).toEqual([])
      expect(await storage.steps.due(at(1_000), 10)).toEqual([step])
      expect(await storage.steps.due(at(1_001), 10)).toEqual([step])
    },
  },
  {
    title: 'ignores the due time of calls that are not waiting',
    async run(storage) {
      const steps = inEveryStatus({ dueAt: at(5) })
      await open(storage, ...steps.slice(0, 3))
      expect([await storage.steps.due(at(9), 10), await storage.steps.nextDueAt()]).toEqual([[], undefined])

      await insertSteps(storage, ...steps.slice(3))
      expect([await storage.steps.due(at(9), 10), await storage.steps.nextDueAt()]).toEqual([steps.slice(3), at(5)])

      await endCall(storage, steps[3]!)
      expect([await storage.steps.due(at(9), 10), await storage.steps.nextDueAt()]).toEqual([[], undefined])
    },
  },
  {
    title: 'lists due calls of all runs earliest first, whatever their seq, up to the limit',
    async run(storage) {
      await open(
        storage,
        waiting({ runId: 'run-a', seq: 2, dueAt: at(30) }),
        waiting({ runId: 'run-b', seq: 9, dueAt: at(10) }),
        waiting({ runId: 'run-c', seq: 1, dueAt: at(40), kind: 'approval' }),
        waiting({ runId: 'run-a', seq: 3, dueAt: at(20), kind: 'event' }),
      )
      const list = async (limit: number) => callKeys(await storage.steps.due(at(35), limit))

      expect(await list(10)).toEqual(['run-b/9', 'run-a/3', 'run-a/2'])
      expect(await list(2)).toEqual(['run-b/9', 'run-a/3'])
    },
  },
  {
    title: 'reports the earliest due time of all waiting calls and follows changes to it',
    async run(storage) {
      const early = waiting({ seq: 1, dueAt: at(10) })
      await open(storage, waiting({ seq: 2, dueAt: at(20) }), early, waiting({ runId: 'run-b', dueAt: at(30) }))
      expect(await storage.steps.nextDueAt()).toBe(at(10))

      const { runId, seq } = early
      await commit(storage, { type: 'step.change', runId, seq, from: 'waiting', change: { dueAt: at(25) } })
      expect(await storage.steps.nextDueAt()).toBe(at(20))
      expect(callKeys(await storage.steps.due(at(25), 10))).toEqual(['run-a/2', 'run-a/1'])

      await endCall(storage, waiting({ seq: 2 }))
      expect(await storage.steps.nextDueAt()).toBe(at(25))
    },
  },
]

const eventCases: readonly ContractCase[] = [
  {
    title: 'lists the calls that wait for a named event oldest first, up to the limit',
    async run(storage) {
      const eventName = 'invoice.paid'
      await open(
        storage,
        waiting({ runId: 'run-b', seq: 1, startedAt: at(3), eventName }),
        waiting({ runId: 'run-a', seq: 7, startedAt: at(1), eventName }),
        waiting({ runId: 'run-c', seq: 1, startedAt: at(0), eventName: 'invoice' }),
        waiting({ runId: 'run-c', seq: 2, startedAt: at(0) }),
        waiting({ runId: 'run-a', seq: 8, startedAt: at(2), eventName }),
      )
      const list = async (limit: number) => callKeys(await storage.steps.waitingForEvent(eventName, { limit }))

      expect(await list(10)).toEqual(['run-a/7', 'run-a/8', 'run-b/1'])
      expect(await list(2)).toEqual(['run-a/7', 'run-a/8'])
      expect(await storage.steps.waitingForEvent('unknown', { limit: 10 })).toEqual([])
    },
  },
  {
    title: 'lists the calls that wait for an event in parts, also those that started in the same millisecond',
    async run(storage) {
      const eventName = 'e'
      const calls = [1, 2, 3, 4, 5].map((seq) =>
        waiting({ runId: seq % 2 === 0 ? 'run-a' : 'run-b', seq, startedAt: at(seq < 4 ? 1 : 2), eventName }),
      )
      await open(storage, ...calls)
      const parts = async (limit: number, runId?: string) => {
        const found: string[] = []
        for (let after: StepRecord | undefined; ; ) {
          const part = await storage.steps.waitingForEvent(eventName, { limit, after, runId })
          found.push(...callKeys(part))
          after = part.at(-1)
          if (after === undefined) return found
        }
      }

      const whole = callKeys(await storage.steps.waitingForEvent(eventName, { limit: 10 }))
      expect(whole).toHaveLength(5)
      for (const limit of [1, 2, 3, 5]) expect(await parts(limit)).toEqual(whole)
      expect(await parts(1, 'run-b')).toEqual(['run-b/1', 'run-b/3', 'run-b/5'])
    },
  },
  {
    title: 'restricts the calls that wait for an event to one run when a run is given',
    async run(storage) {
      const eventName = 'e'
      await open(
        storage,
        waiting({ runId: 'run-a', seq: 1, startedAt: at(5), eventName }),
        waiting({ runId: 'run-b', seq: 2, startedAt: at(3), eventName }),
        waiting({ runId: 'run-b', seq: 3, startedAt: at(1), eventName }),
        waiting({ runId: 'run-b', seq: 4, startedAt: at(0), eventName: 'other' }),
      )
      const list = async (runId: string, limit = 10) =>
        callKeys(await storage.steps.waitingForEvent(eventName, { limit, runId }))

      expect([await list('run-a'), await list('run-c'), await list('run-unknown')]).toEqual([['run-a/1'], [], []])
      expect([await list('run-b'), await list('run-b', 1)]).toEqual([['run-b/3', 'run-b/2'], ['run-b/3']])
    },
  },
  {
    title: 'lists a call for its event only while the call is waiting',
    async run(storage) {
      const steps = inEveryStatus({ kind: 'event', eventName: 'e' })
      await open(storage, ...steps)
      const both = () =>
        Promise.all([
          storage.steps.waitingForEvent('e', { limit: 10 }),
          storage.steps.waitingForEvent('e', { limit: 10, runId: 'run-a' }),
        ])
      expect(await both()).toEqual([steps.slice(3), steps.slice(3)])

      await endCall(storage, steps[3]!)
      expect(await both()).toEqual([[], []])
    },
  },
]

const childCases: readonly ContractCase[] = [
  {
    title: 'finds the call that waits for a child run and none for other runs',
    async run(storage) {
      const step = waiting({ kind: 'child', seq: 4, childRunId: 'run-b' })
      await open(storage, waiting({ seq: 3, kind: 'child', childRunId: 'run-c' }), step)

      expect(await storage.steps.waitingForChild('run-b')).toEqual(step)
      for (const other of ['run-a', 'run-unknown']) {
        expect(await storage.steps.waitingForChild(other)).toBeUndefined()
      }
    },
  },
  {
    title: 'finds the call for a child run only while the call is waiting',
    async run(storage) {
      const steps = inEveryStatus({ kind: 'child', childRunId: 'run-b' })
      await open(storage, ...steps)
      expect(await storage.steps.waitingForChild('run-b')).toEqual(steps[3])

      await endCall(storage, steps[3]!)
      expect(await storage.steps.waitingForChild('run-b')).toBeUndefined()
    },
  },
]

export const stepWaitCases: readonly ContractCase[] = [...dueCases, ...eventCases, ...childCases]
