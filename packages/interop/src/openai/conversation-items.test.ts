import type { LogEvent } from '@perdure/core'
import type { RunRecord } from '@perdure/ports'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RunLogDeps } from '../chat/run-log.ts'
import { logOf } from '../fold/events.fixture.ts'
import { runScript } from '../fold/run-script.fixture.ts'
import { readItemPage } from './conversation-items.ts'
import type { OutputItem } from './output-items.ts'

interface Run {
  readonly id: string
  readonly events: readonly LogEvent[]
}

/** The parts that reading a log needs, over logs in memory. */
const depsOf = (runs: readonly Run[], maxAnswerBytes = 1_000_000) =>
  ({
    events: {
      head: async () => ({ epoch: 'e', trimmedThrough: 0 }),
      async read({ runId }: { runId: string }, { after, limit }: { after: number; limit: number }) {
        const events = runs.find(({ id }) => id === runId)?.events ?? []
        const batch = events.slice(after, after + limit)
        return batch.map((event, index) => ({ ...event, position: after + index + 1, payload: JSON.stringify(event) }))
      },
    },
    render: ({ payload }: { payload: string }) => payload,
    targets: { find: () => undefined },
    yieldTurn: async () => undefined,
    ...{ basePath: '/v1', maxAnswerBytes },
  }) as unknown as RunLogDeps

const recordOf = (id: string) =>
  ({
    id,
    kind: 'agent',
    targetId: 'a',
    status: 'completed',
    createdAt: 0,
    input: '"hello"',
    metadata: {},
  }) as unknown as RunRecord

type Query = Parameters<typeof readItemPage>[3]

async function pageOf(runs: readonly Run[], query: Query, maxAnswerBytes?: number) {
  const ordered = query.order === 'asc' ? runs : runs.toReversed()
  return readItemPage(depsOf(runs, maxAnswerBytes), ordered, async (id) => recordOf(id), query)
}

/** Every item, read page by page. */
async function allItems(runs: readonly Run[], query: Query, maxAnswerBytes?: number) {
  const found: OutputItem[] = []
  for (;;) {
    const after = found.at(-1)?.id
    const page = await pageOf(runs, { ...query, ...(after === undefined ? {} : { after }) }, maxAnswerBytes)
    found.push(...page.items)
    if (!page.hasMore) return found
    expect(page.items.length).toBeGreaterThan(0)
  }
}

/** Ids of approvals are unique everywhere; all other ids of two runs may be the same. */
const withOwnApprovals = (events: readonly LogEvent[], run: string): readonly LogEvent[] =>
  JSON.parse(JSON.stringify(events).replaceAll('apr_', `apr_${run}_`))

const conversation = fc
  .array(runScript, { minLength: 1, maxLength: 3 })
  .map((logs) =>
    logs.map((events, index): Run => ({ id: `run_${index}`, events: withOwnApprovals(events, `${index}`) })),
  )

const text = (length: number) =>
  logOf([
    ['text.delta', { messageId: 'm', delta: 'x'.repeat(length) }],
    ['run.completed', {}],
  ])

describe('the pages of the items of a conversation', () => {
  it('give every item once, in both orders and with pages of any size', async () => {
    await fc.assert(
      fc.asyncProperty(
        conversation,
        fc.integer({ min: 1, max: 5 }),
        fc.constantFrom('asc', 'desc'),
        async (runs, limit, order) => {
          const whole = (await pageOf(runs, { limit: 10_000, order })).items
          expect(await allItems(runs, { limit, order })).toEqual(whole)
          expect(new Set(whole.map(({ id }) => id)).size).toBe(whole.length)
        },
      ),
      { numRuns: 100 },
    )
  })

  it('end where the answer would be too long, and the next page goes on there', async () => {
    const runs = Array.from({ length: 5 }, (_, index) => ({ id: `run_${index}`, events: text(4_000) }))
    const whole = (await pageOf(runs, { limit: 100, order: 'asc' })).items
    const page = await pageOf(runs, { limit: 100, order: 'asc' }, 10_000)

    expect(page.hasMore).toBe(true)
    expect(page.items.length).toBeLessThan(whole.length)
    expect(await allItems(runs, { limit: 100, order: 'asc' }, 10_000)).toEqual(whole)
  })

  it('say that the log of a run is longer than what they show', async () => {
    const runs = [{ id: 'run_0', events: text(9_000) }]
    const { items } = await pageOf(runs, { limit: 100, order: 'asc' }, 10_000)

    expect(JSON.stringify(items)).not.toContain('x'.repeat(9_000))
    expect(JSON.stringify(items)).toContain('only the first 5000 bytes of this run are shown')
  })
})
