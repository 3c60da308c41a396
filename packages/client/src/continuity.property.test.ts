import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildClient } from './create-client.ts'
import { createManualPace, type ManualPace, settle } from './manual-pace.fixture.ts'
import { createModelServer, type ModelServer } from './model-server.fixture.ts'
import type { SubscriptionItem } from './subscription.ts'

const SESSION = 'session:ses_1/events'
const OTHER = 'session:ses_2/events'

type Step =
  | { readonly do: 'publish' | 'trim' | 'take'; readonly count: number }
  | { readonly do: 'cut' | 'renew' | 'refuse' | 'wait' | 'shutdown' }

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('publish' as const), count: fc.integer({ min: 1, max: 12 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('take' as const), count: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('trim' as const), count: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('cut', 'wait', 'shutdown') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('renew', 'refuse') }) },
)

/** A reader that takes items only on demand. */
function createReader(subscription: AsyncIterable<SubscriptionItem>) {
  const items: SubscriptionItem[] = []
  const iterator = subscription[Symbol.asyncIterator]()
  let wanted = 0
  let isReading = false
  const read = async () => {
    isReading = true
    while (wanted > 0) {
      wanted -= 1
      const { value, done } = await iterator.next()
      if (done === true) break
      items.push(value)
    }
    isReading = false
  }
  return {
    items,
    take(count: number) {
      wanted += count
      if (!isReading) void read()
    },
  }
}

async function perform(step: Step, server: ModelServer, pace: ManualPace): Promise<readonly string[]> {
  switch (step.do) {
    case 'publish': {
      const ids: string[] = []
      for (let n = 0; n < step.count; n += 1) {
        server.publish(OTHER)
        ids.push(server.publish(SESSION).eventId)
      }
      return ids
    }
    case 'trim':
      server.trim(step.count)
      return []
    case 'cut':
      server.cut()
      return []
    case 'renew':
      server.renew()
      return []
    case 'refuse':
      server.refuse(1)
      server.cut()
      return []
    case 'shutdown':
      server.closeAll(4007, 'server.shutdown')
      return []
    case 'wait':
      await pace.advance(3_000)
      return []
    default:
      return []
  }
}

/** Checks that the reader received every event once, in order, with a gap wherever events are missing. */
function checkContinuity(published: readonly string[], items: readonly SubscriptionItem[]): void {
  let next = 0
  let hasGap = false
  for (const item of items) {
    if (item.type === 'gap') {
      hasGap = true
      continue
    }
    const index = published.indexOf(item.event.eventId, next)
    expect(index, `${item.event.eventId} is repeated or out of order`).toBeGreaterThanOrEqual(next)
    if (index > next) expect(hasGap, `events before ${item.event.eventId} are missing without a gap`).toBe(true)
    next = index + 1
    hasGap = false
  }
  expect(next, 'the newest events are missing').toBe(published.length)
}

describe.each(['websocket', 'sse', 'auto'] as const)('a subscription over %s', (transport) => {
  it('delivers every event once or reports a gap, whatever happens to its connections', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(steps, { maxLength: 40 }),
        fc.integer({ min: 1, max: 20 }),
        async (script, bufferSize) => {
          const server = createModelServer()
          const pace = createManualPace()
          const { fetch, WebSocket } = server
          const client = buildClient({ baseUrl: 'http://server/v1', token: 't', fetch, WebSocket }, pace)
          const subscription = client.subscribe(SESSION, { transport, bufferSize, lastEventId: 'e1.0' })
          const reader = createReader(subscription)
          const published: string[] = []
          let losses = 0

          for (const step of script) {
            published.push(...(await perform(step, server, pace)))
            if (step.do === 'take') reader.take(step.count)
            if (step.do === 'trim' || step.do === 'renew') losses += 1
            await settle()
          }
          published.push(server.publish(SESSION).eventId)
          reader.take(10_000)
          await pace.advance(300_000)

          checkContinuity(published, reader.items)
          expect(reader.items.filter(({ type }) => type === 'gap').length).toBeLessThanOrEqual(losses)
          client.close()
        },
      ),
      { numRuns: 60 },
    )
  })
})
