import { EVERY_ROW, isRefusal, perdureError } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { createClient, createRunLog, RUN_ID, SUBJECT, settled, trimmed } from './run-log.fixture.ts'

const typesOf = (events: ReadonlyArray<{ readonly type: string }>) => events.map(({ type }) => type)
const refusalOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => (isRefusal(error) ? error : undefined),
  )

describe('openRunStream', () => {
  it('answers with event stream headers', async () => {
    const { open } = await createRunLog()

    const response = await open()

    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toEqual({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
  })

  it('sends a cursor before the first event', async () => {
    const { open } = await createRunLog()
    const client = createClient(await open())

    await client.read()

    expect(client.retryMs).toBe(1_000)
    expect(client.events).toEqual([{ type: 'message', data: '', lastEventId: 'e1.0' }])
  })

  it('sends the events of the run as envelopes and ends after the last one', async () => {
    const { open, append, appendElsewhere, complete } = await createRunLog()
    await append('run.started')
    await appendElsewhere()
    const client = createClient(await open())
    await client.readUntil(2)
    await append('text.delta')
    await complete()

    await client.readToEnd()

    const [priming, ...events] = client.events
    expect(priming?.data).toBe('')
    expect(typesOf(events)).toEqual(['run.started', 'text.delta', 'run.completed'])
    expect(events.map(({ lastEventId }) => lastEventId)).toEqual(['e1.1', 'e1.3', 'e1.4'])
    expect(JSON.parse(events[1]?.data ?? '')).toEqual({
      eventId: 'e1.3',
      subject: SUBJECT,
      type: 'text.delta',
      payload: { n: 2 },
      at: '2025-01-01T00:00:00.000Z',
      runId: RUN_ID,
    })
  })

  it('resumes after the cursor of a reconnecting client', async () => {
    const { open, append, complete } = await createRunLog()
    await append('a', 'b', 'c')
    await complete()

    const client = createClient(await open('e1.2'))
    await client.readToEnd()

    expect(client.events[0]).toEqual({ type: 'message', data: '', lastEventId: 'e1.2' })
    expect(typesOf(client.events.slice(1))).toEqual(['c', 'run.completed'])
  })

  it('answers 204 if the run has ended and the client has all of its events', async () => {
    const { open, append, complete, appendElsewhere, streams } = await createRunLog()
    await append('a')
    await complete()
    await appendElsewhere()

    expect((await open('e1.2')).status).toBe(204)
    expect((await open('e1.3')).status).toBe(204)
    expect((await open('e1.1')).status).toBe(200)
    expect(streams.size()).toBe(1)
  })

  it.each(['other.1', 'e1.99', 'nonsense'])(
    'reports a gap for the cursor %s, then sends what is available',
    async (cursor) => {
      const { open, append, complete } = await createRunLog()
      await append('a')
      await complete()

      const client = createClient(await open(cursor), cursor)
      await client.readToEnd()

      expect(typesOf(client.events)).toEqual(['message', 'replay-gap', 'a', 'run.completed'])
      expect(JSON.parse(client.events[1]?.data ?? '')).toEqual({
        subject: SUBJECT,
        type: 'replay-gap',
        payload: { firstAvailable: 'e1.1', lastEventId: cursor },
        runId: RUN_ID,
      })
    },
  )

  it("reports a gap for a cursor before the oldest retained event, and moves the client's cursor past the gap", async () => {
    const { storage, append } = await createRunLog()
    await append('a', 'b', 'c', 'd')
    const { open } = await createRunLog({ events: trimmed(storage.events, 2), runs: storage.runs })

    const client = createClient(await open('e1.1'), 'e1.1')
    await client.readUntil(4)

    expect(client.events.map(({ type, lastEventId }) => [type, lastEventId])).toEqual([
      ['message', 'e1.1'],
      ['replay-gap', 'e1.2'],
      ['c', 'e1.3'],
      ['d', 'e1.4'],
    ])
    await client.close()
  })

  it('ends the stream if the run has ended and retention has deleted its last event', async () => {
    const log = await createRunLog()
    await log.append('a')
    await log.complete()
    const { open } = await createRunLog({ events: trimmed(log.storage.events, 2), runs: log.storage.runs })

    const client = createClient(await open('e1.1'))
    await client.readToEnd()

    expect(typesOf(client.events)).toEqual(['message', 'replay-gap'])
    expect((await open(client.lastEventId)).status).toBe(204)
  })

  it('does not let a cursor inject blocks', async () => {
    const { open } = await createRunLog()
    const client = createClient(await open('e1.0\nevent: forged\ndata: x\n\n'))

    await client.readUntil(2)

    expect(typesOf(client.events)).toEqual(['message', 'replay-gap'])
    await client.close()
  })

  it('answers run-not-found for missing and invisible runs', async () => {
    const { streams } = await createRunLog()

    for (const request of [
      { runId: 'run_none', visibility: EVERY_ROW },
      { runId: RUN_ID, visibility: { owner: 'bob' } },
    ] as const) {
      expect((await refusalOf(streams.openRunStream(request)))?.code).toBe('run-not-found')
    }
  })

  it('sends heartbeat comments on an idle stream', async () => {
    const { open, clock } = await createRunLog()
    const client = createClient(await open())
    await client.read()

    clock.advance(15_000)
    await client.read()
    clock.advance(15_000)
    await client.read()

    expect(client.comments).toHaveLength(2)
    expect(client.events).toHaveLength(1)
    await client.close()
  })

  it('stops reading the log while the client does not read', async () => {
    const log = await createRunLog()
    let reads = 0
    const events = {
      ...log.storage.events,
      read: (...args: Parameters<typeof log.storage.events.read>) => {
        reads += 1
        return log.storage.events.read(...args)
      },
    }
    const { open, clock } = await createRunLog({ events, runs: log.storage.runs })
    for (let page = 0; page < 20; page++) await log.append(...Array.from({ length: 200 }, () => 'text.delta'))

    const response = await open()
    await settled()
    const readsOfIdleClient = reads
    clock.advance(9_999)
    await settled()

    expect(readsOfIdleClient).toBeLessThan(6)
    expect(reads).toBe(readsOfIdleClient)
    await response.body?.cancel()
  })

  it('disconnects a client that reads nothing, but not one that reads slowly', async () => {
    const log = await createRunLog()
    for (let page = 0; page < 20; page++) await log.append(...Array.from({ length: 200 }, () => 'text.delta'))
    const stuck = await log.open()
    const slow = createClient(await log.open())
    await settled()

    for (let second = 0; second < 10; second++) {
      for (let chunk = 0; chunk < 3; chunk++) await slow.read()
      await settled()
      log.clock.advance(1_000)
    }

    expect(log.streams.size()).toBe(1)
    await expect(stuck.body?.getReader().read()).rejects.toThrow('stopped reading')
    expect(slow.events.length).toBeGreaterThan(1_000)
    await slow.close()
  })

  it('keeps a stream open while no event is waiting for its client', async () => {
    const { open, clock, streams } = await createRunLog()
    const response = await open()
    await settled()

    clock.advance(600_000)
    await settled()

    expect(streams.size()).toBe(1)
    await response.body?.cancel()
  })

  it('ends the stream when the token becomes invalid', async () => {
    const lost: (() => void)[] = []
    const { streams, append } = await createRunLog({
      watchCredential: (_tokenId, onLost) => {
        lost.push(() => onLost('revoked'))
        return () => undefined
      },
    })
    await append('a')
    const response = await streams.openRunStream({ runId: RUN_ID, visibility: EVERY_ROW, tokenId: 'tok_1' })
    const client = createClient(response)
    await client.readUntil(2)

    for (const lose of lost) lose()
    await client.readToEnd()

    expect(typesOf(client.events)).toEqual(['message', 'a'])
    expect(streams.size()).toBe(0)
  })

  it('ends the stream if the log cannot be read', async () => {
    const log = await createRunLog()
    // Opening a stream reads one event.
    const read: typeof log.storage.events.read = (stream, range) =>
      range.limit > 1 ? Promise.reject(perdureError('storage-failed')) : log.storage.events.read(stream, range)
    const events = { ...log.storage.events, read }
    const { open, streams } = await createRunLog({ events, runs: log.storage.runs })

    await createClient(await open()).readToEnd()

    expect(streams.size()).toBe(0)
  })
})
