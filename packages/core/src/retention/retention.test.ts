import { createInMemoryStorage } from '@berth/in-memory'
import { EVERY_ROW, plusMs } from '@berth/ports'
import { anEvent, aRun, createManualClock } from '@berth/testkit'
import { describe, expect, it } from 'vitest'
import { settled, silentLogger } from '../runs/engine.fixture.ts'
import { createRetention, type RetentionLimits } from './retention.ts'

const DAY_MS = 86_400_000

function setUp(limits: RetentionLimits) {
  const storage = createInMemoryStorage()
  const clock = createManualClock()
  const daemon = createRetention({ unitOfWork: storage.unitOfWork, clock, timers: clock, logger: silentLogger, limits })
  return {
    ...{ storage, clock, daemon },
    async pass(ms: number) {
      clock.advance(ms)
      for (let turn = 0; turn < 10; turn++) await settled(clock)
    },
    events: () => storage.events.count({ topic: 'all' }, { after: 0, through: 1e9 }),
  }
}

describe('retention', () => {
  it('removes what is older than it may be, in bounded commits until none is left, and looks again later', async () => {
    const { storage, clock, daemon, pass, events } = setUp({ eventsDays: 30 })
    const old = Array.from({ length: 1_200 }, () => anEvent({ topic: 'all', at: clock.now() }))
    await storage.unitOfWork.commit([{ type: 'event.append', events: old }])
    clock.advance(30 * DAY_MS)
    daemon.start()

    await pass(0)
    expect(await events()).toBe(1_200)
    for (let minute = 0; minute < 22; minute++) await pass(30_000)

    expect(await events()).toBe(0)
    expect((await storage.events.head()).trimmedThrough).toBe(1_200)
    await daemon.stop()
  })

  it('keeps runs for ever unless it is told otherwise', async () => {
    for (const [limits, isKept] of [
      [{ eventsDays: 1 }, true],
      [{ eventsDays: 1, runsDays: 1 }, false],
    ] as const) {
      const { storage, clock, daemon, pass } = setUp(limits)
      const ended = { status: 'completed', createdAt: clock.now(), completedAt: plusMs(clock.now(), 1) } as const
      await storage.unitOfWork.commit([{ type: 'run.insert', run: aRun(ended) }])
      clock.advance(2 * DAY_MS)
      daemon.start()
      await pass(0)

      expect((await storage.runs.find(aRun().id, EVERY_ROW)) !== undefined).toBe(isKept)
      await daemon.stop()
    }
  })
})
