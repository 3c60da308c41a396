import { type CommitOutcome, type EpochMs, type Storage, toJsonText } from '@perdure/ports'
import { anApproval, anIdempotencyRecord, aRun, aSession, aStep } from '@perdure/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { createTestSchema } from '../test-schema.fixture.ts'

const [HOUR, YEAR] = [3_600_000, 31_536_000_000]

needsTool('PostgreSQL').describe('a process whose clock is ahead of that of the database server', () => {
  const schema = createTestSchema()
  let storage: Storage
  const ahead = () => (Date.now() + 10 * YEAR) as EpochMs
  const soon = () => (Date.now() + HOUR) as EpochMs

  beforeEach(async () => {
    storage = await schema.open()
  })
  afterEach(() => storage.close())

  const record = () =>
    anIdempotencyRecord({
      ...{ createdAt: Date.now() as EpochMs, expiresAt: soon() },
      response: { status: 200, body: toJsonText('kept') },
    })

  it('forgets no key, neither by deleting nor by reserving it again', async () => {
    const { unitOfWork, idempotency } = storage
    const records = ['a', 'b', 'c', 'd'].map((letter) => ({ ...record(), id: letter.repeat(64) }))
    const reserve = (one: ReturnType<typeof record>, now: EpochMs) =>
      unitOfWork.commit([
        { type: 'idempotency.reserve', record: one, now },
        { type: 'run.insert', run: aRun({ id: `${one.fingerprint}-${one.id}` }) },
      ])
    const outcomes = async (made: readonly Promise<CommitOutcome>[]) =>
      (await Promise.all(made)).map(({ committed }) => committed)
    await outcomes(records.map((one) => reserve(one, Date.now() as EpochMs)))

    await unitOfWork.commit([{ type: 'idempotency.prune', now: ahead(), limit: 10 }])
    const others = records.map((one) => ({ ...one, fingerprint: 'other' }))
    const [first = record()] = others
    const alone = await unitOfWork.commit([{ type: 'idempotency.reserve', record: first, now: ahead() }])
    // Commits that wait together form a group, which reserves its keys in one statement.
    const together = await outcomes(others.map((one) => reserve(one, ahead())))
    const repeated = await outcomes([first, first, first].map((one) => reserve(one, ahead())))

    expect([alone.committed, ...together, ...repeated]).toEqual(Array(8).fill(false))
    for (const { id, fingerprint } of records)
      expect((await idempotency.find(id, Date.now() as EpochMs))?.fingerprint).toBe(fingerprint)
  })

  it('forgets no usage of deleted runs', async () => {
    const { unitOfWork, runs } = storage
    const createdAt = Date.now() as EpochMs
    await unitOfWork.commit([
      { type: 'session.insert', session: aSession({ id: 'deleted' }) },
      { type: 'run.insert', run: aRun({ owner: 'alice', status: 'completed', sessionId: 'deleted', createdAt }) },
      { type: 'session.delete', id: 'deleted', answer: { status: 410, body: '' } },
    ])

    await unitOfWork.commit([{ type: 'usage.prune', now: ahead(), limit: 10 }])

    expect((await runs.usage('alice', createdAt)).runsToday).toBe(1)
  })

  it('finds nothing due that is not due by both clocks', async () => {
    const { unitOfWork, runTimers, steps, approvals } = storage
    const waits = { runId: 'waits', kind: 'sleep', status: 'waiting' } as const
    await unitOfWork.commit([
      { type: 'run.insert', run: aRun({ id: 'delayed', startAt: soon(), deadlineAt: soon() }) },
      { type: 'run.insert', run: aRun({ id: 'waits', status: 'suspended' }) },
      { type: 'step.insert', step: aStep({ ...waits, dueAt: soon() }) },
      { type: 'approval.insert', approval: anApproval({ runId: 'waits', expiresAt: soon(), remindAt: soon() }) },
    ])
    const due = async (now: EpochMs) => [
      await runTimers.starting({ after: 0 as EpochMs, through: now }, 10),
      await runTimers.pastDeadline(now, 10),
      await steps.due(now, 10),
      await approvals.due(now, 10),
      await approvals.toRemind(now, 10),
    ]

    expect((await due(ahead())).map((rows) => rows.length)).toEqual([0, 0, 0, 0, 0])
  })
})
