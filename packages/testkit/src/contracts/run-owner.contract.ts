import { expect } from 'vitest'
import { aRun } from '../builders.ts'
import { insertRuns } from './commits.ts'
import type { ContractCase } from './contract-case.ts'

export const runOwnerCases: readonly ContractCase[] = [
  {
    title: 'lists no owners while no run is stored',
    async run(storage) {
      expect(await storage.runs.owners(10)).toEqual([])
    },
  },
  {
    title: 'lists each owner of a run once, and no more owners than asked for',
    async run(storage) {
      const owners = ['bob', 'alice', 'carol', 'Alice', 'bob', 'alice']
      await insertRuns(
        storage,
        ...owners.map((owner, index) =>
          aRun({ id: `run_${index}`, owner, status: index % 2 ? 'queued' : 'completed' }),
        ),
      )

      expect([...(await storage.runs.owners(10))].sort()).toEqual(['Alice', 'alice', 'bob', 'carol'])
      const some = await storage.runs.owners(2)
      expect(new Set(some).size).toBe(2)
      expect(owners).toEqual(expect.arrayContaining([...some]))
    },
  },
]
