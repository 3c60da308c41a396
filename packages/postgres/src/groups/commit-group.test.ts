import { type EpochMs, EVERY_ROW, type Write } from '@perdure/ports'
import { aMessage, anEvent, anIdempotencyRecord, aRun, aSession, aStep } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { createTestSchema } from '../test-schema.fixture.ts'
import { planGroups } from './plan-groups.ts'

const NOW = 1_000 as EpochMs
const EXPIRES = 9_000_000_000_000 as EpochMs

/** A request under a key that starts a run, as the server commits it. */
const accepted = (n: number, key = `key-${n}`): readonly Write[] => [
  { type: 'idempotency.reserve', now: NOW, record: keyed(n, key) },
  { type: 'run.insert', run: aRun({ id: `run-${n}`, status: 'running' }) },
  { type: 'event.append', events: [anEvent({ runId: `run-${n}`, type: 'run.started' })] },
]

const keyed = (n: number, id: string) =>
  anIdempotencyRecord({ id, runId: `run-${n}`, contentOf: `run-${n}`, expiresAt: EXPIRES })

const finished = (n: number): readonly Write[] => [
  { type: 'run.transition', runId: `run-${n}`, from: ['running'], attempt: 1, change: { status: 'completed' } },
  { type: 'idempotency.complete', runId: `run-${n}`, response: { status: 200, body: `{"n":${n}}` } },
  { type: 'event.append', events: [anEvent({ runId: `run-${n}`, type: 'run.completed' })] },
]

const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n)

describe('the plan of groups', () => {
  const run = (id: string): Write => ({ type: 'run.insert', run: aRun({ id }) })

  it('puts commits that write different rows into one group', () => {
    expect(planGroups([{ writes: [run('a')] }, { writes: [run('b')] }])).toEqual([{ from: 0, to: 2, isGroup: true }])
  })

  it('begins another group before a commit that touches a row of the group', () => {
    const fence: Write = { type: 'run.fence', runId: 'a', attempt: 1 }

    expect(planGroups([{ writes: [run('a')] }, { writes: [run('b')] }, { writes: [fence] }])).toEqual([
      { from: 0, to: 2, isGroup: true },
      { from: 2, to: 3, isGroup: true },
    ])
  })

  it('leaves out a commit with another write, in its place', () => {
    const prune: Write = { type: 'lane.prune', now: NOW, limit: 1 }

    expect(planGroups([{ writes: [run('a')] }, { writes: [prune] }, { writes: [run('b')] }])).toEqual([
      { from: 0, to: 1, isGroup: true },
      { from: 1, to: 2, isGroup: false },
      { from: 2, to: 3, isGroup: true },
    ])
  })

  it('leaves out a commit that writes one row twice', () => {
    const twice = { writes: [run('a'), { ...finished(0)[0], runId: 'a' } as Write] }

    expect(planGroups([twice])).toEqual([{ from: 0, to: 1, isGroup: false }])
  })
})

