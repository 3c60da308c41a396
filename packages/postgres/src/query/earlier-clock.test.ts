import { type EpochMs, type Storage, toJsonText } from '@perdure/ports'
import { anApproval, anIdempotencyRecord, aRun, aStep } from '@perdure/testkit'
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
    await unitOfWork.commit([{ type: 'idempotency.reserve', record: record(), now: Date.now() as EpochMs }])

    await unitOfWork.commit([{ type: 'idempotency.prune', now: ahead(), limit: 10 }])
    const other = { ...record(), fingerprint: 'other' }
    const alone = await unitOfWork.commit([{ type: 'idempotency.reserve', record: other, now: ahead() }])
    const together = await Promise.all(
      Array.from({ length: 3 }, () =>
        unitOfWork.commit([
          { type: 'idempotency.reserve', record: other, now: ahead() },
          { type: 'run.insert', run: aRun({ id: 'never' }) },
        ]),
      ),
    )

    expect([alone, ...together].map(({ committed }) => committed)).toEqual([false, false, false, false])
    expect((await idempotency.find(other.id, Date.now() as EpochMs))?.fingerprint).toBe(record().fingerprint)
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
