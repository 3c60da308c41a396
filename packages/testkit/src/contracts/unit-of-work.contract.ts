import { expect } from 'vitest'
import { aMessage, anApproval, anEvent, anIdempotencyRecord, aRun, aSession, aStep, aToken } from '../builders.ts'
import { atomicityCases } from './atomicity.contract.ts'
import { commit, findRun, refused } from './commits.ts'
import { concurrencyCases } from './concurrency.contract.ts'
import { type ContractCase, registerContract, type StorageHarness } from './contract-case.ts'
import { isolationCases } from './isolation.contract.ts'
import { at } from './optional-fields.ts'
import { runEmitCases } from './run-emit.contract.ts'

const outcomeCases: readonly ContractCase[] = [
  {
    title: 'commits an empty list of writes',
    async run(storage) {
      expect(await storage.unitOfWork.commit([])).toEqual({ committed: true, events: [], counts: [] })
    },
  },
  {
    title: 'counts the changed rows of each write',
    async run(storage) {
      const outcome = await commit(
        storage,
        { type: 'idempotency.reserve', record: anIdempotencyRecord({ runId: aRun().id }), now: at(0) },
        { type: 'run.insert', run: aRun() },
        { type: 'run.transition', runId: aRun().id, from: ['queued'], attempt: 1, change: { status: 'running' } },
        { type: 'event.append', events: [anEvent(), anEvent(), anEvent()] },
        { type: 'event.append', events: [] },
        { type: 'idempotency.complete', runId: aRun().id, response: { status: 200, body: '' } },
        { type: 'idempotency.prune', now: at(0), limit: 10 },
        { type: 'session.insert', session: aSession() },
        { type: 'token.insert', token: aToken() },
        { type: 'token.touch', id: aToken().id, at: at(1) },
        { type: 'token.revoke', id: aToken().id, at: at(1) },
        { type: 'step.insert', step: aStep() },
        { type: 'step.change', runId: aRun().id, seq: 1, from: 'started', change: { status: 'completed' } },
        { type: 'approval.insert', approval: anApproval() },
        { type: 'approval.resolve', id: anApproval().id, resolution: { status: 'denied', resolvedAt: at(1) } },
        { type: 'thread.delete', workflowId: 'echo', threadId: 'thr-unknown', answer: { status: 404, body: '' } },
      )

      expect(outcome.counts).toEqual([1, 1, 1, 3, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0])
    },
  },
  {
    title: 'returns a count for every write, including fences and messages',
    async run(storage) {
      const { counts } = await commit(
        storage,
        { type: 'session.insert', session: aSession() },
        { type: 'run.insert', run: aRun({ status: 'running' }) },
        { type: 'run.fence', runId: aRun().id, attempt: 1 },
        { type: 'message.append', message: aMessage() },
        { type: 'step.fence', runId: aRun().id, seqs: [] },
        { type: 'approval.fence', ids: [] },
      )

      expect(counts).toEqual([1, 1, ...Array(4).fill(expect.any(Number))])
    },
  },
  {
    title: 'returns all events of a commit in write order with increasing positions',
    async run(storage) {
      const [first, second, third] = ['a', 'b', 'c'].map((type) => anEvent({ type, topic: 'topic' }))
      const { events } = await commit(
        storage,
        { type: 'event.append', events: [first!, second!] },
        { type: 'session.insert', session: aSession() },
        { type: 'event.append', events: [third!] },
      )

      const positions = events.map(({ position }) => position)
      expect(events).toEqual([first, second, third].map((event) => ({ ...event, position: expect.any(Number) })))
      expect(positions).toEqual(positions.toSorted((one, other) => one - other))
      expect(await storage.events.read({ topic: 'topic' }, { after: 0, limit: 10 })).toEqual(events)
    },
  },
  {
    title: 'applies writes in order, so that later ones see the effects of earlier ones',
    async run(storage) {
      await commit(
        storage,
        { type: 'run.insert', run: aRun() },
        { type: 'run.transition', runId: aRun().id, from: ['queued'], attempt: 1, change: { status: 'running' } },
        { type: 'run.fence', runId: aRun().id, attempt: 1 },
        { type: 'run.transition', runId: aRun().id, from: ['running'], attempt: 1, change: { status: 'completed' } },
      )
      expect((await findRun(storage, aRun().id))?.status).toBe('completed')

      const backwards = await refused(
        storage,
        { type: 'run.fence', runId: 'run-2', attempt: 1 },
        { type: 'run.insert', run: aRun({ id: 'run-2', status: 'running' }) },
      )
      expect(backwards).toEqual({ committed: false, index: 0, conflict: { type: 'run.fence' } })
    },
  },
  {
    title: 'refuses a commit that inserts the same id twice',
    async run(storage) {
      const taken = await refused(storage, { type: 'run.insert', run: aRun() }, { type: 'run.insert', run: aRun() })

      expect([taken.index, taken.conflict.type]).toEqual([1, 'run.insert'])
      expect(await findRun(storage, aRun().id)).toBeUndefined()
    },
  },
  {
    title: 'stores the response to a key in the commit that reserves it',
    async run(storage) {
      const record = anIdempotencyRecord({ runId: aRun().id })
      const response = { status: 200, body: '{}' }
      await commit(
        storage,
        { type: 'idempotency.reserve', record, now: at(0) },
        { type: 'idempotency.complete', runId: aRun().id, response },
      )

      expect(await storage.idempotency.find(record.id, at(0))).toEqual({ ...record, response })
    },
  },
]

export const unitOfWorkCases: readonly ContractCase[] = [
  ...outcomeCases,
  ...atomicityCases,
  ...concurrencyCases,
  ...isolationCases,
  ...runEmitCases,
]

/** Requirements for every `UnitOfWork`, whatever it writes. */
export const unitOfWorkContract = (harness: StorageHarness): void =>
  registerContract([{ port: 'UnitOfWork', cases: unitOfWorkCases }], harness)
