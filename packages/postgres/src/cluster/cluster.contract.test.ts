import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from '@perdure/ports'
import { type ClusterMember, clusterContract } from '@perdure/testkit'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { createTestSchema } from '../test-schema.fixture.ts'

const LEASE_MS = 2_000

needsTool('PostgreSQL').describe('members of a cluster on a PostgreSQL server', () => {
  const schema = createTestSchema()

  clusterContract({
    name: 'PostgreSQL',
    async open() {
      await (await schema.open()).close()
      return {
        async join(): Promise<ClusterMember> {
          let isStalled = false
          let skewMs = 0
          const beforeBeat = async () => (isStalled ? new Promise<void>(() => undefined) : undefined)
          const storage = await schema.open({
            keepRows: true,
            cluster: true,
            leaseMs: LEASE_MS,
            beforeBeat,
            now: () => Date.now() + skewMs,
          })
          return {
            storage,
            cluster: storage.cluster as Cluster,
            stall: () => {
              isStalled = true
            },
            setClockSkew: (ms) => {
              skewMs = ms
            },
            leave: () => storage.close(),
          }
        },
        pass: () => sleep(20),
        close: async () => undefined,
      }
    },
  })
})
