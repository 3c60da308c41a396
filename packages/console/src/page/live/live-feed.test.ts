import type { PerdureClient, SubscribeOptions } from '@perdure/client'
import { describe, expect, it } from 'vitest'
import { createLiveFeed } from './live-feed.ts'

/** A feed whose server answers a subscription when the test says so. */
function feedWithSubscriptions() {
  const asked = new Map<string, { answer(): void; refuse(): void }>()
  const subscribe = (subject: string, { onSubscribed, signal }: SubscribeOptions) => {
    const ended = new Promise<void>((resolve, reject) => {
      asked.set(subject, { answer: () => onSubscribed?.(), refuse: () => reject(new Error('refused')) })
      signal?.addEventListener('abort', () => resolve())
    })
    return {
      // biome-ignore lint/correctness/useYield: This subscription has no events.
      async *[Symbol.asyncIterator]() {
        await ended
      },
    }
  }
  const feed = createLiveFeed(
    () => ({ subscribe }) as unknown as PerdureClient,
    () => true,
  )
  return { feed, asked: (subject: string) => asked.get(subject) ?? expect.fail(`${subject} was not asked for`) }
}

describe('the live feed', () => {
  it('is live once the server has answered every subscription, not when the connection opens', () => {
    const { feed, asked } = feedWithSubscriptions()
    feed.follow(['agent:echo/events', 'audit/events'])
    feed.onConnection({ state: 'connecting' })
    feed.onConnection({ state: 'open' })
    asked('audit/events').answer()
    expect(feed.liveness.get()).toBe('connecting')
    asked('agent:echo/events').answer()
    expect(feed.liveness.get()).toBe('live')
  })

  it('does not wait for a subscription that the server refuses, or that is no longer followed', async () => {
    const { feed, asked } = feedWithSubscriptions()
    feed.follow(['agent:echo/events', 'audit/events', 'memory/events'])
    feed.onConnection({ state: 'open' })
    asked('agent:echo/events').answer()
    feed.follow(['agent:echo/events', 'audit/events'])
    expect(feed.liveness.get()).toBe('connecting')
    asked('audit/events').refuse()
    await expect.poll(() => feed.liveness.get()).toBe('live')
  })

  it('is live again when the connection is back, because subscriptions resume at their last event', () => {
    const { feed, asked } = feedWithSubscriptions()
    feed.follow(['agent:echo/events'])
    feed.onConnection({ state: 'open' })
    asked('agent:echo/events').answer()
    feed.onConnection({ state: 'closed', code: 1006, reason: '', retryInMs: 100 })
    expect(feed.liveness.get()).toBe('resuming')
    feed.onConnection({ state: 'open' })
    expect(feed.liveness.get()).toBe('live')
  })
})
