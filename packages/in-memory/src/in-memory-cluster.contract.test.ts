import { clusterCases, clusterContract } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { type ClusterFault, openInMemoryCluster } from './in-memory-cluster.fixture.ts'

clusterContract({ name: 'in-memory', open: async () => openInMemoryCluster() })

interface ClusterMutant {
  readonly fault: string
  readonly breakMember: ClusterFault
  readonly caughtBy: string
}

const mutants: readonly ClusterMutant[] = [
  {
    fault: 'lets a process write after it was given up',
    breakMember: (_, shared) => ({ storage: shared }),
    caughtBy: 'refuses every commit of a removed process, and accepts the commits of the others',
  },
  {
    fault: 'claims without a reservation',
    breakMember: ({ cluster }) => {
      const claim = async (query: Parameters<typeof cluster.claim>[0]) => {
        const runs = await cluster.claim(query)
        await cluster.retire()
        return runs
      }
      return { cluster: { ...cluster, claim } }
    },
    caughtBy: 'claims the runs that wait longest, each point of priority as 10 seconds',
  },
  {
    fault: 'holds its duties whatever its lease',
    breakMember: ({ cluster }) => ({ cluster: { ...cluster, isMine: () => true } }),
    caughtBy: 'gives each duty to one process',
  },
  {
    fault: 'counts on a lease that is over',
    breakMember: ({ cluster }) => ({ cluster: { ...cluster, hasLease: () => true } }),
    caughtBy: 'ends the lease of a process that stalls before another process gives it up',
  },
  {
    fault: 'does not compare its clock',
    breakMember: () => ({ setClockSkew: () => undefined }),
    caughtBy: 'takes the duties and claims from a process while its clock is wrong in either direction',
  },
  {
    fault: 'keeps its duties and reservations when it retires',
    breakMember: ({ cluster }) => ({ cluster: { ...cluster, retire: async () => undefined } }),
    caughtBy: 'hands the duties and the reservations over at once when a process retires, which can still write',
  },
  {
    fault: 'claims runs of versions that it does not have',
    breakMember: ({ cluster }) => ({
      cluster: {
        ...cluster,
        claim: ({ targets, ...query }) =>
          cluster.claim({ ...query, targets: [...targets, { kind: 'agent', id: 'echo', version: '1' }] }),
      },
    }),
    caughtBy: 'claims only queued runs that are due, of the given targets and versions',
  },
  {
    fault: 'forgets a departed process by itself',
    breakMember: ({ cluster }) => ({
      cluster: {
        ...cluster,
        async departed() {
          const all = await cluster.departed()
          for (const { executor } of all) await cluster.dismiss(executor)
          return all
        },
      },
    }),
    caughtBy: 'names a process that has left until it is dismissed, and one that joins later never',
  },
  {
    fault: 'keeps the runs of a claim whose answer was lost',
    breakMember: ({ cluster }) => ({
      cluster: { ...cluster, claim: ({ held: _, ...query }) => cluster.claim(query) },
    }),
    caughtBy: 'lets a process claim again what it has claimed and does not have, and nothing of another process',
  },
  {
    fault: 'passes over claimed runs in a line',
    breakMember: ({ cluster }) => ({
      cluster: {
        ...cluster,
        async firstInLine(line) {
          const run = await cluster.firstInLine(line)
          const [free] = await cluster.claim({ ...line, limit: 1 })
          return free === undefined ? undefined : run
        },
      },
    }),
    caughtBy: 'finds the first queued run of a line, whether it is claimed or not',
  },
]

describe.each(mutants)('a cluster that $fault', ({ breakMember, caughtBy }) => {
  it(`fails "${caughtBy}"`, async () => {
    const clusterCase = clusterCases.find(({ title }) => title === caughtBy)
    await expect(clusterCase?.run(openInMemoryCluster())).resolves.toBeUndefined()
    await expect(clusterCase?.run(openInMemoryCluster(breakMember))).rejects.toThrow()
  })
})
