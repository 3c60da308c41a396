import { type EpochMs, EVERY_ROW } from '@perdure/ports'
import { aFile } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { startEngine } from '../engine/forks/fork-run.fixture.ts'
import { agentOf, outcomeOf, workflowOf } from '../engine/test-engine.fixture.ts'

const MINE = 'file_mine'
const OF_BOB = 'file_bobs'
const inputOf = (...ids: readonly string[]) => ({
  messages: [
    { role: 'user', content: ids.map((id) => ({ type: 'file', mediaType: 'text/plain', url: `/v1/files/${id}` })) },
  ],
})
const INPUT = inputOf(MINE, OF_BOB, 'file_gone')
const NEVER = 8e15 as EpochMs

type World = Awaited<ReturnType<typeof setUp>>

async function setUp() {
  const limits = { maxBytes: 1_000, maxBytesPerOwner: 10_000 }
  const engine = await startEngine({
    agents: [
      agentOf('reader', async () => 'read'),
      agentOf('parent', (input, { invoke }) => invoke('reader', input)),
      agentOf('grouped', async () => 'read', { debounce: { period: 1_000, key: () => 'doc' } }),
      agentOf('writer', (_, { files }) =>
        files.write({ mediaType: 'text/plain', data: new TextEncoder().encode('chart') }),
      ),
    ],
    workflows: [workflowOf('flow', async () => 'read')],
    fileLimits: limits,
    services: (caller) => ({ files: engine.files.forRun(caller) }),
  })
  const insert = (id: string, owner: string) => ({ type: 'file.insert', file: aFile({ id, owner }) }) as const
  await engine.storage.unitOfWork.commit([insert(MINE, 'alice'), insert(OF_BOB, 'bob')])
  const { unitOfWork, files } = engine.storage
  return {
    ...engine,
    async start(agentId: string, input: unknown) {
      const { runId } = outcomeOf(await engine.run(agentId, { body: { input }, answer: 'accepted' }))
      await engine.advance(0)
      return runId
    },
    sweep: () => unitOfWork.commit([{ type: 'file.prune', before: NEVER, limit: 100 }]),
    holding: (id: string) => files.holdingRuns(id, 9),
    fileIds: async () => (await files.list({}, { limit: 9, order: 'asc' }, EVERY_ROW)).items.map(({ id }) => id),
  }
}

/** The ways in which a run without a session gets an input that shows a file. Each returns the run. */
const WAYS: Readonly<Record<string, (world: World) => Promise<string | undefined>>> = {
  'a request': ({ start }) => start('reader', INPUT),
  async 'a request that debounce combines with an earlier one'({ start }) {
    await start('grouped', inputOf())
    return start('grouped', INPUT)
  },
  async 'its parent'({ start, storage }) {
    const parentRunId = await start('parent', INPUT)
    const { items } = await storage.runs.list({ parentRunId }, { limit: 9, order: 'asc' }, EVERY_ROW)
    return items[0]?.id
  },
  async 'a fork'({ start, fork }) {
    return (await fork(await start('reader', INPUT), { from: 'start' })).runId
  },
  async 'a fork with an input of its own'({ start, fork }) {
    return (await fork(await start('reader', inputOf()), { from: 'start', input: INPUT })).runId
  },
  async 'a fork by another caller'({ start, fork }) {
    const principal = { subject: 'operator', scopes: ['admin:*'] }
    return (await fork(await start('reader', INPUT), { from: 'start', principal })).runId
  },
  async 'the fork of its thread'({ execute, forkThread }) {
    await execute('flow', { input: INPUT, threadId: 'thread' })
    return (await forkThread({ workflowId: 'flow', threadId: 'thread' })).id
  },
}

describe('a run without a session', () => {
  it.each(Object.entries(WAYS))('holds the files of its owner that its input from %s shows', async (_, start) => {
    const world = await setUp()

    const runId = await start(world)
    await world.sweep()

    expect(await world.holding(MINE)).toContain(runId)
    expect(await world.fileIds()).toEqual([MINE])
  })

  it('holds the files that its code writes', async () => {
    const { start, sweep, holding, fileIds } = await setUp()
    const runId = await start('writer', null)

    await sweep()

    const [written = ''] = await fileIds()
    expect(await holding(written)).toEqual([runId])
  })

  it('releases its files when it is deleted by age', async () => {
    const { start, storage, fileIds } = await setUp()
    await start('reader', INPUT)

    await storage.unitOfWork.commit([{ type: 'run.prune', before: NEVER, limit: 9 }])

    expect(await fileIds()).toEqual([OF_BOB])
  })
})
