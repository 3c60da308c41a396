import { DUTIES } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { anEvent } from '../builders.ts'
import { lineCases } from './cluster-lines.ts'
import {
  type ClusterCase,
  type ClusterHarness,
  type ClusterMember,
  claim,
  dutiesOf,
  ECHO,
  eventually,
  joinTwo,
  NOW,
  queued,
  untilDeparted,
} from './cluster-members.ts'
import { commit, findRun, insertRuns } from './commits.ts'
import { at } from './optional-fields.ts'

const leaseCases: readonly ClusterCase[] = [
  {
    title: 'gives each process a name of its own and a lease that lasts while the process lives',
    async run(cluster) {
      const [one, other] = await joinTwo(cluster)
      expect(one.cluster.executor).toEqual(expect.any(String))
      expect(one.cluster.executor).not.toBe(other.cluster.executor)
      for (let passes = 0; passes < 100; passes++) {
        await cluster.pass()
        expect([one.cluster.hasLease(), other.cluster.hasLease()]).toEqual([true, true])
      }
      expect(await one.cluster.departed()).toEqual([])
    },
  },
  {
    title: 'ends the lease of a process that stalls before another process gives it up',
    async run(cluster) {
      const [one, other] = await joinTwo(cluster)
      other.stall()
      await eventually(cluster, async () => {
        const departed = await one.cluster.departed()
        if (departed.length > 0) expect(other.cluster.hasLease()).toBe(false)
        expect(departed.map(({ executor }) => executor)).toEqual([other.cluster.executor])
      })
      expect(one.cluster.hasLease()).toBe(true)
    },
  },
  {
    title: 'refuses every commit of a removed process, and accepts the commits of the others',
    async run(cluster) {
      const [one, other] = await joinTwo(cluster)
      const append = { type: 'event.append', events: [anEvent({ topic: 'all' })] } as const
      await commit(other.storage, append)
      other.stall()
      await untilDeparted(cluster, other, one)

      await expect(other.storage.unitOfWork.commit([append])).rejects.toMatchObject({ code: 'storage-failed' })
      await expect(other.storage.unitOfWork.commit([append])).rejects.toMatchObject({ code: 'storage-failed' })
      await commit(one.storage, append)
      expect(await one.storage.events.read({ topic: 'all' }, { after: 0, limit: 10 })).toHaveLength(2)
    },
  },
  {
    title: 'names a process that has left until it is dismissed, and one that joins later never',
    async run(cluster) {
      const [one, other] = await joinTwo(cluster)
      await other.leave()
      const [departed] = await one.cluster.departed()
      expect(departed).toEqual({ executor: other.cluster.executor, departedMs: expect.any(Number) })
      expect(departed?.departedMs).toBeGreaterThanOrEqual(0)
      const third = await cluster.join()
      expect(await third.cluster.departed()).toHaveLength(1)

      await third.cluster.dismiss(departed?.executor ?? '')
      await third.cluster.dismiss(departed?.executor ?? '')
      expect(await one.cluster.departed()).toEqual([])
    },
  },
]

