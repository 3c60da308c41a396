import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, noMeter, type PageQuery, type RunRecord, toJsonText } from '@perdure/ports'
import { anEvent, aRun, BUILT_AT } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import type { PageItem } from '../json/json-page.ts'
import { parsedItems } from '../json/page-items.fixture.ts'
import { createRenderEnvelope } from '../realtime/envelope.ts'
import type { EventEnvelope } from '../realtime/event-envelope.ts'
import { createReadRuns, type ListRunsQuery } from './read-runs.ts'

const page: PageQuery = { limit: 50, order: 'asc' }
const agentRun = aRun({ id: 'run_a', sessionId: 'chat' })
const workflowRun = aRun({ id: 'run_w', kind: 'workflow', targetId: 'flow', threadId: 'thr_1', owner: 'bob' })
const laterRun = aRun({
  ...{ id: 'run_l', status: 'completed', finishReason: 'completed', result: toJsonText([1]) },
  createdAt: (BUILT_AT + 5) as RunRecord['createdAt'],
  startedAt: (BUILT_AT + 6) as RunRecord['createdAt'],
  suspendedAt: (BUILT_AT + 7) as RunRecord['createdAt'],
  parentRunId: 'run_a',
  completedAt: (BUILT_AT + 8) as RunRecord['createdAt'],
  deadlineAt: (BUILT_AT + 9) as RunRecord['createdAt'],
})

const idsOf = async (items: readonly PageItem[]) => (await parsedItems(items)).map(({ id }: RunRecord) => id)

const render = createRenderEnvelope({ meter: noMeter, policy: 'redact' })

async function setUp({ events = 0 } = {}) {
  const storage = createInMemoryStorage({ epoch: 'e1' })
  const ticks = Array.from({ length: events }, (_, n) => [
    anEvent({ runId: 'run_a', type: 'a.tick', payload: toJsonText({ n }) }),
    anEvent({ runId: 'run_w', type: 'w.tick' }),
  ])
  await storage.unitOfWork.commit([
    ...[agentRun, workflowRun, laterRun].map((run) => ({ type: 'run.insert', run }) as const),
    { type: 'event.append', events: ticks.flat() },
  ])
  return { storage, ...createReadRuns({ ...storage, yieldTurn: async () => undefined, render, basePath: '/v1' }) }
}

describe('get', () => {
  it('returns an agent run', async () => {
    const { get } = await setUp()

    expect(await get('run_l', EVERY_ROW)).toMatchObject({
      ...{ id: 'run_l', kind: 'agent', agentId: 'echo', owner: 'alice', status: 'completed' },
      ...{ finishReason: 'completed', input: { text: 'hello' }, result: [1], attempt: 1 },
      ...{ createdAt: '2025-01-01T00:00:00.005Z', startedAt: '2025-01-01T00:00:00.006Z' },
      ...{ suspendedAt: '2025-01-01T00:00:00.007Z', completedAt: '2025-01-01T00:00:00.008Z' },
      deadlineAt: '2025-01-01T00:00:00.009Z',
      links: { self: '/v1/runs/run_l', events: '/v1/runs/run_l/events' },
    })
  })

  it('returns a workflow run, with missing values null or omitted', async () => {
    const { get } = await setUp()
    const run = await get('run_w', EVERY_ROW)

    expect(run).toMatchObject({ kind: 'workflow', workflowId: 'flow', finishReason: null })
    expect(run).not.toHaveProperty('agentId')
    expect(run).not.toHaveProperty('targetId')
    expect(JSON.parse(JSON.stringify(run))).not.toHaveProperty('startedAt')
    expect(JSON.parse(JSON.stringify(run))).not.toHaveProperty('result')
  })

  it('returns the priority and the start time of a queued run, and no key of its flow control', async () => {
    const { storage, get, list } = await setUp()
    const startAt = (BUILT_AT + 60_000) as RunRecord['createdAt']
    const queued = aRun({ id: 'run_q', status: 'queued', priority: -5, startAt, flow: { concurrency: 'acme' } })
    const first = aRun({ id: 'run_0', status: 'queued', priority: 0 })
    await storage.unitOfWork.commit([queued, first].map((run) => ({ type: 'run.insert', run }) as const))

    const shown = { id: 'run_q', priority: -5, startAt: '2025-01-01T00:01:00.000Z' }
    const run = await get('run_q', EVERY_ROW)
    expect(run).toMatchObject(shown)
    expect(run).not.toHaveProperty('flow')
    const listed = await parsedItems((await list({ status: 'queued' }, page, EVERY_ROW)).items)
    expect(listed.find(({ id }: RunRecord) => id === 'run_q')).toMatchObject(shown)
    expect(listed.find(({ id }: RunRecord) => id === 'run_0')).not.toHaveProperty('priority')
  })

  it('rejects an invisible run with the same error as a missing run', async () => {
    const { get, outcome, events } = await setUp()

    for (const read of [get, outcome, (runId: string, seen: { owner: string }) => events(runId, page, seen)]) {
      await expect(read('run_a', { owner: 'bob' })).rejects.toMatchObject({ code: 'run-not-found' })
      await expect(read('run_x', { owner: 'bob' })).rejects.toMatchObject({ code: 'run-not-found' })
    }
  })
})

describe('outcome', () => {
  it('returns the answer of the request that started the run', async () => {
    const { outcome } = await setUp()
    const reply = await outcome('run_w', EVERY_ROW)

    expect(reply).toMatchObject({ status: 200, runId: 'run_w' })
    expect(JSON.parse(reply.json ?? '')).toMatchObject({
      ...{ runId: 'run_w', status: 'queued', finishReason: null, sessionId: null },
      subject: 'workflow:flow/runs/run_w/events',
    })
  })
})

