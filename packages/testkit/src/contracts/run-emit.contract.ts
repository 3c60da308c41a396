import type { NewEvent, RunRecord, Storage } from '@perdure/ports'
import { expect } from 'vitest'
import { anEvent, aRun } from '../builders.ts'
import { commit, insertRuns, refused } from './commits.ts'
import type { ContractCase } from './contract-case.ts'

const emit = ({ id: runId, attempt, execution }: RunRecord, ...events: readonly NewEvent[]) =>
  ({ type: 'run.emit', runId, attempt, execution, events }) as const

const ended = ({ id: runId, attempt }: RunRecord, status: 'completed' | 'aborted') =>
  ({ type: 'run.transition', runId, from: ['running'], attempt, change: { status } }) as const

const note = ({ id: runId }: RunRecord, type: string) => anEvent({ runId, type, sessionId: 'ses-1' })

const logOf = async ({ events }: Storage, { id: runId }: RunRecord) =>
  (await events.read({ runId }, { after: 0, limit: 200 })).map(({ type }) => type)

const running = (id: string, execution = 1) => aRun({ id, status: 'running', execution })

export const runEmitCases: readonly ContractCase[] = [
  {
    title: 'appends what many runs emit in one commit, in the order of its writes',
    async run(storage) {
      const runs = Array.from({ length: 40 }, (_, index) => running(`run-${index}`, index))
      await insertRuns(storage, ...runs)

      const writes = runs.map((run) => emit(run, note(run, `note.${run.id}`), note(run, 'note.last')))
      const { events, counts } = await commit(storage, ...writes)

      expect(counts).toEqual(runs.map(() => 2))
      expect(events.map(({ runId, type }) => [runId, type])).toEqual(
        runs.flatMap(({ id }) => [
          [id, `note.${id}`],
          [id, 'note.last'],
        ]),
      )
      expect(await storage.events.read({ sessionId: 'ses-1' }, { after: 0, limit: 200 })).toEqual(events)
    },
  },
  {
    title: 'appends nothing for a run that is not running in this attempt and execution, and the events of all others',
    async run(storage) {
      const first = running('first')
      const last = running('last', 3)
      const outdated = [
        running('attempt'),
        running('execution'),
        ...(['queued', 'suspended', 'completed', 'failed', 'aborted'] as const).map((status) =>
          aRun({ id: status, status, execution: 1 }),
        ),
      ]
      await insertRuns(storage, first, ...outdated, last)
      const [attempt, execution, ...stopped] = outdated.map((run) => emit(run, note(run, 'note.stale')))
      const refusals = [
        { ...(attempt as ReturnType<typeof emit>), attempt: 2 },
        { ...(execution as ReturnType<typeof emit>), execution: 2 },
        ...stopped,
        emit(running('unknown'), note(running('unknown'), 'note.stale')),
      ]

      const { events, counts } = await commit(
        storage,
        emit(first, note(first, 'note.a'), note(first, 'note.b')),
        ...refusals,
        emit(last, note(last, 'note.c')),
      )

      expect(counts).toEqual([2, ...refusals.map(() => 0), 1])
      expect(events.map(({ type }) => type)).toEqual(['note.a', 'note.b', 'note.c'])
      const [a = 0] = events.map(({ position }) => position)
      expect(events.map(({ position }) => position)).toEqual([a, a + 1, a + 2])
      expect(await storage.events.read({ sessionId: 'ses-1' }, { after: 0, limit: 200 })).toEqual(events)
      for (const run of outdated) expect(await logOf(storage, run)).toEqual([])
    },
  },
  {
    title: 'appends nothing when another write of the commit conflicts',
    async run(storage) {
      const run = running('run-1')
      await insertRuns(storage, run)

      const taken = { type: 'run.insert', run } as const
      expect((await refused(storage, emit(run, note(run, 'note.a')), taken)).index).toBe(1)

      expect(await logOf(storage, run)).toEqual([])
    },
  },
  {
    title: 'sees a transition that the same commit makes before the events, and not one that it makes after them',
    async run(storage) {
      const run = running('run-1')
      await insertRuns(storage, run)
      const end = ended(run, 'completed')

      const { counts } = await commit(
        storage,
        emit(run, note(run, 'note.kept')),
        end,
        emit(run, note(run, 'note.late')),
      )

      expect(counts).toEqual([1, 1, 0])
      expect(await logOf(storage, run)).toEqual(['note.kept'])
    },
  },
  {
    title: 'keeps the events of concurrent commits in the order of the commits, each refused alone',
    async run(storage, processes) {
      const runs = [running('run-1'), running('run-2')]
      await insertRuns(storage, ...runs)
      const [one, other] = runs as [RunRecord, RunRecord]
      const end = ended(one, 'aborted')

      const commits = await Promise.all([
        commit(storage, emit(one, note(one, 'note.a')), emit(other, note(other, 'note.b'))),
        commit(storage, end),
        commit(storage, emit(one, note(one, 'note.late')), emit(other, note(other, 'note.c'))),
      ])

      const counts = commits.map((outcome) => outcome.counts)
      const kept = ['note.a', 'note.late'].filter((_, index) => counts[2 * index]?.[0] === 1)
      const logs = [await logOf(storage, one), await logOf(storage, other)]
      // Commits of several processes have no order among each other.
      if (processes > 1) {
        expect(counts).toEqual([[expect.any(Number), 1], [1], [expect.any(Number), 1]])
        expect(logs.map((log) => log.toSorted())).toEqual([kept, ['note.b', 'note.c']])
        return
      }
      expect(counts).toEqual([[1, 1], [1], [0, 1]])
      expect(logs).toEqual([['note.a'], ['note.b', 'note.c']])
    },
  },
]