const dutyCases: readonly ClusterCase[] = [
  {
    title: 'gives each duty to one process',
    async run(cluster) {
      const [one, other] = await joinTwo(cluster)
      await eventually(cluster, () => expect([...dutiesOf(one), ...dutiesOf(other)].toSorted()).toEqual([...DUTIES]))
      for (let passes = 0; passes < 100; passes++) {
        await cluster.pass()
        const held = [...dutiesOf(one), ...dutiesOf(other)]
        expect(new Set(held).size).toBe(held.length)
      }
    },
  },
  {
    title: 'hands the duties over when a process stalls, and only when its lease is over',
    async run(cluster) {
      const one = await cluster.join()
      await eventually(cluster, () => expect(dutiesOf(one)).toEqual([...DUTIES]))
      const other = await cluster.join()
      one.stall()
      await eventually(cluster, () => {
        if (one.cluster.hasLease()) expect(dutiesOf(other)).toEqual([])
        expect(dutiesOf(other)).toEqual([...DUTIES])
      })
      expect(dutiesOf(one)).toEqual([])
    },
  },
  {
    title: 'hands the duties and the reservations over at once when a process retires, which can still write',
    async run(cluster) {
      const one = await cluster.join()
      await eventually(cluster, () => expect(dutiesOf(one)).toEqual([...DUTIES]))
      const other = await cluster.join()
      await insertRuns(one.storage, queued('a'))
      expect(await claim(one)).toEqual(['a'])

      await one.cluster.retire()
      expect(dutiesOf(one)).toEqual([])
      expect(await claim(one)).toEqual([])
      expect(await claim(other)).toEqual(['a'])
      await eventually(cluster, () => expect(dutiesOf(other)).toEqual([...DUTIES]))
      await insertRuns(one.storage, queued('b'))
      expect([dutiesOf(one), one.cluster.hasLease(), await claim(one)]).toEqual([[], true, []])
    },
  },
  {
    title: 'takes the duties and claims from a process while its clock is wrong in either direction',
    async run(cluster) {
      const [one, other] = await joinTwo(cluster)
      await eventually(cluster, () => expect(dutiesOf(one)).toEqual([...DUTIES]))
      for (const skewMs of [90_000_000, -90_000_000]) {
        one.setClockSkew(skewMs)
        await eventually(cluster, () => expect(dutiesOf(other)).toEqual([...DUTIES]))
        await insertRuns(other.storage, queued(`run at ${skewMs}`))
        expect([dutiesOf(one), one.cluster.hasLease(), await claim(one)]).toEqual([[], true, []])
        expect(Math.abs(one.cluster.clockSkewMs() - skewMs)).toBeLessThan(10_000)
        expect(await claim(other)).toContain(`run at ${skewMs}`)

        one.setClockSkew(0)
        other.setClockSkew(skewMs)
        await eventually(cluster, () => expect(dutiesOf(one)).toEqual([...DUTIES]))
        expect(Math.abs(one.cluster.clockSkewMs())).toBeLessThan(1_000)
        other.setClockSkew(0)
        await eventually(cluster, () => expect(Math.abs(other.cluster.clockSkewMs())).toBeLessThan(1_000))
      }
    },
  },
  {
    title: 'lets a process keep its duties while its clock differs by two seconds at most',
    async run(cluster) {
      const [one] = await joinTwo(cluster)
      await eventually(cluster, () => expect(dutiesOf(one)).toEqual([...DUTIES]))
      for (const skewMs of [1_000, -1_000]) {
        one.setClockSkew(skewMs)
        for (let passes = 0; passes < 60; passes++) {
          await cluster.pass()
          expect(dutiesOf(one)).toEqual([...DUTIES])
        }
      }
    },
  },
]

