import { EVERY_ROW, isRefusal } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { createClient, createRunLog, RUN_ID } from './run-log.fixture.ts'

const typesOf = (events: ReadonlyArray<{ readonly type: string }>) => events.map(({ type }) => type)
const refusalOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => (isRefusal(error) ? error : undefined),
  )

describe('the limits on open streams', () => {
  it('refuses the streams of a token over its limit, and those of no other token or caller without a token', async () => {
    const { streams } = await createRunLog({ maxStreamsPerToken: 2 })
    const openAs = (tokenId?: string) => streams.openRunStream({ runId: RUN_ID, visibility: EVERY_ROW, tokenId })
    const noisy = 'tok_1'
    const clients = [createClient(await openAs(noisy)), createClient(await openAs(noisy))]

    expect(await refusalOf(openAs(noisy))).toMatchObject({
      code: 'overloaded',
      retryAfter: 1_000,
      message: 'the token has reached its limit of 2 SSE streams',
      hint: expect.stringContaining('realtime.maxSseStreamsPerToken'),
    })
    for (const other of ['tok_2', undefined, undefined, undefined]) {
      clients.push(createClient(await openAs(other)))
    }

    await clients[0]?.close()
    clients.push(createClient(await openAs(noisy)))
    expect((await refusalOf(openAs(noisy)))?.code).toBe('overloaded')
    await Promise.all(clients.map((client) => client.close()))
    expect(streams.size()).toBe(0)
  })

  it('refuses streams over the limit, with Retry-After', async () => {
    const { open, streams } = await createRunLog({ maxStreams: 1 })
    const client = createClient(await open())
    expect(streams.size()).toBe(1)

    expect(await refusalOf(open())).toMatchObject({ code: 'overloaded', retryAfter: 1_000 })

    await client.close()
    expect(streams.size()).toBe(0)
    await (await open()).body?.cancel()
  })
})

describe('closeAll', () => {
  it('ends every stream after a complete block and refuses new ones', async () => {
    const { open, append, streams } = await createRunLog()
    await append('a')
    const clients = [createClient(await open()), createClient(await open())]
    await Promise.all(clients.map((client) => client.readUntil(2)))

    await streams.closeAll()
    await Promise.all(clients.map((client) => client.readToEnd()))

    expect(streams.size()).toBe(0)
    expect(clients.map(({ events }) => typesOf(events))).toEqual([
      ['message', 'a'],
      ['message', 'a'],
    ])
    expect((await refusalOf(open()))?.code).toBe('overloaded')
  })
})
