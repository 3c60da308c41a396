import { type Cluster, DUTIES, type Storage } from '@perdure/ports'
import { expect } from 'vitest'
import { aRun } from '../builders.ts'
import { at } from './optional-fields.ts'

/** A process of the cluster under test. */
export interface ClusterMember {
  readonly cluster: Cluster
  readonly storage: Storage
  /** Stops renewing the lease, like a process that is paused or cut off. */
  stall(): void
  /** Sets by how many milliseconds the clock of the process is ahead of that of the storage. */
  setClockSkew(ms: number): void
  /** Leaves in order. */
  leave(): Promise<void>
}

/** Processes that share one storage, which is empty at first. */
export interface ClusterUnderTest {
  join(): Promise<ClusterMember>
  /** Lets a fraction of a lease pass. */
  pass(): Promise<void>
  close(): Promise<void>
}

export interface ClusterHarness {
  readonly name: string
  open(): Promise<ClusterUnderTest>
}

export interface ClusterCase {
  readonly title: string
  run(cluster: ClusterUnderTest): Promise<void>
}

export const NOW = at(1_000)
const MOST_PASSES = 1_000

/** Lets time pass until the check succeeds. */
export async function eventually(cluster: ClusterUnderTest, check: () => void | Promise<void>): Promise<void> {
  for (let passes = 0; ; passes++) {
    try {
      return await check()
    } catch (error) {
      if (passes === MOST_PASSES) throw error
      await cluster.pass()
    }
  }
}

export const dutiesOf = ({ cluster }: ClusterMember) => DUTIES.filter((duty) => cluster.isMine(duty))

export const ECHO = { kind: 'agent', id: 'echo' } as const
export const queued = (id: string, over: Parameters<typeof aRun>[0] = {}) =>
  aRun({ id, targetId: 'echo', status: 'queued', createdAt: at(10), ...over })

export const claim = async (
  { cluster }: ClusterMember,
  limit = 10,
  targets: Parameters<Cluster['claim']>[0]['targets'] = [ECHO],
) => (await cluster.claim({ targets, now: NOW, limit })).map(({ id }) => id)

export const joinTwo = async (cluster: ClusterUnderTest) => [await cluster.join(), await cluster.join()] as const

/** Waits until another member has given this one up. */
export const untilDeparted = (cluster: ClusterUnderTest, gone: ClusterMember, { cluster: seen }: ClusterMember) =>
  eventually(cluster, async () =>
    expect((await seen.departed()).map(({ executor }) => executor)).toContain(gone.cluster.executor),
  )
