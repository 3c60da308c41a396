import { EVERY_ROW, type Write } from '@perdure/ports'
import { anEvent, aRun, createRandomFaults, type Fault, storageContract, withFaults } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createInMemoryStorage } from './in-memory-storage.ts'

storageContract({
  name: 'in memory, sometimes late',
  open: async () => {
    const faults = createRandomFaults({ seed: 1, share: 0.5, faults: ['late', 'answered-late'] })
    return withFaults(createInMemoryStorage(), faults)
  },
})

/** A storage whose next commit fails with this fault. */
function failingOnce(fault: Fault) {
  const inner = createInMemoryStorage()
  const fatal: string[] = []
  let next: Fault | undefined = fault
  const storage = withFaults(inner, {
    onFatal: ({ code }) => fatal.push(code),
    faultOf({ port }) {
      if (port !== 'unitOfWork') return undefined
      const now = next
      next = undefined
      return now
    },
  })
  return { storage, inner, fatal }
}

const insert = (id: string): readonly Write[] => [
  { type: 'run.insert', run: aRun({ id }) },
  { type: 'event.append', events: [anEvent({ topic: id })] },
]

describe('withFaults', () => {
  it.each([
    ['busy', 'SQLITE_BUSY', false],
    ['unavailable', 'storage-unavailable', false],
    ['full', 'storage-full', false],
    ['lost', 'storage-failed', false],
    ['unknown', 'storage-failed', true],
  ] as const)('injects the fault %s by rejecting a commit with %s', async (fault, id, isDone) => {
    const { storage, inner } = failingOnce(fault)

    await expect(storage.unitOfWork.commit(insert('run-1'))).rejects.toMatchObject({ code: id })

    expect((await inner.runs.find('run-1', EVERY_ROW)) !== undefined).toBe(isDone)
  })

  it('refuses writes after an unknown outcome, reports the failure once, and still reads', async () => {
    const { storage, fatal } = failingOnce('unknown')
    await expect(storage.unitOfWork.commit(insert('run-1'))).rejects.toMatchObject({ code: 'storage-failed' })

    await expect(storage.unitOfWork.commit(insert('run-2'))).rejects.toMatchObject({ code: 'storage-failed' })

    expect(fatal).toEqual(['storage-failed'])
    expect(await storage.runs.find('run-1', EVERY_ROW)).toBeDefined()
    expect(await storage.runs.find('run-2', EVERY_ROW)).toBeUndefined()
  })

  it('injects the same faults for the same seed', () => {
    const history = () => {
      const { faultOf, injected } = createRandomFaults({ seed: 7, share: 0.3, faults: ['busy', 'full', 'late'] })
      const faults = Array.from({ length: 50 }, () => faultOf({ port: 'unitOfWork', method: 'commit' }))
      return { faults, injected }
    }

    expect(history().faults).toEqual(history().faults)
    expect(new Set(history().faults)).toEqual(new Set([undefined, 'busy', 'full', 'late']))
    expect([...history().injected.values()].reduce((a, b) => a + b)).toBe(
      history().faults.filter((fault) => fault !== undefined).length,
    )
  })
})
