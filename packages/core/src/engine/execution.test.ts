import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, NO_USAGE, noSpan, perdureError, type UnitOfWork } from '@perdure/ports'
import { createManualClock } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import type { UsageAccounts } from '../durable/usage/usage-accounts.ts'
import type { AgentEvent } from '../targets/agent.ts'
import type { RunContext } from '../targets/run-context.ts'
import { type ExecutionDeps, type ExecutionRequest, startExecution } from './execution.ts'
import { agentOf, createTestEngine, gate, outcomeOf, silentLogger, untilIdle } from './test-engine.fixture.ts'

const unprintable = Object.create(null) as unknown

/** Runs this code as an agent, and returns the outcome and the events. */
async function runOf(code: Parameters<typeof agentOf>[1]) {
  const engine = createTestEngine({ agents: [agentOf('agent', code)] })
  const reply = await engine.run('agent')
  const events = await engine.eventsOf(reply.runId ?? '')
  return { outcome: outcomeOf(reply), types: events.map(({ type }) => type), events, engine }
}

describe('an execution', () => {
  it('leaves no usage account open when the calls of the run cannot be read', async () => {
    let open = 0
    const usageAccounts: UsageAccounts = {
      open() {
        open++
        return { accounts: [], release: () => open-- }
      },
    }
    const steps = { read: () => Promise.reject(new Error('broken')) }
    const run = { id: 'run_1', attempt: 2, status: 'running', usage: NO_USAGE }
    const deps = { ...{ usageAccounts, steps, captureLogs: false }, timers: createManualClock(), logger: silentLogger }
    const request = { ...{ run, isFirst: false, span: noSpan }, target: {}, signal: new AbortController().signal }

    const started = startExecution(deps as unknown as ExecutionDeps, request as unknown as ExecutionRequest)

    await expect(started).rejects.toThrow('broken')
    expect(open).toBe(0)
  })
})

describe('an agent', () => {
  it.each<[string, unknown, unknown]>([
    ['a plain value', 7, 7],
    ['nothing', undefined, null],
    ['a Date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['an object that only looks like a generator', { next: 1 }, { next: 1 }],
  ])('completes when its code returns %s', async (_, value, result) => {
    const { outcome } = await runOf((() => value) as never)

    expect(outcome).toMatchObject({ status: 'completed', result })
  })

  it('fails when its code throws synchronously', async () => {
    const { outcome } = await runOf(() => {
      throw new Error('at once')
    })

    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'run-failed', message: 'at once' } })
  })

  it('fails when its code throws an unreadable value', async () => {
    const { outcome, types } = await runOf(() => Promise.reject(unprintable))

    expect(outcome).toMatchObject({ status: 'failed', finishReason: 'error', error: { code: 'run-failed' } })
    expect(types.at(-1)).toBe('run.failed')
  })

  it('receives the rejection of an invalid event and continues', async () => {
    let refusal: unknown
    const { outcome, types } = await runOf(async (_, { emit }) => {
      emit('run.completed', {})
      refusal = await emit('session.message', {}).catch((error: unknown) => error)
      await emit('note.fine', { n: 1 }, { phase: 'commentary' })
      return 'went on'
    })

    expect(refusal).toMatchObject({ kind: 'validation-failed' })
    expect(outcome.result).toBe('went on')
    expect(types).toEqual(['run.started', 'note.fine', 'run.completed'])
  })
})

