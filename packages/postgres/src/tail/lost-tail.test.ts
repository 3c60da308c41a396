import type { Write } from '@perdure/ports'
import { anEvent } from '@perdure/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { type CuttingProxy, createCuttingProxy } from '../cutting-proxy.fixture.ts'
import { createTestSchema } from '../test-schema.fixture.ts'

const append = (type: string): Write => ({ type: 'event.append', events: [anEvent({ type, topic: 'log' })] })

needsTool('PostgreSQL').describe('a tail that loses its connection', () => {
  const schema = createTestSchema()
  let proxy: CuttingProxy

  beforeAll(async () => {
    proxy = await createCuttingProxy(await schema.url())
  })
  afterAll(() => proxy.close())

  const openBoth = async () => {
    const one = await schema.open({ listenUrl: proxy.url })
    const other = await schema.open({ keepRows: true, isGuest: true })
    const types: string[] = []
    one.tail?.follow({
      watched: () => ({ runIds: [], sessionIds: [], topics: [] }),
      isWaiting: () => true,
      deliver: ({ events }) => types.push(...events.map(({ type }) => type)),
      skip: (position) => types.push(`skipped to ${position}`),
    })
    await expect.poll(() => one.tail?.state()).toMatchObject({ isCurrent: true, isListening: true })
    return { one, other, types }
  }

  it('is not current meanwhile, and then delivers what it has missed, in order and once', async () => {
    const { one, other, types } = await openBoth()
    await other.unitOfWork.commit([append('before')])
    await expect.poll(() => types).toEqual(['before'])

    proxy.blackout(true)
    await other.unitOfWork.commit([append('other')])
    await one.unitOfWork.commit([append('own')])
    await expect.poll(() => one.tail?.state()).toMatchObject({ isCurrent: false, isListening: false })
    expect(types).toEqual(['before'])

    proxy.blackout(false)
    await expect.poll(() => types).toEqual(['before', 'other', 'own'])
    await expect.poll(() => one.tail?.state()).toMatchObject({ isCurrent: true, isListening: true })
  })

  it('skips the events that it has missed when they are too many, and says so', async () => {
    const { one, other, types } = await openBoth()
    proxy.blackout(true)
    const events = Array.from({ length: 500 }, () => anEvent({ topic: 'log' }))
    for (let round = 0; round < 12; round++) await other.unitOfWork.commit([{ type: 'event.append', events }])
    proxy.blackout(false)

    await expect.poll(() => types).toEqual(['skipped to 6000'])
    await other.unitOfWork.commit([append('after')])
    await expect.poll(() => types).toEqual(['skipped to 6000', 'after'])
    expect((await one.events.read({ topic: 'log' }, { after: 0, limit: 10_000 })).length).toBe(6_001)
  })
})
