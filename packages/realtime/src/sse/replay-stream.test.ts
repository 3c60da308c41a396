import { getEventListeners } from 'node:events'
import { createRenderEnvelope } from '@perdure/core'
import { createInMemoryStorage } from '@perdure/in-memory'
import { type EventLog, noMeter, plusMs, toJsonText } from '@perdure/ports'
import { anEvent, BUILT_AT, createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { renderReplayBlocks } from './replay-stream.ts'

const recording = { stream: { topic: 't' }, subject: 's', raw: false }

async function record(count: number, everyMs: number) {
  const storage = createInMemoryStorage({ epoch: 'e1' })
  const events = Array.from({ length: count }, (_, n) =>
    anEvent({ topic: 't', type: 'note.one', payload: toJsonText(n), at: plusMs(BUILT_AT, n * everyMs) }),
  )
  await storage.unitOfWork.commit([{ type: 'event.append', events }])
  return storage
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('renderReplayBlocks', () => {
  it('yields all recorded events in order, across pages', async () => {
    const { events } = await record(450, 0)
    const blocks = renderReplayBlocks(
      { events, timers: createManualClock(), render: createRenderEnvelope({ meter: noMeter, policy: 'redact' }) },
      recording,
      {
        speed: undefined,
        signal: new AbortController().signal,
      },
    )

    const payloads = []
    for await (const block of blocks) payloads.push(/"payload":(\d+)/.exec(block)?.[1])

    expect(payloads).toEqual(Array.from({ length: 450 }, (_, n) => String(n)))
  })

  it('reads no more of the log than about one batch before its reader takes the blocks', async () => {
    const storage = createInMemoryStorage({ epoch: 'e1' })
    const recorded = Array.from({ length: 60 }, () =>
      anEvent({ topic: 't', type: 'note.one', payload: toJsonText('x'.repeat(250_000)) }),
    )
    await storage.unitOfWork.commit([{ type: 'event.append', events: recorded }])
    let length = 0
    const events: EventLog = {
      ...storage.events,
      async read(stream, range) {
        const batch = await storage.events.read(stream, range)
        for (const { payload } of batch) length += payload.length
        return batch
      },
    }
    const blocks = renderReplayBlocks(
      { events, timers: createManualClock(), render: createRenderEnvelope({ meter: noMeter, policy: 'redact' }) },
      recording,
      { speed: undefined, signal: new AbortController().signal },
    )

    await blocks.next()
    expect(length).toBeLessThan(600_000)
    let count = 1
    for await (const _ of blocks) count += 1
    expect(count).toBe(60)
  })

  it('divides the original time between events by speed', async () => {
    const { events } = await record(3, 1_000)
    const clock = createManualClock()
    const { signal } = new AbortController()
    const blocks = renderReplayBlocks(
      { events, timers: clock, render: createRenderEnvelope({ meter: noMeter, policy: 'redact' }) },
      recording,
      { speed: 10, signal },
    )
    const seen: string[] = []
    const reading = (async () => {
      for await (const block of blocks) seen.push(block)
    })()

    await turn()
    expect(seen).toHaveLength(1)
    clock.advance(99)
    await turn()
    expect(seen).toHaveLength(1)
    clock.advance(1)
    await turn()
    expect(seen).toHaveLength(2)
    clock.advance(100)
    await reading
    expect(seen).toHaveLength(3)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('ends if the reader disconnects during a pause', async () => {
    const { events } = await record(2, 60_000)
    const leaving = new AbortController()
    const blocks = renderReplayBlocks(
      { events, timers: createManualClock(), render: createRenderEnvelope({ meter: noMeter, policy: 'redact' }) },
      recording,
      {
        speed: 1,
        signal: leaving.signal,
      },
    )
    await blocks.next()
    const rest = blocks.next()

    leaving.abort()

    expect(['done', 'block']).toContain((await rest).done === true ? 'done' : 'block')
    expect((await blocks.next()).done).toBe(true)
  })
})