describe('a generator agent', () => {
  it('fails when the storage refuses one of its events', async () => {
    const storage = createInMemoryStorage()
    let isFull = false
    const unitOfWork: UnitOfWork = {
      commit: (writes) => (isFull ? Promise.reject(perdureError('storage-full')) : storage.unitOfWork.commit(writes)),
    }
    async function* code(): AsyncGenerator<AgentEvent, string, void> {
      isFull = true
      yield { type: 'text.delta', payload: { delta: 'lost' } }
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
      isFull = false
      return 'done'
    }
    const engine = createTestEngine({ agents: [agentOf('agent', code)], storage: { ...storage, unitOfWork } })

    const outcome = outcomeOf(await engine.run('agent'))

    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'storage-full' } })
  })

  it('emits each yielded event with its phase and returns its result', async () => {
    const { outcome, events } = await runOf(async function* (): AsyncGenerator<AgentEvent, string, void> {
      yield { type: 'note.aside', payload: { n: 1 }, phase: 'commentary' }
      yield { type: 'note.plain' }
      return 'done'
    })

    expect(outcome.result).toBe('done')
    expect(events.slice(1, 3)).toMatchObject([
      { type: 'note.aside', payload: '{"n":1}', phase: 'commentary' },
      { type: 'note.plain', payload: '{}' },
    ])
  })

  it('fails when it yields a reserved event type, and keeps the earlier events', async () => {
    const { outcome, types } = await runOf(async function* () {
      yield { type: 'note.fine' }
      yield { type: 'run.completed' }
    })

    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'validation-failed' } })
    expect(types).toEqual(['run.started', 'note.fine', 'run.failed'])
  })

  it('fails when it yields an event with an unknown field, and names the field', async () => {
    const { outcome, types } = await runOf(async function* () {
      yield { type: 'note.fine' }
      yield { type: 'note.lost', data: 'what should have been the payload' } as never
    })

    expect(outcome.error).toMatchObject({
      code: 'validation-failed',
      message: expect.stringContaining('data is not an option'),
    })
    expect(types).toEqual(['run.started', 'note.fine', 'run.failed'])
  })

  it('fails when it throws', async () => {
    const { outcome, types } = await runOf(async function* () {
      yield { type: 'note.fine' }
      throw new Error('in the middle')
    })

    expect(outcome.error?.message).toBe('in the middle')
    expect(types).toEqual(['run.started', 'note.fine', 'run.failed'])
  })

  it('is paused when it is 256 events ahead of the log', async () => {
    const open = gate()
    let isHeld = false
    let yielded = 0
    const storage = createInMemoryStorage()
    const { commit } = storage.unitOfWork
    const unitOfWork: UnitOfWork = {
      commit: (writes) => (isHeld ? open.promise.then(() => commit(writes)) : commit(writes)),
    }
    const flood = agentOf('flood', async function* () {
      isHeld = true
      for (; yielded < 500; yielded++) yield { type: 'note.n', payload: { n: yielded } }
    })
    const engine = createTestEngine({ agents: [flood], storage: { ...storage, unitOfWork } })

    const running = engine.run('flood')
    await engine.advance(0)
    expect(yielded).toBe(255)
    open.resolve()
    const { runId = '' } = await running

    const numbers = (await engine.eventsOf(runId)).slice(1, -1).map(({ payload }) => JSON.parse(payload).n)
    expect(numbers).toEqual(Array.from({ length: 500 }, (_, n) => n))
  })
})

describe('the run context', () => {
  it('contains the session, user, metadata and trace of the request', async () => {
    let seen: RunContext | undefined
    const engine = createTestEngine({
      agents: [
        agentOf('spy', async (_, context) => {
          seen = context
        }),
      ],
    })
    const body = { sessionId: 'chat', userId: 'u1', metadata: { team: 'a' } }

    const { runId } = await engine.run('spy', { body, traceparent: '00-ab-cd-01' })

    expect(seen).toMatchObject({
      ...{ runId, agentId: 'spy', workflowId: undefined, threadId: undefined, attempt: 1, resume: undefined },
      ...{ sessionId: 'chat', userId: 'u1', traceparent: '00-ab-cd-01', metadata: { team: 'a' } },
    })
    expect(seen?.signal.aborted).toBe(false)
  })

  it('names the authenticated owner for a run and its children, whatever userId the request claims', async () => {
    const seen: unknown[] = []
    const engine = createTestEngine({
      agents: [
        agentOf('child', async (_, { owner, userId }) => void seen.push({ owner, userId })),
        agentOf('parent', async (_, { owner, userId, invoke }) => {
          seen.push({ owner, userId })
          await invoke('child')
        }),
      ],
    })

    const answer = engine.run('parent', { body: { userId: 'root' }, principal: { subject: 'mallory', scopes: [] } })
    await untilIdle(engine.clock)
    await answer

    expect(seen).toContainEqual({ owner: 'mallory', userId: 'root' })
    expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(1)
    expect(seen.length).toBeGreaterThan(1)
  })

  it('rejects an event after the run has ended', async () => {
    let seen: RunContext | undefined
    const { engine, outcome } = await runOf(async (_, context) => {
      seen = context
    })

    await expect(seen?.emit('note.late', {})).rejects.toMatchObject({ code: 'run-not-active' })
    expect((await engine.storage.runs.find(outcome.runId, EVERY_ROW))?.status).toBe('completed')
    expect((await engine.eventsOf(outcome.runId)).map(({ type }) => type)).toEqual(['run.started', 'run.completed'])
  })
})
