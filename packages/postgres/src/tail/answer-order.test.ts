import { setTimeout as sleep } from 'node:timers/promises'
import type { LogFollower, Write } from '@perdure/ports'
import { anEvent } from '@perdure/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { type CuttingProxy, createCuttingProxy } from '../cutting-proxy.fixture.ts'
import { createTestSchema } from '../test-schema.fixture.ts'

/** Long enough for another process to announce a commit, and for the tail to read it. */
const HELD_MS = 500

const append = (type: string): Write => ({ type: 'event.append', events: [anEvent({ type, topic: 'talk' })] })

needsTool('PostgreSQL').describe('a tail on a PostgreSQL server', () => {
  const schema = createTestSchema()
  let proxy: CuttingProxy

  beforeAll(async () => {
    proxy = await createCuttingProxy(await schema.url())
  })
  afterAll(() => proxy.close())

  it('delivers what others commit on top of an own commit only after the answer to that commit', async () => {
    const direct = await schema.url()
    const one = await schema.open({ url: proxy.url, listenUrl: direct })
    const other = await schema.open({ keepRows: true, isGuest: true })
    const order: string[] = []
    const follower: LogFollower = {
      watched: () => ({ runIds: [], sessionIds: [], topics: [] }),
      isWaiting: () => true,
      deliver: ({ foreign }) => order.push(...foreign.map(({ type }) => type)),
      skip: () => order.push('skipped'),
    }
    one.tail?.follow(follower)
    other.tail?.follow({ ...follower, deliver: () => undefined })
    await one.unitOfWork.commit([append('first')])
    await expect.poll(() => one.tail?.state().isListening).toBe(true)

    let heldOrder: readonly string[] = ['not held']
    const hold = async () => {
      const seen = async () => (await other.events.read({ topic: 'talk' }, { after: 0, limit: 10 })).length
      await expect.poll(seen).toBe(2)
      await other.unitOfWork.commit([append('reply')])
      await sleep(HELD_MS)
      heldOrder = [...order]
    }
    proxy.arm({ after: 1, direction: 'to-client', action: hold })
    await one.unitOfWork.commit([append('ask')])
    order.push('answered')
    await expect.poll(() => order).toHaveLength(2)

    expect(heldOrder).toEqual([])
    expect(order).toEqual(['answered', 'reply'])
  })
})
