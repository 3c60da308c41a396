import type { Storage } from '@perdure/ports'
import { type ClusterMember, type ClusterUnderTest, createManualClock } from '@perdure/testkit'
import { createInMemoryCluster } from './in-memory-cluster.ts'
import { createInMemoryStorage } from './in-memory-storage.ts'

/** Replaces parts of a member with broken ones. */
export type ClusterFault = (member: ClusterMember, shared: Storage) => Partial<ClusterMember>

const PASS_MS = 500

/** A cluster whose members beat twice a second, on a clock that only `pass` moves. */
export function openInMemoryCluster(fault: ClusterFault = () => ({})): ClusterUnderTest {
  const storage = createInMemoryStorage()
  const clock = createManualClock()
  const { join } = createInMemoryCluster({ storage, clock })
  const beating = new Set<() => void>()

  return {
    async join() {
      const { beat, leave, ...member } = join()
      beating.add(beat)
      const stop = () => void beating.delete(beat)
      const sound: ClusterMember = {
        ...member,
        stall: stop,
        async leave() {
          stop()
          leave()
        },
      }
      return { ...sound, ...fault(sound, storage) }
    },
    async pass() {
      clock.advance(PASS_MS)
      for (const beat of beating) beat()
    },
    close: () => storage.close(),
  }
}
