import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, noMeter, type PageQuery, type RunRecord, toJsonText } from '@perdure/ports'
import { anEvent, aRun, BUILT_AT } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
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
  return createReadRuns({ ...storage, render, basePath: '/v1' })
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
  ])('returns the runs that match %j', async (query, ids) => {
    const { list } = await setUp()

    expect((await list(query, page, EVERY_ROW)).items.map(({ id }) => id)).toEqual(ids)
  })

  it('returns only visible runs, in pages', async () => {
    const { list } = await setUp()
    const first = await list({}, { limit: 1, order: 'desc' }, { owner: 'alice' })
    const second = await list(
      {},
      { limit: 1, order: 'desc', cursor: first.nextCursor ?? undefined },
      { owner: 'alice' },
    )

    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(['run_l', 'run_a'])
    expect(second.nextCursor).toBeNull()
  })

  it('rejects a filter by both agent and workflow', async () => {
    const { list } = await setUp()

    await expect(list({ agentId: 'a', workflowId: 'w' }, page, EVERY_ROW)).rejects.toMatchObject({
      kind: 'validation-failed',
    })
  })
})

describe('events', () => {
  it.each([['asc'], ['desc']] as const)('returns the log of one run in pages, order %s', async (order) => {
    const { events } = await setUp({ events: 7 })
    const seen: EventEnvelope[] = []
    const sizes: number[] = []
    let cursor: string | undefined
    do {
      const { items, nextCursor } = await events('run_a', { limit: 3, order, cursor }, EVERY_ROW)
      seen.push(...items)
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
    const last = all.items.at(-1)?.eventId

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
