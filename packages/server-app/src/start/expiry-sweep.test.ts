import { createInMemoryStorage } from '@perdure/in-memory'
import { type EpochMs, endOfDay } from '@perdure/ports'
import { anIdempotencyRecord, aRun, aSession, createManualClock } from '@perdure/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { startExpirySweep } from './expiry-sweep.ts'

const ignore = () => undefined
const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

it('deletes expired records every minute, in the process that holds the duty', async () => {
  const { unitOfWork } = createInMemoryStorage()
  const clock = createManualClock()
  let isHeld = false
  let prunes = 0
  const stop = startExpirySweep({
    ...{ clock, timers: clock, logger, cluster: { isMine: (duty) => duty === 'sweep' && isHeld } },
    unitOfWork: {
      commit(writes) {
        prunes += 1
        return unitOfWork.commit(writes)
      },
    },
  })
  const response = { status: 200, body: '' }
  const record = anIdempotencyRecord({ response, expiresAt: clock.now() })
  await unitOfWork.commit([{ type: 'idempotency.reserve', record, now: (clock.now() - 1) as EpochMs }])
  const minute = async () => {
    clock.advance(60_000)
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  await minute()
  expect(prunes).toBe(0)

  isHeld = true
  await minute()
  expect(prunes).toBe(1)
  expect((await unitOfWork.commit([{ type: 'idempotency.prune', now: clock.now(), limit: 9 }])).committed).toBe(true)

  stop()
  await minute()
  expect(prunes).toBe(1)
})

it('deletes the usage of deleted runs when the day after theirs is over', async () => {
  const { unitOfWork, runs } = createInMemoryStorage()
  const clock = createManualClock()
  onTestFinished(startExpirySweep({ ...{ clock, timers: clock, logger, unitOfWork }, cluster: { isMine: () => true } }))
  const day = clock.now()
  const run = aRun({ owner: 'alice', status: 'completed', sessionId: 's', createdAt: day })
  await unitOfWork.commit([
    { type: 'session.insert', session: aSession({ id: 's' }) },
    { type: 'run.insert', run },
    { type: 'session.delete', id: 's', answer: { status: 404, body: '' } },
  ])
  const knownAt = async (time: EpochMs) => {
    clock.advance(time - clock.now())
    await new Promise<void>((resolve) => setImmediate(resolve))
    return (await runs.usage('alice', day)).runsToday
  }
  const isOver = endOfDay(endOfDay(day))

  expect([await knownAt((isOver - 1) as EpochMs), await knownAt((isOver + 60_000) as EpochMs)]).toEqual([1, 0])
})