needsTool('PostgreSQL').describe('a group on a PostgreSQL server', () => {
  const schema = createTestSchema()

  it('commits runs and their ends in one transaction each', async () => {
    const storage = await schema.open()
    const commit = (writes: readonly Write[]) => storage.unitOfWork.commit(writes)

    const started = await Promise.all(upTo(64).map((n) => commit(accepted(n))))
    const before = storage.counters().transactions
    const ended = await Promise.all(upTo(64).map((n) => commit(finished(n))))
    const { transactions } = storage.counters()

    const positions = [...started, ...ended].flatMap((one) => (one.committed ? one.events : [])).map((e) => e.position)
    expect([before, transactions]).toEqual([1, 2])
    expect(positions).toEqual(upTo(128).map((n) => n + 1))
    expect(ended.map((one) => one.committed && one.counts)).toEqual(upTo(64).map(() => [1, 1, 1]))
    const last = await storage.idempotency.find('key-63', NOW)
    expect(last?.response?.body).toBe('{"n":63}')
    await storage.close()
  })

  it('answers repeated keys in the transaction of a new run, without splitting the group', async () => {
    const storage = await schema.open()
    await Promise.all(upTo(63).map((n) => storage.unitOfWork.commit(accepted(n))))
    const before = storage.counters().transactions

    const outcomes = await Promise.all(
      upTo(64).map((n) =>
        storage.unitOfWork.commit(accepted(n === 40 ? 1_000 : n + 100, n === 40 ? 'new' : `key-${n > 40 ? n - 1 : n}`)),
      ),
    )

    expect(storage.counters().transactions - before).toBe(1)
    expect(outcomes.flatMap(({ committed }, n) => (committed ? [n] : []))).toEqual([40])
    const refused = outcomes[0]
    expect(refused).toMatchObject({ committed: false, index: 0, conflict: { current: { runId: 'run-0' } } })
    expect(await storage.runs.list({}, { limit: 200, order: 'asc' }, EVERY_ROW)).toMatchObject({
      items: { length: 64 },
    })
    await storage.close()
  })

  it('commits a conflicting commit alone, and the others around it in order', async () => {
    const storage = await schema.open()
    await storage.unitOfWork.commit([{ type: 'run.insert', run: aRun({ id: 'run-3' }) }])
    const answers: number[] = []

    const outcomes = await Promise.all(
      upTo(8).map(async (n) => {
        const outcome = await storage.unitOfWork.commit(accepted(n))
        answers.push(n)
        return outcome
      }),
    )

    expect(answers).toEqual(upTo(8))
    expect(outcomes.flatMap(({ committed }, n) => (committed ? [] : [n]))).toEqual([3])
    expect(outcomes[3]).toMatchObject({ index: 1, conflict: { type: 'run.insert', current: { id: 'run-3' } } })
    expect(await storage.idempotency.find('key-3', NOW)).toBeUndefined()
    const positions = outcomes.flatMap((one) => (one.committed ? one.events.map(({ position }) => position) : []))
    expect(positions).toEqual([1, 2, 3, 4, 5, 6, 7])
    await storage.close()
  })

  it('commits a single commit of each frequent write in one transaction', async () => {
    const storage = await schema.open()
    const transcript = aMessage({ id: 'm-1', sessionId: 'ses-1', content: '{}' as never })
    await storage.unitOfWork.commit([{ type: 'session.insert', session: aSession({ id: 'ses-1' }) }])
    await storage.unitOfWork.commit([{ type: 'session.insert', session: aSession({ id: 'ses-2' }) }])
    const waiting = aStep({ runId: 'run-1', seq: 2, status: 'waiting' })
    const commits: readonly (readonly Write[])[] = [
      accepted(1),
      [{ type: 'run.fence', runId: 'run-1', attempt: 1 }],
      [{ type: 'step.insert', step: aStep({ runId: 'run-1', seq: 1 }) }],
      [{ type: 'step.insert', step: waiting }],
      [{ type: 'step.fence', runId: 'run-1', seqs: [2] }],
      [{ type: 'step.change', runId: 'run-1', seq: 1, from: 'started', change: { status: 'completed' } }],
      [{ type: 'step.change', runId: 'run-1', seq: 2, from: 'waiting', change: { status: 'failed' } }],
      [{ type: 'message.append', message: transcript }],
      finished(1),
      [{ type: 'idempotency.complete', runId: 'run-1', response: { status: 500, body: '' } }],
      [{ type: 'event.append', events: [anEvent()] }],
    ]
    const before = storage.counters().transactions

    const outcomes = []
    for (const writes of commits) outcomes.push(await storage.unitOfWork.commit(writes))

    expect(storage.counters().transactions - before).toBe(commits.length)
    expect(outcomes.map((one) => one.committed && one.counts)).toEqual([
      [1, 1, 1],
      ...[[0], [1], [1], [0], [1], [1], [1]],
      [1, 1, 1],
      [0],
      [1],
    ])
    const positions = outcomes.flatMap((one) => (one.committed ? one.events.map(({ position }) => position) : []))
    expect(positions).toEqual([1, 2, 3])
    expect((await storage.steps.list('run-1')).map(({ endOrder }) => endOrder)).toEqual([1, 2])
    await storage.close()
  })

  it('applies the writes of one commit to each other', async () => {
    const storage = await schema.open()
    const session = aSession({ id: 'ses-1', metadata: { tier: 'gold' } })
    const step = (seq: number, status: 'waiting' | 'started') => aStep({ runId: 'run-1', seq, status })

    const outcome = await storage.unitOfWork.commit([
      { type: 'session.insert', session },
      { type: 'message.append', message: aMessage({ id: 'm-1', sessionId: 'ses-1' }) },
      { type: 'message.append', message: aMessage({ id: 'm-2', sessionId: 'ses-1' }) },
      { type: 'run.insert', run: aRun({ id: 'run-1', status: 'running', sessionId: 'ses-1' }) },
      { type: 'run.fence', runId: 'run-1', attempt: 1 },
      { type: 'step.insert', step: step(1, 'waiting') },
      { type: 'step.fence', runId: 'run-1', seqs: [1] },
      { type: 'session.touch', id: 'ses-1', at: 7_000 as EpochMs },
    ])

    expect(outcome).toMatchObject({ committed: true, counts: [1, 1, 1, 1, 0, 1, 0, 1] })
    const page = await storage.sessions.messages('ses-1', { limit: 10, order: 'asc' })
    expect(page.items.map(({ id, seq }) => [id, seq])).toEqual([
      ['m-1', 1],
      ['m-2', 2],
    ])
    expect(await storage.sessions.find('ses-1', EVERY_ROW)).toEqual({ ...session, updatedAt: 7_000 })
    const found = await storage.sessions.list({ metadata: { tier: 'gold' } }, { limit: 5, order: 'asc' }, EVERY_ROW)
    expect(found.items).toHaveLength(1)
    expect(storage.counters().transactions).toBe(1)
    await storage.close()
  })
})
