import { createInMemoryStorage } from '@perdure/in-memory'
import type { Storage } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createTestEngine, untilIdle, workflowOf } from '../engine/test-engine.fixture.ts'
import type { RunContext } from '../index.ts'
import { createMemoryWorld } from './memory.fixture.ts'

/** Server processes on one storage whose runs have `ctx.memory`. */
function createWorld(storage: Storage = createInMemoryStorage()) {
  const shared = { clock: createManualClock(), ids: createSequenceIds() }
  const world = createMemoryWorld({ ...shared, storage })
  const open = async (code: (context: RunContext) => Promise<unknown>, ownStorage: Storage = storage) => {
    const memory = createMemoryWorld({ ...shared, storage: ownStorage })
    const engine = createTestEngine({
      ...{ ...shared, storage: ownStorage },
      services: (caller) => ({ memory: memory.forRun(caller) }),
      workflows: [workflowOf('flow', (_, context) => code(context))],
    })
    await engine.recover()
    await engine.start()
    await untilIdle(shared.clock)
    return engine
  }
  const run = async (code: (context: RunContext) => Promise<unknown>) => {
    const engine = await open(code)
    const { runId = '' } = await engine.execute('flow', { body: { sessionId: 'ses-1' } })
    for (let turn = 0; turn < 3; turn++) await untilIdle(shared.clock)
    const ended = await engine.find(runId)
    return { ...ended, value: ended?.result === undefined ? undefined : JSON.parse(ended.result) }
  }
  return { ...world, storage, open, run }
}

const never = () => new Promise<never>(() => undefined)

describe('ctx.memory', () => {
  it('writes, finds, updates and deletes facts of the owner of the run', async () => {
    const { run, remember, texts } = createWorld()
    await remember('the harbour belongs to bob', { owner: 'bob' })

    const { value } = await run(async ({ memory }) => {
      const fact = await memory.remember('the harbour opens at six', { tags: ['t'] })
      const found = await memory.search('harbour')
      await memory.update(fact.id, { text: 'the harbour opens at seven' })
      const inSession = await memory.search('harbour', { inSession: true })
      const forgotten = [await memory.forget(fact.id), await memory.forget(fact.id)]
      const textsOf = (hits: typeof found) => hits.map((hit) => hit.fact.text)
      return { owner: fact.owner, source: fact.source, found: textsOf(found), inSession: textsOf(inSession), forgotten }
    })

    expect(value).toEqual({
      owner: 'alice',
      source: { runId: expect.stringMatching(/^run_/), sessionId: 'ses-1' },
      found: ['the harbour opens at six'],
      inSession: ['the harbour opens at seven'],
      forgotten: [true, false],
    })
    expect(await texts()).toEqual(['the harbour belongs to bob'])
  })

  it('stores blocks', async () => {
    const { run, storage } = createWorld()

    const { value } = await run(async ({ memory }) => {
      const block = memory.block('persona')
      const before = await block.get()
      await block.set('calm')
      return [before, await block.get()]
    })

    expect(value).toEqual([null, 'calm'])
    expect(await storage.blocks.find({ owner: 'alice', namespace: 'default', label: 'persona' })).toBeDefined()
  })

  it.each(['before', 'after'])('writes a fact once when the process crashes %s the commit', async (moment) => {
    const { open, storage, texts, clock } = createWorld()
    const crashing: Storage = {
      ...storage,
      unitOfWork: {
        async commit(writes) {
          if (!writes.some(({ type }) => type === 'fact.insert')) return storage.unitOfWork.commit(writes)
          if (moment === 'after') await storage.unitOfWork.commit(writes)
          return never()
        },
      },
    }
    const first = await open(({ memory }) => memory.remember('once'), crashing)
    const { runId = '' } = await first.execute('flow')
    await untilIdle(clock)

    const second = await open(({ memory }) => memory.remember('once'))
    await untilIdle(clock)

    expect(await second.find(runId)).toMatchObject({ status: 'completed', attempt: 2 })
    expect(await texts()).toEqual(['once'])
  })

  it('cannot read, update or delete the facts of other owners', async () => {
    const { run, remember } = createWorld()
    const { id } = await remember('secret', { owner: 'bob' })

    const { value, error } = await run(async ({ memory }) => {
      const forgotten = await memory.forget(id)
      const found = await memory.search('secret')
      const refused = await memory.update(id, { text: 'mine' }).catch((thrown: Error) => thrown.message)
      return { forgotten, found, refused }
    })

    expect(error).toBeUndefined()
    expect(value).toMatchObject({ forgotten: false, found: [], refused: expect.stringContaining('memory') })
  })

  it('names the invalid member of a fact', async () => {
    const { run } = createWorld()

    const { error } = await run(({ memory }) => memory.remember('x', { importance: 7, tags: [''] }))

    expect(error?.message).toMatch(/importance.*|tags.*/)
  })

  it.each([
    ['memory.search: query:', ({ memory }) => memory.search(undefined as never)],
    ['memory.search: limit:', ({ memory }) => memory.search('harbour', { limit: 1.5 })],
    ['memory.search: tags:', ({ memory }) => memory.search('harbour', { tags: 'noon' as never })],
    ['memory.search: owner:', ({ memory }) => memory.search('harbour', { owner: 'bob' } as never)],
    ['memory.block: namespcae', async ({ memory }) => memory.block('persona', { namespcae: 'x' } as never).set('calm')],
    ['memory.remember: text:', ({ memory }) => memory.remember(undefined as never)],
    ['memory.block.set: value:', ({ memory }) => memory.block('persona').set({ mood: 'calm' } as never)],
    ['memory.block.set: limit:', ({ memory }) => memory.block('persona').set('calm', { limit: Number.NaN })],
  ] satisfies readonly [string, (context: RunContext) => Promise<unknown>][])(
    'rejects what the API would reject and names the member: %s',
    async (message, call) => {
      const { run, storage, texts } = createWorld()

      const ended = await run(call)

      expect(ended.error?.message).toContain(message)
      expect(await texts()).toEqual([])
      expect(await storage.blocks.find({ owner: 'alice', namespace: 'default', label: 'persona' })).toBeUndefined()
    },
  )
})
