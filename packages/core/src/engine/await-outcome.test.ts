import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, gate, outcomeOf, untilIdle } from './test-engine.fixture.ts'

const KEY = { id: 'k'.repeat(64), fingerprint: 'f' }
const WAIT = { waitMs: 5_000, key: KEY }

const TEN_TOKENS = { provider: 'p', model: 'm', inputTokens: 10 }

function setUp() {
  const open = gate<string>()
  const engine = createTestEngine({
    agents: [
      agentOf('child', () => open.promise),
      agentOf('parent', (_, { invoke }) => invoke('child')),
      agentOf('sleepy', async (_, { sleep }) => [await sleep('nap', 3_000), 'awake'][1]),
      agentOf('asking', async (_, { sleep, approval }) => [await sleep('nap', 10), await approval('ok')]),
      agentOf('busy', async (_, { sleep }) => [await sleep('nap', 3_000), await gate().promise]),
      agentOf('paid', async (_, { usage, approval }) => [await usage(TEN_TOKENS), await approval('ok')]),
      agentOf('returned', async (_, { usage, suspend }) => [await usage(TEN_TOKENS), suspend()][1]),
      agentOf('both', (_, { sleep, approval }) => Promise.all([sleep('nap', 3_000), approval('ok')])),
    ],
  })
  const advance = async (ms: number) => {
    for (let turn = 0; turn < 4; turn++) await engine.advance(turn === 0 ? ms : 0)
  }
  return { engine, open, advance }
}

const statusOf = (json: string | undefined) => (JSON.parse(json ?? '{}') as { readonly status?: string }).status

describe('a waiting request', () => {
  it('receives the outcome of a run that waited for a child, and stores that outcome under its key', async () => {
    const { engine, open, advance } = setUp()
    await engine.start()
    const reply = engine.run('parent', WAIT)
    await advance(0)
    const [parent] = (
      await engine.storage.runs.list({ targetId: 'parent', kind: 'agent' }, { limit: 1, order: 'asc' }, EVERY_ROW)
    ).items
    expect(parent?.status).toBe('suspended')
    await expect(engine.recall(KEY)).rejects.toMatchObject({ code: 'idempotency-in-flight' })

    open.resolve('done')
    await advance(0)

    expect(outcomeOf(await reply)).toMatchObject({ status: 'completed', result: 'done' })
    expect(statusOf((await engine.recall(KEY))?.json)).toBe('completed')
  })

  it('receives the outcome of a run that slept', async () => {
    const { engine, advance } = setUp()
    await engine.start()
    const reply = engine.run('sleepy', WAIT)
    await advance(0)
    await advance(3_000)

    expect(outcomeOf(await reply)).toMatchObject({ status: 'completed', result: 'awake' })
  })

  it.each(['asking', 'both'])('is answered immediately when agent %s suspends on an approval', async (agentId) => {
    const { engine, advance } = setUp()
    await engine.start()
    const reply = engine.run(agentId, WAIT)
    await advance(0)
    await advance(10)

    expect(await reply).toMatchObject({ status: 200 })
    expect(outcomeOf(await reply)).toMatchObject({ status: 'suspended', approvals: [{ name: 'ok' }] })
    expect(statusOf((await engine.recall(KEY))?.json)).toBe('suspended')
  })

  it.each(['paid', 'returned'])('has the usage of the suspended run of agent %s', async (agentId) => {
    const { engine, advance } = setUp()
    await engine.start()
    const reply = engine.run(agentId, WAIT)
    await advance(0)

    const expected = { status: 'suspended', usage: { inputTokens: 10 } }
    expect(outcomeOf(await reply)).toMatchObject(expected)
    expect(JSON.parse((await engine.recall(KEY))?.json ?? 'null')).toMatchObject(expected)
  })

  it('is answered with the current status after waitMs, and stores that answer under its key', async () => {
    const { engine, open, advance } = setUp()
    await engine.start()
    const reply = engine.run('parent', WAIT)
    await advance(0)
    await advance(5_000)

    expect(await reply).toMatchObject({ status: 202 })
    expect(outcomeOf(await reply)).toMatchObject({ status: 'suspended', waitingFor: [{ kind: 'child' }] })
    open.resolve('late')
    await advance(0)
    expect(await engine.recall(KEY)).toMatchObject({ status: 202, json: (await reply).json })
  })

  it('is answered with status running after waitMs if the run was resumed meanwhile', async () => {
    const { engine, advance } = setUp()
    await engine.start()
    const reply = engine.run('busy', WAIT)
    await advance(0)
    await advance(3_000)
    await advance(2_000)

    expect(await reply).toMatchObject({ status: 202 })
    expect(outcomeOf(await reply)).toMatchObject({ status: 'running' })
  })

  it('is answered with the current status when the server stops', async () => {
    const { engine, advance } = setUp()
    await engine.start()
    const reply = engine.run('sleepy', WAIT)
    await advance(0)

    await engine.drain(0)
    await engine.release()

    expect(await reply).toMatchObject({ status: 202 })
    expect(statusOf((await engine.recall(KEY))?.json)).toBe('suspended')
  })

  it('is answered with the suspension until a time when it sets no waitMs', async () => {
    const { engine, advance } = setUp()
    const reply = engine.run('sleepy', { key: KEY })
    await advance(0)

    expect(outcomeOf(await reply)).toMatchObject({ status: 'suspended', waitingFor: [{ kind: 'sleep' }] })
    expect(statusOf((await engine.recall(KEY))?.json)).toBe('suspended')
    await untilIdle(engine.clock)
  })
})
