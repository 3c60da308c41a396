import { createHash } from 'node:crypto'
import { createInMemoryStorage } from '@perdure/in-memory'
import { type Digest, EVERY_ROW, noMeter, type RunLabels, type RunRecord, type Visibility } from '@perdure/ports'
import { anIdempotencyRecord, aRun, createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { recordId, recordScope } from '../idempotency/record-id.ts'
import type { PageItem } from '../json/json-page.ts'
import { parsedItems } from '../json/page-items.fixture.ts'
import { createRenderEnvelope } from '../realtime/envelope.ts'
import { createListRuns, type ListRunsRequest } from './list-runs.ts'
import { createReadRuns } from './read-runs.ts'

interface Keyed {
  readonly run: RunRecord
  readonly path: string
  readonly subject?: string
  readonly key?: string
  readonly labels?: RunLabels
}

const testDigest = { sha256: (text: string) => createHash('sha256').update(text).digest('hex') } as Digest

const KEY = 'order-17'
const OLD = aRun({ id: 'run_old' })
const AGENT: Keyed = { run: aRun({ id: 'run_agent', targetId: 'echo' }), path: '/agents/echo/run' }
const STREAM: Keyed = { run: aRun({ id: 'run_stream', targetId: 'echo' }), path: '/agents/echo/stream' }
const WORKFLOW: Keyed = {
  run: aRun({ id: 'run_flow', kind: 'workflow', targetId: 'flow', threadId: 'thr_1' }),
  path: '/workflows/flow/execute',
}
const forkOf = { runId: OLD.id, seq: 0 }
const labels: RunLabels = { startKey: KEY }
const FORK: Keyed = { run: aRun({ id: 'run_fork', forkOf }), path: `/runs/${OLD.id}/fork`, labels }
const RETRY: Keyed = { run: aRun({ id: 'run_retry', forkOf }), path: `/runs/${OLD.id}/retry`, labels }
const RERUN: Keyed = { run: aRun({ id: 'run_rerun', forkOf }), path: `/runs/${OLD.id}/rerun`, labels }
const FIRE: Keyed = {
  run: aRun({ id: 'run_fire', triggerId: 'nightly', owner: 'operator' }),
  path: '/triggers/nightly/fire',
  labels,
}

async function setUp(...keyed: readonly Keyed[]) {
  const storage = createInMemoryStorage()
  const clock = createManualClock()
  await storage.unitOfWork.commit([
    { type: 'run.insert', run: OLD },
    ...keyed.flatMap(({ run, path, subject = 'alice', key = KEY, labels }) => {
      const id = recordId(recordScope(testDigest, { subject, method: 'POST', path: `/v1${path}` }), key)
      const record = { ...anIdempotencyRecord({ id, runId: run.id }), expiresAt: clock.now() + 1_000 } as never
      return [
        { type: 'run.insert', run, labels } as const,
        { type: 'idempotency.reserve', record, now: clock.now() } as const,
        { type: 'idempotency.complete', runId: run.id, response: { status: 200, body: '{}' } } as const,
      ]
    }),
  ])
  const readRuns = createReadRuns({
    ...storage,
    yieldTurn: async () => undefined,
    render: createRenderEnvelope({ meter: noMeter, policy: 'redact' }),
    basePath: '/v1',
  })
  const listRuns = createListRuns({
    ...{ ...storage, readRuns, clock, digest: testDigest, basePath: '/v1' },
    registered: () => [
      { kind: 'agent', id: 'echo' },
      { kind: 'workflow', id: 'flow' },
    ],
  })
  const list = async (
    query: ListRunsRequest['query'],
    { subject = 'alice', visibility = EVERY_ROW }: { subject?: string; visibility?: Visibility } = {},
  ) => {
    const page = await listRuns({ query, subject, page: { limit: 50, order: 'asc' }, visibility })
    return idsOf(page.items)
  }
  return { list, clock, storage }
}

const idsOf = async (items: readonly PageItem[]) => (await parsedItems(items)).map(({ id }: RunRecord) => id)

describe('listRuns with an idempotency key', () => {
  it.each([AGENT, STREAM, WORKFLOW, FORK, RETRY, RERUN, FIRE])(
    'lists the run that POST $path started',
    async (keyed) => {
      const other = {
        ...keyed,
        run: { ...keyed.run, id: 'run_other', threadId: undefined },
        key: 'order-18',
        labels: { startKey: 'order-18' },
      }
      const { list } = await setUp(keyed, other)

      expect(await list({ idempotencyKey: KEY })).toEqual([keyed.run.id])
    },
  )

  it('lists every run that one key started, by different paths', async () => {
    const { list } = await setUp(AGENT, WORKFLOW, RETRY)

    expect(await list({ idempotencyKey: KEY })).toHaveLength(3)
    expect(await list({ idempotencyKey: KEY, agentId: 'echo', status: 'completed' })).toEqual([])
    expect(await list({ idempotencyKey: KEY, workflowId: 'flow' })).toEqual(['run_flow'])
  })

  it.each([AGENT, RETRY, FIRE])(
    'lists no run that another subject started with the same key by $path',
    async (keyed) => {
      const { list } = await setUp({ ...keyed, subject: 'bob' })

      expect(await list({ idempotencyKey: KEY })).toEqual([])
      expect(await list({ idempotencyKey: KEY }, { subject: 'bob' })).toEqual([keyed.run.id])
    },
  )

  it('lists the run of another subject that the filter names as the owner, if the caller may see that run', async () => {
    const { list } = await setUp({ ...AGENT, run: { ...AGENT.run, owner: 'bob' }, subject: 'bob' })

    expect(await list({ idempotencyKey: KEY, owner: 'bob' })).toEqual(['run_agent'])
    expect(await list({ idempotencyKey: KEY, owner: 'bob' }, { visibility: { owner: 'alice' } })).toEqual([])
  })

  it('lists the run of an agent that is no longer registered only if the filter names the agent', async () => {
    const { list } = await setUp({ run: aRun({ id: 'run_gone', targetId: 'gone' }), path: '/agents/gone/run' })

    expect(await list({ idempotencyKey: KEY })).toEqual([])
    expect(await list({ idempotencyKey: KEY, agentId: 'gone' })).toEqual(['run_gone'])
  })

  it.each([AGENT, RETRY])('lists nothing once the key of $path has expired', async (keyed) => {
    const { list, clock } = await setUp(keyed)

    clock.advance(999)
    expect(await list({ idempotencyKey: KEY })).toEqual([keyed.run.id])
    clock.advance(1)
    expect(await list({ idempotencyKey: KEY })).toEqual([])
  })

  it('lists nothing for an unknown key', async () => {
    const { list } = await setUp(AGENT, RETRY)

    expect(await list({ idempotencyKey: 'order' })).toEqual([])
    expect(await list({ idempotencyKey: '%' })).toEqual([])
  })

  it('lists runs whatever their key without the filter', async () => {
    const { list } = await setUp(AGENT)

    expect(await list({})).toEqual(['run_agent', 'run_old'])
  })
})
