import { aWebhook } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createWebhookLanes, LANES_PER_SUBJECT } from './webhook-lanes.ts'

const hooks = (createdBy: string, count: number, source: 'api' | 'code' = 'api') =>
  Array.from({ length: count }, (_, n) => aWebhook({ id: `${createdBy}-${source}-${n}`, createdBy, source }))

/** Opens a lane for each webhook that may have one, and returns how many have one. */
function openAll(lanes: ReturnType<typeof createWebhookLanes>, webhooks: ReturnType<typeof hooks>) {
  for (const webhook of webhooks) if (lanes.mayOpen(webhook)) lanes.open(webhook, Promise.resolve())
  return webhooks.filter(({ id }) => lanes.isOpen(id)).length
}

describe('the lanes of webhooks', () => {
  it('are limited for each subject, until one closes', () => {
    const lanes = createWebhookLanes()
    const alices = hooks('alice', LANES_PER_SUBJECT + 2)

    expect(openAll(lanes, alices)).toBe(LANES_PER_SUBJECT)
    expect(openAll(lanes, hooks('bob', 1))).toBe(1)
    lanes.close('alice-api-0')
    expect(openAll(lanes, alices.slice(LANES_PER_SUBJECT))).toBe(1)
  })

  it('are open to every webhook of the configuration, and not at the cost of a subject', () => {
    const lanes = createWebhookLanes()
    const count = LANES_PER_SUBJECT + 2

    expect(openAll(lanes, hooks('', count, 'code'))).toBe(count)
    expect(openAll(lanes, hooks('alice', count, 'code'))).toBe(count)
    expect(openAll(lanes, hooks('alice', count))).toBe(LANES_PER_SUBJECT)
  })

  it('are offered to one webhook of each subject after the other', () => {
    const lanes = createWebhookLanes()
    const all = [...hooks('mallory', 3), ...hooks('alice', 2), ...hooks('bob', 1)]
    const order = () => lanes.inFairOrder(all).map(({ id }) => id.replace('-api-', ''))

    expect(order()).toEqual(['mallory0', 'alice0', 'bob0', 'mallory1', 'alice1', 'mallory2'])
    for (const webhook of all.slice(0, 1)) lanes.open(webhook, Promise.resolve())
    expect(order()).toEqual(['mallory1', 'alice0', 'bob0', 'mallory2', 'alice1', 'mallory0'])
  })
})
