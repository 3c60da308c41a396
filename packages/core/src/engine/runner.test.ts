import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, perdureError, type Storage } from '@perdure/ports'
import { aRun, createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import type { RunContext } from '../targets/run-context.ts'
import { agentOf, createTestEngine, gate, outcomeOf } from './test-engine.fixture.ts'

const never = () => new Promise<never>(() => undefined)

/** A storage whose commits can be made to fail. */
function breakable() {
  const storage = createInMemoryStorage()
  let failure: unknown
  const unitOfWork: Storage['unitOfWork'] = {
    commit: (writes) => (failure === undefined ? storage.unitOfWork.commit(writes) : Promise.reject(failure)),
  }
  return {
    storage: { ...storage, unitOfWork },
    fail(error: unknown) {
      failure = error
    },
  }
}

describe('an accepted run', () => {
  it('is queued again after a restart, even if maxQueued is now too low for all accepted runs', async () => {
    const shared = { storage: createInMemoryStorage(), clock: createManualClock(), ids: createSequenceIds() }
    const before = createTestEngine({ ...shared, agents: [agentOf('task', never)], concurrency: 1 })
    for (const input of [1, 2, 3, 4]) await before.run('task', { body: { input }, answer: 'accepted' })

    const seen: unknown[] = []
    const task = agentOf('task', async (input) => seen.push(input))
    const after = createTestEngine({ ...shared, agents: [task], concurrency: 1, maxQueued: 1 })
    await after.recover()
    await after.start()
    await after.advance(0)

    expect(seen).toEqual([2, 3, 4])
  })

  it('resumes after a wait even if the queue is full', async () => {
    const open = gate()
    const agents = [agentOf('napping', (_, { sleep }) => sleep('nap', 100)), agentOf('slow', () => open.promise)]
    const engine = createTestEngine({ agents, concurrency: 1, maxQueued: 1 })
    const { runId = '' } = await engine.run('napping', { answer: 'accepted' })
    await engine.advance(0)
    await engine.run('slow', { answer: 'accepted' })
    await engine.run('slow', { answer: 'accepted' })

    await engine.advance(100)
    expect(await engine.find(runId)).toMatchObject({ status: 'queued' })
    open.resolve()
    await engine.advance(0)

    expect(await engine.find(runId)).toMatchObject({ status: 'completed' })
  })
})

describe('an agent with concurrency session', () => {
  it('executes one run per session at a time, and runs of other sessions or no session in parallel', async () => {
    const open = gate()
    const talk = agentOf('talk', () => open.promise, { concurrency: 'session', onBusy: 'queue' })
    const engine = createTestEngine({ agents: [talk] })

    const statuses = []
    for (const sessionId of ['a', 'a', 'b', undefined, undefined]) {
      statuses.push(outcomeOf(await engine.run('talk', { body: { sessionId }, answer: 'accepted' })).status)
    }
    expect(statuses).toEqual(['running', 'queued', 'running', 'running', 'running'])
    open.resolve()
    await engine.advance(0)

    const { items } = await engine.storage.runs.list({}, { limit: 9, order: 'asc' }, EVERY_ROW)
    expect(items.map(({ status }) => status)).toEqual(Array(5).fill('completed'))
  })

  it('does not let a run without a session interrupt another run', async () => {
    const open = gate()
    const talk = agentOf('talk', () => open.promise, { concurrency: 'session', onBusy: 'interrupt' })
    const engine = createTestEngine({ agents: [talk] })
    const first = await engine.run('talk', { answer: 'accepted' })

    await engine.run('talk', { answer: 'accepted' })

    expect((await engine.find(first.runId ?? ''))?.status).toBe('running')
    open.resolve()
    await engine.advance(0)
  })
})

describe('the runner on a failing storage', () => {
  it('retries until the end of a run is stored', async () => {
    const { storage, fail } = breakable()
    const open = gate<string>()
    const engine = createTestEngine({ agents: [agentOf('slow', () => open.promise)], storage })
    const reply = engine.run('slow')
    await engine.advance(0)

    fail(perdureError('storage-full'))
    open.resolve('done')
    await engine.advance(100)
    fail(undefined)
    await engine.advance(200)

    expect(outcomeOf(await reply)).toMatchObject({ status: 'completed', result: 'done' })
  })

  it.each([
    [perdureError('storage-failed'), { kind: 'storage-failed' }],
    [new Error('disk'), { kind: 'internal-error' }],
  ])('rejects the waiting request when the end of a run cannot be stored: %s', async (failure, error) => {
    const { storage, fail } = breakable()
    const open = gate()
    const engine = createTestEngine({ agents: [agentOf('slow', () => open.promise)], storage })
    const reply = engine.run('slow')
    await engine.advance(0)

    fail(failure)
    open.resolve()

    await expect(reply).rejects.toMatchObject(error)
    expect(engine.readAgents.state('slow').running).toBe(0)
  })

  it('fails the run if its end could not be stored, as soon as the storage works again', async () => {
    const storage = createInMemoryStorage()
    let isBroken = false
    const unitOfWork: Storage['unitOfWork'] = {
      commit(writes) {
        const failure = isBroken ? Promise.reject(new Error('disk')) : undefined
        isBroken = false
        return failure ?? storage.unitOfWork.commit(writes)
      },
    }
    const open = gate()
    const agents = [agentOf('slow', () => open.promise)]
    const engine = createTestEngine({ agents, storage: { ...storage, unitOfWork } })
    const reply = engine.run('slow')
    await engine.advance(0)

    isBroken = true
    open.resolve()

    expect(outcomeOf(await reply)).toMatchObject({ status: 'failed', error: { code: 'run-failed' } })
  })

  it('rejects the waiting request when the end of a run is stored but the commit reports an error', async () => {
    const storage = createInMemoryStorage()
    let isLost = false
    const unitOfWork: Storage['unitOfWork'] = {
      async commit(writes) {
        const outcome = await storage.unitOfWork.commit(writes)
        if (isLost && outcome.committed) throw perdureError('storage-failed')
        return outcome
      },
    }
    const open = gate()
    const agents = [agentOf('slow', () => open.promise)]
    const engine = createTestEngine({ agents, storage: { ...storage, unitOfWork } })
    const reply = engine.run('slow')
    const rejection = expect(reply).rejects.toMatchObject({ kind: 'storage-failed' })
    await engine.advance(0)

    isLost = true
    open.resolve()

    await rejection
  })

  it('does not end a run whose timeout cannot be stored', async () => {
    const { storage, fail } = breakable()
    let context: RunContext | undefined
    const spy = agentOf('spy', (_, given) => {
      context = given
      return never()
    })
    const engine = createTestEngine({ agents: [spy], storage })
    const { runId = '' } = await engine.run('spy', { body: { timeoutMs: 100 }, answer: 'accepted' })
    await engine.advance(0)

    fail(new Error('disk'))
    await engine.advance(100)

    expect(context?.signal.aborted).toBe(false)
    expect((await engine.find(runId))?.status).toBe('running')
  })
})

describe('a run with a timeout', () => {
  it('does not time out after it was aborted', async () => {
    const deaf = agentOf('deaf', never)
    const engine = createTestEngine({ agents: [deaf] })
    const { runId = '' } = await engine.run('deaf', { body: { timeoutMs: 1_000 }, answer: 'accepted' })
    await engine.advance(0)
    await engine.abortRun({ runId, visibility: EVERY_ROW })

    await engine.advance(10_000)

    expect(await engine.find(runId)).toMatchObject({ status: 'aborted', finishReason: 'aborted' })
    expect(engine.readAgents.state('deaf').running).toBe(0)
  })

  it('ends once when its code returns at the moment of the timeout', async () => {
    const open = gate<string>()
    const engine = createTestEngine({ agents: [agentOf('racer', () => open.promise)] })
    const reply = engine.run('racer', { body: { timeoutMs: 1_000 } })
    await engine.advance(0)

    open.resolve('done')
    await engine.advance(1_000)

    const { runId, status } = outcomeOf(await reply)
    const ends = (await engine.eventsOf(runId)).filter(({ type }) => /completed|aborted/.test(type))
    expect(ends.map(({ type }) => type)).toEqual([`run.${status}`])
  })
})

describe('recover', () => {
  it('fails more interrupted runs than fit into one commit', async () => {
    const storage = createInMemoryStorage()
    const ids = Array.from({ length: 130 }, (_, n) => `run_${String(n).padStart(3, '0')}`)
    await storage.unitOfWork.commit(
      ids.map((id) => ({ type: 'run.insert', run: aRun({ id, status: 'running', targetId: 'gone' }) })),
    )

    expect(await createTestEngine({ storage }).recover()).toEqual({ interrupted: 130, requeued: 0 })
    const { items } = await storage.runs.list({}, { limit: 200, order: 'asc' }, EVERY_ROW)
    expect(new Set(items.map(({ status }) => status))).toEqual(new Set(['failed']))
  })
})

describe('a queued run', () => {
  it('stays queued while its agent is not registered', async () => {
    const storage = createInMemoryStorage()
    await storage.unitOfWork.commit([{ type: 'run.insert', run: aRun({ id: 'run_1', targetId: 'gone' }) }])
    const engine = createTestEngine({ storage })

    await engine.start()
    await engine.advance(0)

    expect((await engine.find('run_1'))?.status).toBe('queued')
  })

  it('does not execute if it was aborted in the storage meanwhile', async () => {
    const open = gate()
    const seen: unknown[] = []
    const work = agentOf('work', async (input) => {
      seen.push(input)
      await open.promise
    })
    const engine = createTestEngine({ agents: [work], concurrency: 1 })
    await engine.run('work', { body: { input: 1 }, answer: 'accepted' })
    const { runId = '' } = await engine.run('work', { body: { input: 2 }, answer: 'accepted' })
    await engine.storage.unitOfWork.commit([
      { type: 'run.transition', runId, from: ['queued'], attempt: 1, change: { status: 'aborted' } },
    ])

    open.resolve()
    await engine.advance(0)

    expect(seen).toEqual([1])
    expect(engine.readAgents.state('work')).toMatchObject({ running: 0, queued: 0 })
  })
})