const claimCases: readonly ClusterCase[] = [
  {
    title: 'lets each queued run be claimed by one of several processes that claim at once',
    async run(cluster) {
      const members = [...(await joinTwo(cluster)), await cluster.join()]
      const ids = Array.from({ length: 60 }, (_, n) => `run-${n}`)
      await insertRuns((members[0] as ClusterMember).storage, ...ids.map((id) => queued(id)))
      const claimed: string[] = []
      for (let round = 0; round < 30 && claimed.length < ids.length; round++) {
        for (const found of await Promise.all(members.map((member) => claim(member, 7)))) claimed.push(...found)
      }
      expect(claimed.toSorted()).toEqual(ids.toSorted())
      expect(await Promise.all(members.map((member) => claim(member)))).toEqual([[], [], []])
    },
  },
  {
    title: 'claims only queued runs that are due, of the given targets and versions',
    async run(cluster) {
      const [one] = await joinTwo(cluster)
      await insertRuns(
        one.storage,
        queued('due', { startAt: NOW }),
        queued('later', { startAt: at(1_001) }),
        queued('flow', { kind: 'workflow', threadId: 't' }),
        queued('other', { targetId: 'other' }),
        queued('v1', { version: '1' }),
        queued('v2', { version: '2' }),
        queued('running', { status: 'running', execution: 1 }),
        queued('suspended', { status: 'suspended', suspendedAt: at(20) }),
      )
      expect(await claim(one, 10, [])).toEqual([])
      expect(await claim(one)).toEqual(['due'])
      expect(await claim(one, 10, [{ ...ECHO, version: '2' }])).toEqual(['v2'])
      expect(await claim(one, 10, [{ kind: 'workflow', id: 'echo' }])).toEqual(['flow'])
    },
  },
  {
    title: 'claims the runs that wait longest, each point of priority as 10 seconds',
    async run(cluster) {
      const [one] = await joinTwo(cluster)
      await insertRuns(
        one.storage,
        queued('third', { createdAt: at(30) }),
        queued('fourth', { createdAt: at(10_040), priority: 1, startAt: at(10_041) }),
        queued('second', { createdAt: at(10_020), priority: 1 }),
        queued('first', { createdAt: at(10) }),
        queued('last', { createdAt: at(5), priority: -1 }),
      )
      const now = at(20_000)
      const ids = async (limit: number) =>
        (await one.cluster.claim({ targets: [ECHO], now, limit })).map(({ id }) => id)
      expect([await ids(2), await ids(2), await ids(2)]).toEqual([['first', 'second'], ['third', 'fourth'], ['last']])
    },
  },
  {
    title: 'lets the runs that a departed process has claimed be claimed again',
    async run(cluster) {
      const [one, other] = await joinTwo(cluster)
      await insertRuns(one.storage, queued('a'), queued('b'))
      expect(await claim(other, 1)).toEqual(['a'])
      expect(await claim(one)).toEqual(['b'])
      other.stall()
      await untilDeparted(cluster, other, one)
      expect(await claim(one)).toEqual(['a'])
    },
  },
  {
    title: 'lets a process claim again what it has claimed and does not have, and nothing of another process',
    async run(cluster) {
      const [one, other] = await joinTwo(cluster)
      await insertRuns(one.storage, queued('a'), queued('b'), queued('c'))
      expect(await claim(other, 1)).toEqual(['a'])
      expect(await claim(one)).toEqual(['b', 'c'])
      const claimBut = async (held: readonly string[], limit = 10) =>
        (await one.cluster.claim({ targets: [ECHO], now: NOW, limit, held })).map(({ id }) => id)
      expect([await claimBut(['b', 'c']), await claimBut(['c']), await claimBut([], 1)]).toEqual([[], ['b'], ['b']])
      await insertRuns(one.storage, queued('d'))
      expect([await claimBut(['b']), await claim(one)]).toEqual([['c', 'd'], []])
    },
  },
  {
    title: 'leaves a claimed run as it is, so that any process can start it',
    async run(cluster) {
      const [one, other] = await joinTwo(cluster)
      await insertRuns(one.storage, queued('a'))
      await claim(one)
      expect(await findRun(one.storage, 'a')).toMatchObject({ status: 'queued', attempt: 1, execution: 0 })

      const executor = other.cluster.executor
      const change = { status: 'running', executor } as const
      const start = { type: 'run.transition', runId: 'a', from: ['queued'], attempt: 1, execution: 0, change } as const
      await commit(other.storage, start)
      expect(await findRun(one.storage, 'a')).toMatchObject({ status: 'running', execution: 1, executor })
    },
  },
]

export const clusterCases: readonly ClusterCase[] = [...leaseCases, ...dutyCases, ...claimCases, ...lineCases]

/** Requirements for every `Cluster` of several processes. */
export function clusterContract({ name, open }: ClusterHarness): void {
  describe(`Cluster: ${name}`, () => {
    for (const { title, run } of clusterCases) {
      it(title, async () => {
        const cluster = await open()
        try {
          await run(cluster)
        } finally {
          await cluster.close()
        }
      })
    }
  })
}
