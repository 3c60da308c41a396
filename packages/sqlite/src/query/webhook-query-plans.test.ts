import {
  COUNT_DELIVERIES,
  DUE_RETRIES,
  deliveryListQuery,
  PRUNE_DELIVERIES,
  RELEASE_DELIVERIES,
  SCAN,
  UNATTEMPTED_DELIVERIES,
} from '@perdure/storage/queries'
import { describe, expect, it } from 'vitest'
import { beyond, planOf } from './query-plans.fixture.ts'

describe('a query on webhook deliveries', () => {
  it.each([
    ['webhook_deliveries_by_webhook', deliveryListQuery({ filter: { webhookId: 'w' }, page: beyond })],
    ['webhook_deliveries_dead', deliveryListQuery({ filter: { webhookId: 'w', status: 'dead' }, page: beyond })],
    ['webhook_deliveries_pending', deliveryListQuery({ filter: { webhookId: 'w', status: 'pending' }, page: beyond })],
    ['webhook_deliveries_unattempted', UNATTEMPTED_DELIVERIES],
    ['webhook_deliveries_due', DUE_RETRIES],
    ['webhook_deliveries_claimed', RELEASE_DELIVERIES],
    ['webhook_deliveries_over', PRUNE_DELIVERIES],
  ] as const)('uses the order of index %s', (index, query) => {
    const plan = planOf(query)

    expect(plan).toMatch(new RegExp(`USING (?:COVERING )?INDEX ${index}\\b`))
    expect(plan).not.toContain('TEMP B-TREE')
  })

  it('counts through partial indexes', () => {
    expect(planOf(COUNT_DELIVERIES)).toContain('webhook_deliveries_dead')
  })

  it('scans the log by position', () => {
    const plan = planOf(SCAN)

    expect(plan).toContain('SEARCH events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)')
    expect(plan).not.toContain('TEMP B-TREE')
  })
})
