import type { LogEvent } from '@perdure/core'
import type { RunRecord } from '@perdure/ports'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { beginLog, type RunLogDeps, readLog } from '../chat/run-log.ts'
import { logOf } from '../run-logs/events.fixture.ts'
import { runScript } from '../run-logs/run-script.fixture.ts'
import { readItemPage } from './conversation-items.ts'
import { inputItems, readAnswerItems } from './input-items.ts'
import type { OutputItem } from './output-items.ts'
import { createResponseProjector } from './response-projector.ts'
import { viewOf } from './response-reader.ts'
import { createSegments } from './segments.ts'

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

/** A run whose client has answered so many questions. */
const answered = (count: number): Run => ({
  id: 'run_0',
  events: logOf([
    ['run.started', { status: 'running', attempt: 1 }],
    ...Array.from({ length: count }, (_, n): readonly [string, unknown][] => {
      const call = { toolCallId: `call_${n}`, toolName: 'pick', args: {} }
      const waitingFor = [{ kind: 'client-tool', name: 'pick', toolCallId: `call_${n}` }]
      return [
        ['tool.call.end', { ...call, executor: 'client' }],
        ['run.suspended', { status: 'suspended', attempt: 1, waitingFor }],
        ['tool.result', { toolCallId: `call_${n}`, result: 'red' }],
        ['run.resumed', { status: 'queued', attempt: 1 }],
        ['run.started', { status: 'running', attempt: 1 }],
      ]
    }).flat(),
    ['run.completed', {}],
  ]),
})

/** The items of one response after the other, each from the whole log. */
async function itemsByResponse({ id, events }: Run): Promise<readonly OutputItem[]> {
  const run = recordOf(id)
  const deps = depsOf([{ id, events }])
  const segments = createSegments(id)
  for (const event of events) segments.next(event)
  const found = [...inputItems(run)]
  for (let segment = 1; segment <= segments.current(); segment++) {
    const response = createResponseProjector(viewOf({ run, segment }))
    await readLog(deps, run, await beginLog(deps, run), response.next)
    response.rest()
    if (response.response() === undefined) continue
    found.push(...(await readAnswerItems(deps, run, segment)), ...response.items())
  }
  return found
}

const withoutIds = (items: readonly OutputItem[]) => items.map(({ id: _, ...item }) => item)

describe('the pages of the items of a conversation', () => {
  it('show what the responses show', async () => {
    await fc.assert(
      fc.asyncProperty(runScript, fc.integer({ min: 0, max: 5 }), async (script, missing) => {
        const run = { id: 'run_0', events: script.slice(0, Math.max(0, script.length - missing)) }
        const { items } = await pageOf([run], { limit: 10_000, order: 'asc' })
        expect(withoutIds(items)).toEqual(withoutIds(await itemsByResponse(run)))
      }),
      { numRuns: 100 },
    )
  })

  it('read the log of each run once, however often its client has answered, and no run after the end of the page', async () => {
    const runs = Array.from({ length: 5 }, (_, index) => ({ ...answered(100), id: `run_${index}` }))
    const deps = depsOf(runs)
    const rendered = new Map<string, number>()
    const counting = {
      ...deps,
      render(event: { readonly payload: string }, { subject }: { readonly subject: string }) {
        rendered.set(subject, (rendered.get(subject) ?? 0) + 1)
        return event.payload
      },
    } as unknown as RunLogDeps
    const found: string[] = []
    const find = async (id: string) => {
      found.push(id)
      return recordOf(id)
    }

    const { items, hasMore } = await readItemPage(counting, runs, find, { limit: 250, order: 'asc' })

    expect([items.length, hasMore]).toEqual([250, true])
    expect(found).toEqual(['run_0', 'run_1'])
    expect(rendered.size).toBe(2)
    for (const count of rendered.values()) expect(count).toBeLessThanOrEqual(answered(100).events.length)
  })

  it('take time in proportion to the answers of the client', async () => {
    const msFor = async (count: number) => {
      const run = answered(count)
      const startedAt = performance.now()
      expect((await pageOf([run], { limit: 1, order: 'desc' }, 100_000_000)).items).toHaveLength(1)
      return performance.now() - startedAt
    }
    await msFor(500)
    const [few, many] = [await msFor(1_000), await msFor(16_000)]

    // With time that grows with the square of the answers, this would be near 256.
    expect(many / few).toBeLessThan(64)
  }, 60_000)

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
