import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, gate, outcomeOf, settled } from './test-engine.fixture.ts'

const KEY = { id: 'k'.repeat(64), fingerprint: 'f' }
const WAIT = { waitMs: 5_000, key: KEY }

function setUp() {
  const open = gate<string>()
  const engine = createTestEngine({
    agents: [
      agentOf('child', () => open.promise),
      agentOf('parent', (_, { agents }) => agents.run('child')),
      agentOf('sleepy', async (_, { sleep }) => [await sleep('nap', 3_000), 'awake'][1]),
      agentOf('asking', async (_, { sleep, approval }) => [await sleep('nap', 10), await approval('ok')]),
      agentOf('busy', async (_, { sleep }) => [await sleep('nap', 3_000), await gate().promise]),
      agentOf('both', (_, { sleep, approval }) => Promise.all([sleep('nap', 3_000), approval('ok')])),
    ],
  })
  const pass = async (ms: number) => {
    for (let turn = 0; turn < 4; turn++) await engine.pass(turn === 0 ? ms : 0)
  }
  return { engine, open, pass }
}

const statusOf = (json: string | undefined) => (JSON.parse(json ?? '{}') as { readonly status?: string }).status

describe('a request that waits for a while', () => {
  it('gets what a run comes to that has waited for a child, and so does its key', async () => {
    const { engine, open, pass } = setUp()
    await engine.start()
    const reply = engine.run('parent', WAIT)
    await pass(0)
    const [parent] = (
      await engine.storage.runs.list({ targetId: 'parent', kind: 'agent' }, { limit: 1, order: 'asc' }, EVERY_ROW)
    ).items
    expect(parent?.status).toBe('suspended')
    await expect(engine.recall(KEY)).rejects.toMatchObject({ id: 'idempotency-in-flight' })

    open.resolve('done')
    await pass(0)

    expect(outcomeOf(await reply)).toMatchObject({ status: 'completed', result: 'done' })
    expect(statusOf((await engine.recall(KEY))?.json)).toBe('completed')
  })

  it('gets what a run comes to that has slept', async () => {
    const { engine, pass } = setUp()
    await engine.start()
    const reply = engine.run('sleepy', WAIT)
    await pass(0)
    await pass(3_000)

    expect(outcomeOf(await reply)).toMatchObject({ status: 'completed', result: 'awake' })
  })

  it.each(['asking', 'both'])('hears at once that the run %s needs somebody', async (agentId) => {
    const { engine, pass } = setUp()
    await engine.start()
    const reply = engine.run(agentId, WAIT)
    await pass(0)
    await pass(10)

    expect(await reply).toMatchObject({ status: 200 })
    expect(outcomeOf(await reply)).toMatchObject({ status: 'suspended', approvals: [{ name: 'ok' }] })
    expect(statusOf((await engine.recall(KEY))?.json)).toBe('suspended')
  })

  it('hears after its time how the run stands, and gets the same under its key from then on', async () => {
    const { engine, open, pass } = setUp()
    await engine.start()
    const reply = engine.run('parent', WAIT)
    await pass(0)
    await pass(5_000)

    expect(await reply).toMatchObject({ status: 202 })
    expect(outcomeOf(await reply)).toMatchObject({ status: 'suspended', waitingFor: [{ kind: 'child' }] })
    open.resolve('late')
    await pass(0)
    expect(await engine.recall(KEY)).toMatchObject({ status: 202, json: (await reply).json })
  })

  it('hears after its time that the run goes on, which it does again', async () => {
    const { engine, pass } = setUp()
    await engine.start()
    const reply = engine.run('busy', WAIT)
    await pass(0)
    await pass(3_000)
    await pass(2_000)

    expect(await reply).toMatchObject({ status: 202 })
    expect(outcomeOf(await reply)).toMatchObject({ status: 'running' })
  })

  it('hears how the run stands when the server stops', async () => {
    const { engine, pass } = setUp()
    await engine.start()
    const reply = engine.run('sleepy', WAIT)
    await pass(0)

    await engine.drain(0)
    await engine.release()

    expect(await reply).toMatchObject({ status: 202 })
    expect(statusOf((await engine.recall(KEY))?.json)).toBe('suspended')
  })

  it('is answered with the suspension when it names no time', async () => {
    const { engine, pass } = setUp()
    const reply = engine.run('parent', { key: KEY })
    await pass(0)

    expect(outcomeOf(await reply)).toMatchObject({ status: 'suspended', waitingFor: [{ kind: 'child' }] })
    expect(statusOf((await engine.recall(KEY))?.json)).toBe('suspended')
    await settled(engine.clock)
  })
})
