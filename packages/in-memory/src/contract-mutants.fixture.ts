import type { EpochMs, Storage, Write } from '@perdure/ports'
import type { ContractCase } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createInMemoryStorage } from './in-memory-storage.ts'

/** A storage with one fault, and the contract case that must detect it. */
export interface Mutant {
  readonly fault: string
  readonly breakPorts: (storage: Storage) => Partial<Storage>
  readonly cases: readonly ContractCase[]
  readonly caughtBy: string
}

export const justBefore = (at: EpochMs): EpochMs => (at - 1) as EpochMs

/** Transforms each write with `change` before it is committed. */
export const rewriting =
  (change: (write: Write, storage: Storage) => Write | Promise<Write>) =>
  (storage: Storage): Partial<Storage> => ({
    unitOfWork: {
      commit: async (writes) =>
        storage.unitOfWork.commit(await Promise.all(writes.map((write) => change(write, storage)))),
    },
  })

/** Expects each fault to fail its case, which the correct storage passes. */
export function expectCaught(mutants: readonly Mutant[]): void {
  describe.each(mutants)('a storage that $fault', ({ breakPorts, cases, caughtBy }) => {
    const contractCase = cases.find(({ title }) => title === caughtBy)

    it(`fails "${caughtBy}", which the correct storage passes`, async () => {
      const sound = createInMemoryStorage()
      await expect(contractCase?.run(sound, 1)).resolves.toBeUndefined()

      const storage = createInMemoryStorage()
      await expect(contractCase?.run({ ...storage, ...breakPorts(storage) }, 1)).rejects.toThrow()
    })
  })
}