describe('list', () => {
  it.each<[ListRunsQuery, string[]]>([
    [{}, ['run_a', 'run_w', 'run_l']],
    [{ agentId: 'echo' }, ['run_a', 'run_l']],
    [{ workflowId: 'flow' }, ['run_w']],
    [{ agentId: 'flow' }, []],
    [{ status: 'completed' }, ['run_l']],
    [{ sessionId: 'chat' }, ['run_a']],
    [{ threadId: 'thr_1' }, ['run_w']],
    [{ parentRunId: 'run_a' }, ['run_l']],
    [{ since: '2025-01-01T00:00:00.005Z' }, ['run_l']],
    [{ since: '2025-01-01T00:00:00.006Z' }, []],
    [{ until: '2025-01-01T00:00:00.005Z' }, ['run_a', 'run_w']],
    [{ owner: 'nobody' }, []],
    [{ finishReason: 'completed' }, ['run_l']],
    [{ metadata: { ticket: '17' } }, []],
    [{ userId: 'nobody', tag: 'slow', version: '2', code: 'run-failed' }, []],
  ])('returns the runs that match %j', async (query, ids) => {
    const { list } = await setUp()

    expect(await idsOf((await list(query, page, EVERY_ROW)).items)).toEqual(ids)
  })

  it('returns only visible runs, in pages', async () => {
    const { list } = await setUp()
    const first = await list({}, { limit: 1, order: 'desc' }, { owner: 'alice' })
    const second = await list(
      {},
      { limit: 1, order: 'desc', cursor: first.nextCursor ?? undefined },
      { owner: 'alice' },
    )

    expect(await idsOf([...first.items, ...second.items])).toEqual(['run_l', 'run_a'])
    expect(second.nextCursor).toBeNull()
  })

  it.each([
    [undefined, []],
    [['input'], ['input']],
    [['result'], ['result']],
    [
      ['input', 'result'],
      ['input', 'result'],
    ],
  ] as const)('returns the input and the result of a run only if include names them: %j', async (include, members) => {
    const { list } = await setUp()

    const { items } = await list({ status: 'completed', include }, page, EVERY_ROW)

    const [run] = await parsedItems(items)
    expect(['input', 'result'].filter((name) => name in run)).toEqual(members)
  })

  it('rejects a filter by both agent and workflow', async () => {
    const { list } = await setUp()

    await expect(list({ agentId: 'a', workflowId: 'w' }, page, EVERY_ROW)).rejects.toMatchObject({
      kind: 'validation-failed',
    })
  })
})

describe('events', () => {
  it('ends a page at 4 MiB, in both orders, and returns each event once', async () => {
    const { storage, events } = await setUp()
    const payload = toJsonText('é'.repeat(750_000))
    const many = Array.from({ length: 5 }, () => anEvent({ runId: 'run_a', payload }))
    await storage.unitOfWork.commit([{ type: 'event.append', events: many }])

    for (const order of ['asc', 'desc'] as const) {
      const sizes: number[] = []
      const ids = new Set<string>()
      let cursor: string | undefined
      do {
        const { items, nextCursor } = await events('run_a', { limit: 200, order, cursor }, EVERY_ROW)
        sizes.push(items.length)
        for (const { eventId } of await parsedItems(items)) ids.add(eventId)
        cursor = nextCursor ?? undefined
      } while (cursor !== undefined)

      expect([sizes, ids.size]).toEqual([[2, 2, 1], 5])
    }
  })

  it.each([['asc'], ['desc']] as const)('returns the log of one run in pages, order %s', async (order) => {
    const { events } = await setUp({ events: 7 })
    const seen: EventEnvelope[] = []
    const sizes: number[] = []
    let cursor: string | undefined
    do {
      const { items, nextCursor } = await events('run_a', { limit: 3, order, cursor }, EVERY_ROW)
      seen.push(...((await parsedItems(items)) as readonly EventEnvelope[]))
      sizes.push(items.length)
      cursor = nextCursor ?? undefined
    } while (cursor !== undefined)

    expect(sizes).toEqual([3, 3, 1])
    const numbers = seen.map(({ payload }) => (payload as { readonly n: number }).n)
    expect(order === 'asc' ? numbers : numbers.reverse()).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(seen.every(({ runId, subject }) => runId === 'run_a' && subject === 'agent:echo/runs/run_a/events')).toBe(
      true,
    )
  })

  it('returns no cursor after a full last page, and accepts any event id as a cursor', async () => {
    const { events } = await setUp({ events: 3 })
    const all = await events('run_a', { limit: 3, order: 'asc' }, EVERY_ROW)
    const last = (await parsedItems(all.items)).at(-1)?.eventId

    expect(all.nextCursor).toBeNull()
    expect(last).toBe('e1.5')
    expect((await events('run_a', { ...page, cursor: last }, EVERY_ROW)).items).toEqual([])
  })

  it.each([['e2.1'], ['e1'], [''], ['1']])(
    'rejects the cursor %j, which is not an event id of this server',
    async (cursor) => {
      const { events } = await setUp({ events: 1 })

      await expect(events('run_a', { ...page, cursor }, EVERY_ROW)).rejects.toMatchObject({ kind: 'validation-failed' })
    },
  )

  it('returns an empty page for a run without events', async () => {
    const { events } = await setUp()

    expect(await events('run_a', page, EVERY_ROW)).toEqual({ items: [], nextCursor: null })
  })
})
