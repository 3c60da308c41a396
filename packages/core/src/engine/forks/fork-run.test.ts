import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type Storage, toJsonText, type Write } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { agentOf, outcomeOf, workflowOf } from '../test-engine.fixture.ts'
import { hashOf, startEngine } from './fork-run.fixture.ts'

const parsed = (payload: string | undefined): unknown => JSON.parse(payload ?? 'null')

describe('a fork of a run', () => {
  const flaky = () => {
    const effects: string[] = []
    const broken = new Set(['mail'])
    const workflow = workflowOf('order', async (input, { step, runId }) => {
      const act = (name: string) =>
        step(name, () => {
          effects.push(`${name} ${runId}`)
          if (broken.has(name)) throw new Error(`${name} is down`)
          return `${name} of ${JSON.stringify(input)}`
        })
      return [await act('charge'), await act('mail'), await act('file')]
    })
    return { workflow, effects, broken }
  }

  it('repeats the failed call and everything after it, and no effect of an earlier call', async () => {
    const { workflow, effects, broken } = flaky()
    const engine = await startEngine({ workflows: [workflow] })
    const source = await engine.execute('order', { input: 7 })
    const before = await hashOf(engine, source)
    broken.clear()

    const { reply, runId } = await engine.fork(source)
    await engine.advance(0)

    expect(reply.status).toBe(202)
    expect(effects).toEqual([`charge ${source}`, `mail ${source}`, `mail ${runId}`, `file ${runId}`])
    expect(await engine.find(runId)).toMatchObject({
      ...{ status: 'completed', forkOf: { runId: source, seq: 1 }, attempt: 1, owner: 'alice' },
      result: toJsonText(['charge of 7', 'mail of 7', 'file of 7']),
    })
    expect(await hashOf(engine, source)).toBe(before)
  })

  it('does not read the results that it copies, and does not write them', async () => {
    const { workflow } = flaky()
    const storage = createInMemoryStorage()
    const written: Write[] = []
    const read: unknown[] = []
    const watched: Storage = {
      ...storage,
      unitOfWork: {
        commit(writes) {
          written.push(...writes)
          return storage.unitOfWork.commit(writes)
        },
      },
      steps: {
        ...storage.steps,
        async listBriefly(runId, range) {
          const steps = await storage.steps.listBriefly(runId, range)
          read.push(...steps.map(({ result }) => result))
          return steps
        },
        async find(runId, seq) {
          const step = await storage.steps.find(runId, seq)
          read.push(step?.result)
          return step
        },
      },
    }
    const engine = await startEngine({ workflows: [workflow], storage: watched })
    const source = await engine.execute('order', { input: 7 })
    const [ofSource] = await storage.steps.list(source)
    written.length = 0
    read.length = 0

    const { runId } = await engine.fork(source)

    expect(ofSource?.result).toBe(toJsonText('charge of 7'))
    expect(read.filter((result) => result !== undefined)).toEqual([])
    expect(JSON.stringify(written)).not.toContain('charge of 7')
    expect((await storage.steps.find(runId, 1))?.result).toBe(ofSource?.result)
  })

  it('begins its log with the fork', async () => {
    const { workflow } = flaky()
    const engine = await startEngine({ workflows: [workflow] })
    const source = await engine.execute('order')
    const { runId } = await engine.fork(source)

    const [first, second] = await engine.eventsOf(runId)
    expect(first?.type).toBe('run.forked')
    expect(parsed(first?.payload)).toMatchObject({ runId, from: { runId: source, seq: 1 } })
    expect(second?.type).toBe('run.queued')
  })

  it('copies no call and keeps the input when it repeats the run from the start', async () => {
    const { workflow, effects, broken } = flaky()
    const engine = await startEngine({ workflows: [workflow] })
    const source = await engine.execute('order', { input: 7 })
    broken.clear()
    const { runId } = await engine.fork(source, { from: 'start' })
    await engine.advance(0)

    expect(effects.filter((effect) => effect.endsWith(runId))).toHaveLength(3)
    expect(await engine.find(runId)).toMatchObject({ status: 'completed', forkOf: { runId: source, seq: 0 } })
  })

  it('copies the calls before a number, with a result that replaces the recorded one', async () => {
    const { workflow, effects } = flaky()
    const engine = await startEngine({ workflows: [workflow] })
    const source = await engine.execute('order', { input: 7 })
    const { runId } = await engine.fork(source, { from: { seq: 3 }, results: { 2: 'by hand' } })
    await engine.advance(0)

    expect(effects.at(-1)).toBe(`file ${runId}`)
    expect(effects).toHaveLength(3)
    expect((await engine.find(runId))?.result).toBe(toJsonText(['charge of 7', 'by hand', 'file of 7']))
  })

  it.each([
    ['a result for a call that is not copied', { results: { 2: 'x' } }, 'results.2 names no call that is copied'],
    ['a result that is too long', { results: { 1: 'x'.repeat(2_000) } }, 'results.1 is longer than 1000 bytes'],
    [
      'a point behind the next call',
      { from: { seq: 4 } },
      'from.seq is 4, but the last call of the run has the number 2',
    ],
  ] as const)('refuses %s', async (_, over, message) => {
    const { workflow } = flaky()
    const engine = await startEngine({ workflows: [workflow] })
    const source = await engine.execute('order')

    await expect(engine.fork(source, over)).rejects.toMatchObject({ code: 'validation-failed', message })
    expect((await engine.storage.runs.list({}, { limit: 9, order: 'asc' }, EVERY_ROW)).items).toHaveLength(1)
  })

  it('keeps the results of parallel calls that a failed call did not cause', async () => {
    const effects: string[] = []
    let isDown = true
    const fanOut = workflowOf('fan-out', (_, { step, runId }) =>
      Promise.all(
        ['a', 'b', 'c', 'd'].map((name) =>
          step(name, async () => {
            effects.push(`${name} ${runId}`)
            for (let turn = 0; turn < (name === 'b' ? 200 : 0); turn++) await undefined
            if (name === 'b' && isDown) throw new Error('down')
            return name
          }),
        ),
      ),
    )
    const engine = await startEngine({ workflows: [fanOut] })
    const source = await engine.execute('fan-out')
    expect((await engine.storage.steps.list(source)).map(({ status }) => status)).toEqual([
      ...['completed', 'failed', 'completed', 'completed'],
    ])
    isDown = false
    const { runId } = await engine.fork(source)
    await engine.advance(0)

    expect(effects.filter((effect) => effect.endsWith(runId))).toEqual([`b ${runId}`])
    expect((await engine.find(runId))?.result).toBe(toJsonText(['a', 'b', 'c', 'd']))
  })

  it('does not copy the calls with which the code reacted to the failure', async () => {
    let isDown = true
    const saga = workflowOf('saga', async (_, { step }) => {
      try {
        return await step('book', () => {
          if (isDown) throw new Error('down')
          return 'booked'
        })
      } catch (error) {
        await step('undo', () => 'undone')
        throw error
      }
    })
    const engine = await startEngine({ workflows: [saga] })
    const source = await engine.execute('saga')
    isDown = false
    const { runId } = await engine.fork(source)
    await engine.advance(0)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed', result: toJsonText('booked') })
  })

  it('copies the usage of no call', async () => {
    let isDown = true
    const spending = agentOf('spending', async (_, ctx) => {
      await ctx.tool({ name: 'look', args: {}, execute: async () => 'found' } as never)
      await ctx.step('mail', () => {
        if (isDown) throw new Error('down')
      })
    })
    const engine = await startEngine({ agents: [spending] })
    const source = outcomeOf(await engine.run('spending')).runId
    isDown = false
    const { runId } = await engine.fork(source)
    await engine.advance(0)

    expect((await engine.find(source))?.usage.toolCalls).toBe(1)
    expect((await engine.find(runId))?.usage.toolCalls).toBe(0)
  })

  it('refuses a run that is queued or running, and one that the caller cannot see', async () => {
    const never = new Promise<never>(() => undefined)
    const engine = await startEngine({ workflows: [workflowOf('endless', () => never)] })
    const source = await engine.execute('endless')

    await expect(engine.fork(source)).rejects.toMatchObject({ code: 'run-active' })
    await expect(engine.fork(source, { visibility: { owner: 'bob' } })).rejects.toMatchObject({ code: 'run-not-found' })
  })

  it('refuses a caller that may not start the target', async () => {
    const { workflow } = flaky()
    const engine = await startEngine({ workflows: [workflow] })
    const source = await engine.execute('order')
    const principal = { subject: 'bob', scopes: ['runs:read'] }

    await expect(engine.fork(source, { principal })).rejects.toMatchObject({ code: 'scope-denied' })
  })

  it('starts one run for all requests with one key', async () => {
    const { workflow } = flaky()
    const engine = await startEngine({ workflows: [workflow] })
    const source = await engine.execute('order')
    const key = { id: 'retry:1', fingerprint: 'f' }
    const forks = await Promise.all([1, 2, 3].map(() => engine.fork(source, { key })))
    await engine.advance(0)

    expect(new Set(forks.map(({ runId }) => runId)).size).toBe(1)
    expect((await engine.storage.runs.list({}, { limit: 9, order: 'asc' }, EVERY_ROW)).items).toHaveLength(2)
  })

  it('adds a message to the session only for an input or another session', async () => {
    const { workflow } = flaky()
    const engine = await startEngine({ workflows: [workflow] })
    const source = await engine.execute('order', { input: 'first', sessionId: 's1' })
    const messagesOf = async (id: string) =>
      (await engine.storage.sessions.messages(id, { limit: 9, order: 'asc' })).items.map(({ content }) => content)

    await engine.fork(source)
    expect(await messagesOf('s1')).toEqual([toJsonText('first')])
    await engine.fork(source, { from: 'start', input: 'second' })
    expect(await messagesOf('s1')).toEqual([toJsonText('first'), toJsonText('second')])
    await engine.fork(source, { sessionId: 's2' })
    expect(await messagesOf('s2')).toEqual([toJsonText('first')])
  })

  it('continues in a thread of its own, or in the given thread once that is free', async () => {
    const { workflow } = flaky()
    const engine = await startEngine({ workflows: [workflow] })
    const source = await engine.execute('order')
    const threadId = (await engine.find(source))?.threadId ?? ''
    const { runId } = await engine.fork(source)
    const given = await engine.fork(source, { threadId })

    expect((await engine.find(runId))?.threadId).not.toBe(threadId)
    expect((await engine.find(given.runId))?.threadId).toBe(threadId)
    await expect(engine.fork(source, { threadId })).rejects.toMatchObject({ code: 'agent-busy' })
  })

  it('leaves an entry in the audit chain', async () => {
    const { workflow } = flaky()
    const engine = await startEngine({ workflows: [workflow] })
    const source = await engine.execute('order')
    const { runId } = await engine.fork(source, { action: 'runs.retry' })

    const entries = await engine.storage.audit.read({ afterSeq: 0, limit: 9 })
    expect(entries).toMatchObject([{ action: 'runs.retry', target: source, detail: { runId, seq: 1 } }])
  })
})
