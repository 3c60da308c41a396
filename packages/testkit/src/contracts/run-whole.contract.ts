import { EVERY_ROW, type Storage } from '@perdure/ports'
import { expect } from 'vitest'
import { anEvent, anIdempotencyRecord, aRun } from '../builders.ts'
import { commit, refused } from './commits.ts'
import type { ContractCase } from './contract-case.ts'
import { at } from './optional-fields.ts'

const RESPONSE = { status: 200, body: '{"runId":"run-1"}' }
const ERROR = { code: 'broken', message: 'it broke' }
const STARTED = aRun({ id: 'run-1', status: 'running', attempt: 1, execution: 1, startedAt: at(1) })
const CHANGE = { status: 'failed', finishReason: 'error', error: ERROR, completedAt: at(2) } as const
const RECORD = anIdempotencyRecord({
  id: 'key-1',
  runId: 'run-1',
  contentOf: 'run-1',
  response: undefined,
  expiresAt: at(99),
})
const EVENTS = ['run.started', 'run.failed'].map((type) => anEvent({ runId: 'run-1', type }))

const WHOLE = [
  { type: 'idempotency.reserve', record: { ...RECORD, response: RESPONSE }, now: at(1) },
  { type: 'run.insert', run: { ...STARTED, ...CHANGE } },
  { type: 'event.append', events: EVENTS },
] as const

/** What the readers of a storage see of the run and its key. */
async function shown({ runs, idempotency, events }: Storage) {
  const list = { limit: 10, order: 'asc' } as const
  const ids = async (filter: object) => (await runs.list(filter, list, EVERY_ROW)).items.map(({ id }) => id)
  const log = await events.read({ runId: 'run-1' }, { after: 0, limit: 10 })
  return {
    run: await runs.find('run-1', EVERY_ROW),
    listed: [await ids({ statuses: ['failed'] }), await ids({ code: 'broken' }), await ids({ statuses: ['running'] })],
    record: await idempotency.find('key-1', at(3)),
    events: log.map(({ type, payload }) => [type, payload]),
    followUps: (await runs.needingFollowUp(10)).map(({ id }) => id),
  }
}

/** A run that one commit stores with its end. */
export const runWholeCases: readonly ContractCase[] = [
  {
    title: 'inserts a run that has ended, which then equals a run that a transition has ended',
    async run(storage) {
      await commit(storage, ...WHOLE)

      const { run, listed, record, events, followUps } = await shown(storage)
      await commit(storage, { type: 'run.insert', run: { ...STARTED, id: 'run-2', executor: 'p1' } })
      const end = { runId: 'run-2', from: ['running'], attempt: 1, execution: 1, change: CHANGE } as const
      await commit(storage, { type: 'run.transition', ...end })
      expect(run).toEqual({ ...(await storage.runs.find('run-2', EVERY_ROW)), id: 'run-1' })
      expect(listed).toEqual([['run-1'], ['run-1'], []])
      expect(record?.response).toMatchObject(RESPONSE)
      expect(events.map(([type]) => type)).toEqual(['run.started', 'run.failed'])
      expect(followUps).toEqual([])
    },
  },
  {
    title: 'inserts no run that has ended under a key that is taken, and keeps what the key had stored',
    async run(storage) {
      await commit(storage, { type: 'idempotency.reserve', record: { ...RECORD, runId: 'run-0' }, now: at(0) })

      expect(await refused(storage, ...WHOLE)).toMatchObject({ index: 0, conflict: { type: 'idempotency.reserve' } })

      const { run, record, events } = await shown(storage)
      expect([run, events, record?.response]).toEqual([undefined, [], undefined])
      expect(record?.runId).toBe('run-0')
    },
  },
]
