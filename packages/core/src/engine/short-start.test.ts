import { EVERY_ROW } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import type { RunCode } from '../targets/agent.ts'
import type { RegistrationOptions } from '../targets/registration.ts'
import { engineOf, KEY as key, RETRY } from './short-start.fixture.ts'
import { gate, outcomeOf } from './test-engine.fixture.ts'

const WHOLE = 'idempotency.reserve run.insert event.append'

describe('a run that ends while its start is held', () => {
  it.each([
    ['onCrash is retry', RETRY],
    ['effects is none', { effects: 'none' }],
  ] as const)('is stored with its result in one commit if %s', async (_, over) => {
    const { engine, commits } = engineOf(async () => 'done', over)

    const reply = await engine.run('task', { key, body: { input: 1 } })

    expect(commits).toEqual([WHOLE])
    expect(outcomeOf(reply)).toMatchObject({ status: 'completed', result: 'done' })
    const { runId = '' } = reply
    expect((await engine.eventsOf(runId)).map(({ type }) => type)).toEqual(['run.started', 'run.completed'])
    expect(await engine.run('task', { key, body: { input: 1 } })).toMatchObject({ replayed: true, json: reply.json })
  })

  it('gets the same record, events and stored answer as a run that is stored before', async () => {
    const recordOf = async (over: Partial<RegistrationOptions>) => {
      const { engine } = engineOf(async () => ({ deep: [1] }), over, { executor: 'p1' })
      const { runId = '' } = await engine.run('task', { key, body: { input: 1, metadata: { a: 'b' }, timeoutMs: 500 } })
      const record = await engine.storage.idempotency.find(key.id, engine.clock.now())
      return { run: await engine.find(runId), events: await engine.eventsOf(runId), record }
    }

    expect(await recordOf(RETRY)).toEqual(await recordOf({ onCrash: 'fail' }))
  })

  it('fails in one commit if its code throws', async () => {
    const { engine, commits, runs } = engineOf(async () => {
      throw new Error('broken')
    })

    expect(outcomeOf(await engine.run('task', { key }))).toMatchObject({ status: 'failed', finishReason: 'error' })

    expect(commits).toEqual([WHOLE])
    expect(await runs()).toMatchObject([{ status: 'failed', error: { message: 'broken' } }])
  })

  it('is not in the storage while its code executes', async () => {
    const seen: number[] = []
    const { engine, runs } = engineOf(async () => void seen.push((await runs()).length))

    await engine.run('task')

    expect(seen).toEqual([0])
    expect(await runs()).toHaveLength(1)
  })

  it('frees its slot', async () => {
    const { engine } = engineOf(async () => 1, RETRY, { concurrency: 1, maxQueued: 0 })

    for (let count = 0; count < 3; count++) expect((await engine.run('task')).status).toBe(200)

    expect(engine.readLoad()).toEqual({ executing: { agent: 0, workflow: 0 }, queued: 0 })
  })
})

describe('the start of a run is committed before', () => {
  const START = 'run.insert event.append'

  it.each<[string, RunCode]>([
    ['an emit', (_, { emit }) => emit('note.one', {})],
    ['a step', (_, { step }) => step('one', () => 1)],
    ['a sleep', (_, { sleep }) => sleep('one', 10)],
    ['an approval', (_, { approval }) => approval('one')],
    ['a child', (_, { invoke }) => invoke('child')],
    ['a suspension', async (_, { suspend }) => suspend()],
    ['a captured log line', async (_, { log }) => void log.info('one')],
    ['the next turn of the event loop', () => new Promise((resolve) => setTimeout(resolve, 20))],
  ])('%s', async (_, code) => {
    const { engine, commits } = engineOf(code)

    void engine.run('task')
    await engine.advance(0)

    expect(commits[0]).toBe(START)
    expect(await engine.storage.runs.list({}, { limit: 1, order: 'asc' }, EVERY_ROW)).toMatchObject({
      items: [{ attempt: 1 }],
    })
  })

  it('lets a durable call wait for it', async () => {
    const opened = gate()
    const done: string[] = []
    const { engine, control } = engineOf(async (_, { emit }) => {
      await emit('note.one', {})
      done.push('emitted')
    })
    control.before = () => opened.promise

    const reply = engine.run('task')
    await engine.advance(0)
    expect(done).toEqual([])

    opened.resolve()
    expect((await reply).status).toBe(200)
    expect(done).toEqual(['emitted'])
  })

  it('and stores what the code emits without waiting for it', async () => {
    const { engine, commits } = engineOf(async (_, { emit }) => {
      void emit('note.one', {})
      await Promise.resolve()
      void emit('note.two', {})
      return 'told'
    })

    const { runId = '' } = await engine.run('task')

    expect(commits[0]).toBe(START)
    const log = await engine.storage.events.read({ runId }, { after: 0, limit: 10 })
    expect(log.map(({ type }) => type)).toEqual(['run.started', 'note.one', 'note.two', 'run.completed'])
  })

  it.each<[string, Partial<RegistrationOptions>, object]>([
    ['onCrash is fail', { onCrash: 'fail' }, {}],
    ['the caller does not wait', RETRY, { answer: 'accepted' }],
    ['the run is limited by a lane', { ...RETRY, concurrency: 'single' }, {}],
    ['the run belongs to a session', RETRY, { body: { sessionId: 'new' }, newSession: { metadata: {} } }],
    ['the request claims more than its key', RETRY, { key: { ...key, claim: { id: 'c', fingerprint: 'c' } } }],
  ])('the code executes if %s', async (_, over, request) => {
    const stored: number[] = []
    const { engine, runs } = engineOf(async () => void stored.push((await runs()).length), over)

    await engine.run('task', request)
    await engine.advance(0)

    expect(stored).toEqual([1])
  })

  it('the code executes if another process could start a run under the same key', async () => {
    const stored: number[] = []
    const { engine, runs } = engineOf(async () => void stored.push((await runs()).length), RETRY, {
      isStorageShared: true,
    })

    await engine.run('task', { key })
    await engine.run('task')

    expect(stored).toEqual([1, 1])
  })

  it('a failed run is queued again', async () => {
    let calls = 0
    const { engine, commits } = engineOf(
      async () => {
        if (++calls === 1) throw new Error('broken')
        return calls
      },
      { ...RETRY, retries: { max: 1, delay: 5, jitter: 'none' } },
    )
    await engine.start()

    const reply = engine.run('task')
    await engine.advance(0)
    expect(commits.slice(0, 2)).toEqual([START, 'run.transition event.append'])
    await engine.advance(5)

    expect(outcomeOf(await reply)).toMatchObject({ status: 'completed', result: 2 })
  })
})
