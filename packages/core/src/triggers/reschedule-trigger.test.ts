import { createInMemoryStorage } from '@perdure/in-memory'
import type { EpochMs } from '@perdure/ports'
import { aTrigger } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { rescheduleTrigger } from './reschedule-trigger.ts'

const AT = 5_000 as EpochMs
const NEXT = { nextAt: AT, dueAt: AT, failure: undefined }

const setUp = async () => {
  const storage = createInMemoryStorage()
  const trigger = aTrigger()
  await storage.unitOfWork.commit([{ type: 'trigger.insert', trigger }])
  return { storage, trigger }
}

describe('rescheduleTrigger', () => {
  it('starts over when the trigger was changed after it was read', async () => {
    const { storage, trigger } = await setUp()
    const seen: number[] = []

    await rescheduleTrigger(storage, trigger, async ({ version, fireCount }) => {
      seen.push(fireCount)
      const changed = { ...trigger, fireCount: 9, version: version + 1 }
      if (seen.length === 1) await storage.unitOfWork.commit([{ type: 'trigger.replace', trigger: changed }])
      return NEXT
    })

    expect(seen).toEqual([trigger.fireCount, 9])
    expect(await storage.triggers.find(trigger.id)).toMatchObject({ ...NEXT, fireCount: 9 })
  })

  it('writes nothing for a deleted trigger or a trigger whose next occurrence is unchanged', async () => {
    const { storage, trigger } = await setUp()

    await rescheduleTrigger(storage, trigger, async () => undefined)
    expect(await storage.triggers.find(trigger.id)).toEqual(trigger)
    await rescheduleTrigger(storage, { ...trigger, id: 'gone' }, async () => NEXT)

    expect(await storage.triggers.find('gone')).toBeUndefined()
  })
})
