import { expect } from 'vitest'
import { type ClusterCase, claim, ECHO, joinTwo, NOW, queued } from './cluster-members.ts'
import { insertRuns } from './commits.ts'
import { at } from './optional-fields.ts'

/** The queue of a line: runs that wait for the same slot. */
export const lineCases: readonly ClusterCase[] = [
  {
    title: 'finds the first queued run of a line, whether it is claimed or not',
    async run(cluster) {
      const [one, other] = await joinTwo(cluster)
      const line = { targets: [ECHO], owner: 'ann', now: NOW }
      const first = async (over: object = {}) => (await one.cluster.firstInLine({ ...line, ...over }))?.id
      expect(await first()).toBeUndefined()

      const flow = (concurrency?: string, rate?: string) => ({ concurrency, rate })
      await insertRuns(
        one.storage,
        queued('later', { owner: 'ann', startAt: at(1_001), createdAt: at(1) }),
        queued('urgent', { owner: 'bob', priority: 9 }),
        queued('a', { owner: 'ann', createdAt: at(30), flow: flow('x\u0000"', 'r') }),
        queued('b', { owner: 'ann', createdAt: at(20), flow: flow('y', 'r'), sessionId: 'ses' }),
        queued('c', { owner: 'ann', createdAt: at(15), version: '2' }),
      )
      await claim(other)

      expect([await first(), await first({ owner: 'bob' }), await first({ owner: 'eve' })]).toEqual([
        'b',
        'urgent',
        undefined,
      ])
      expect([
        await first({ concurrencyKey: 'x\u0000"' }),
        await first({ concurrencyKey: 'y' }),
        await first({ concurrencyKey: 'x' }),
        await first({ rateKey: 'r' }),
        await first({ rateKey: 'r', concurrencyKey: 'x\u0000"' }),
        await first({ sessionId: 'ses' }),
        await first({ sessionId: 'none' }),
        await first({ targets: [ECHO, { ...ECHO, version: '2' }] }),
      ]).toEqual(['a', 'b', undefined, 'b', 'a', 'b', undefined, 'c'])
    },
  },
]
