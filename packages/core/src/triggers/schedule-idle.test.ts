import { createInMemoryStorage } from '@perdure/in-memory'
import { createCronSchedule } from '@perdure/platform-node'
import type { TriggerRecord } from '@perdure/ports'
import { aTrigger } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createSchedule } from './schedule.ts'
import { scheduleIdle } from './schedule-idle.ts'
import { testDigest } from './triggers.fixture.ts'

const IDLE = aTrigger({ kind: 'idle', idleMs: 60_000 })
const schedule = createSchedule({ cronSchedule: createCronSchedule(), digest: testDigest })

const scheduled = async (read: TriggerRecord, stored: TriggerRecord) => {
  const storage = createInMemoryStorage()
  await storage.unitOfWork.commit([{ type: 'trigger.insert', trigger: stored }])
  await scheduleIdle({ ...storage, schedule }, read)
  return storage.triggers.find(stored.id)
}

describe('scheduleIdle', () => {
  it('schedules an idle trigger one quiet period after its anchor', async () => {
    expect(await scheduled(IDLE, IDLE)).toMatchObject({ nextAt: IDLE.anchorAt + 60_000, version: 2 })
  })

  it('leaves a trigger alone that was declared with another kind after it was read', async () => {
    const redeclared = aTrigger({ kind: 'event', event: 'order.paid', version: 2 })

    expect(await scheduled(IDLE, redeclared)).toEqual(redeclared)
  })
})
