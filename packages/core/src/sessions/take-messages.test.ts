import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type Storage } from '@perdure/ports'
import { aRun, aSession, createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import type { StartRunRequest } from '../engine/start-request.ts'
import { ALICE, agentOf, gate, outcomeOf, untilIdle } from '../engine/test-engine.fixture.ts'
import type { OnBusy } from '../targets/registration.ts'
import type { RunContext } from '../targets/run-context.ts'
import type { SessionMessage } from './session-message.ts'
import { createSessionWorld } from './sessions.fixture.ts'

const contentsOf = (messages: readonly SessionMessage[] = []) => messages.map(({ content }) => content)

/** An agent that works until the test lets it continue, then takes what waits, and answers with it. */
function busyWorld(
  onBusy: OnBusy | readonly OnBusy[],
  take?: (context: RunContext) => Promise<unknown>,
  storage = createInMemoryStorage(),
) {
  const work = gate()
  const code = async (input: unknown, context: RunContext) => {
    context.text(`to ${input}`)
    await context.step('work', () => work.promise)
    return take === undefined ? contentsOf(await context.session?.takeMessages()) : take(context)
  }
  const agents = [agentOf('chat', code, { concurrency: 'session', onBusy })]
  const world = createSessionWorld({ agents, createSessionOnInvoke: true, storage, maxResultBytes: 10_000 })
  const send = async (input: unknown, body: StartRunRequest['body'] = {}, request: Partial<StartRunRequest> = {}) => {
    const reply = await world.run('chat', {
      body: { input, sessionId: 'ada', ...body },
      answer: 'accepted',
      ...request,
    })
    await untilIdle(world.clock)
    return outcomeOf(reply).runId
  }
  const release = async () => {
    work.resolve()
    await untilIdle(world.clock)
  }
  const resultOf = async (runId: string) => {
    const run = await world.find(runId)
    const { status, finishReason, result = 'null', withdrawnBy } = run ?? {}
    return { status, finishReason, result: JSON.parse(result), ...(withdrawnBy === undefined ? {} : { withdrawnBy }) }
  }
  return { ...world, send, release, resultOf }
}

const joinedTo = (runId: string) => ({ status: 'completed', finishReason: 'joined', result: null, withdrawnBy: runId })

describe('ctx.session.takeMessages', () => {
  it('hands the waiting messages to the run that works, in their order, and ends the runs that they had started', async () => {
    const { send, release, resultOf, eventsOf } = busyWorld('queue')
    const first = await send('one')
    const [second, third] = [await send('two'), await send('three')]

    await release()

    expect(await resultOf(first)).toMatchObject({ status: 'completed', result: ['two', 'three'] })
    for (const runId of [second, third]) expect(await resultOf(runId)).toEqual(joinedTo(first))
    const received = (await eventsOf(first)).filter(({ type }) => type === 'run.message')
    expect(received.map(({ payload }) => JSON.parse(payload))).toEqual([
      { runId: first, from: second, content: 'two' },
      { runId: first, from: third, content: 'three' },
    ])
  })

  it('makes one turn of at most 20 messages, and the next turn of the others', async () => {
    const { send, release, resultOf } = busyWorld('queue')
    const first = await send(0)
    const others = []
    for (let message = 1; message <= 21; message++) others.push(await send(message))

    await release()

    expect((await resultOf(first)).result).toHaveLength(19)
    expect(await resultOf(others[18] ?? '')).toEqual(joinedTo(first))
    expect(await resultOf(others[19] ?? '')).toMatchObject({ finishReason: 'completed', result: [21] })
  })

  it('takes only the steering messages when asked for them, and leaves the others to later turns', async () => {
    const { send, release, resultOf } = busyWorld(['queue', 'steer'], async ({ session }) =>
      contentsOf(await session?.takeMessages({ steering: true })),
    )
    const first = await send('one')
    const queued = await send('two')
    const steering = await send('three', { onBusy: 'steer' })

    await release()

    expect(await resultOf(first)).toMatchObject({ result: ['three'] })
    expect(await resultOf(steering)).toEqual(joinedTo(first))
    expect(await resultOf(queued)).toMatchObject({ finishReason: 'completed', result: [] })
  })

  it('records nothing when no message waits', async () => {
    const { send, release, storage } = busyWorld('queue')
    const first = await send('one')
    await release()

    expect((await storage.steps.list(first)).map(({ name }) => name)).toEqual(['work'])
  })

  it('reads the waiting messages once, and nothing but their list when none waits', async () => {
    const reads: string[] = []
    const storage = createInMemoryStorage()
    const { list, find } = storage.runs
    const runs: typeof storage.runs = {
      ...storage.runs,
      list: (filter, ...rest) => {
        if (filter.statuses?.includes('queued') === true) reads.push('list')
        return list(filter, ...rest)
      },
      find: (id, ...rest) => {
        reads.push(id)
        return find(id, ...rest)
      },
    }
    const taking = async ({ session }: RunContext) => {
      reads.length = 0
      const [some, none] = [await session?.takeMessages(), reads.splice(0)]
      await session?.takeMessages()
      return [contentsOf(some), none, reads.splice(0)]
    }
    const { send, release, resultOf } = busyWorld('queue', taking, { ...storage, runs })
    const first = await send('one')
    const second = await send('two')
    await release()

    expect(await resultOf(first)).toMatchObject({ result: [['two'], ['list', second, first], ['list']] })
  })

  it('returns the same messages when the run is executed again, and takes none at a point where it took none', async () => {
    const executions: unknown[] = []
    const world = busyWorld('queue', async ({ session, waitForEvent }) => {
      const before = contentsOf(await session?.takeMessages())
      await waitForEvent('go', { timeout: '1m' })
      const after = contentsOf(await session?.takeMessages())
      executions.push([before, after])
      await waitForEvent('end', { timeout: '1m' })
      return [before, after]
    })
    const first = await world.send('one')
    await world.send('two')
    await world.release()
    await world.advance(60_000)
    await world.advance(60_000)

    expect(await world.resultOf(first)).toMatchObject({ result: [['two'], []] })
    expect(executions).toEqual([
      [['two'], []],
      [['two'], []],
    ])
  })

  it('leaves a message that is not like the others to a turn of its own, with all messages behind it', async () => {
    const others: readonly StartRunRequest['body'][] = [
      { userId: 'someone else' },
      { delayMs: 60_000 },
      { input: 'x'.repeat(101) },
    ]
    for (const body of others) {
      const { send, release, resultOf } = busyWorld('queue')
      const first = await send('one')
      await send('two')
      await send('other', body)
      await send('three')
      await release()

      expect(await resultOf(first)).toMatchObject({ result: ['two'] })
    }
  })

  it('takes nothing for a turn that was withdrawn from the conversation', async () => {
    const { send, release, resultOf } = busyWorld('queue', async ({ session }) =>
      contentsOf(await session?.takeMessages()),
    )
    const first = await send('one')
    const second = await send('edited', { replaces: first })
    await release()

    expect(await resultOf(second)).toMatchObject({ finishReason: 'completed', result: [] })
  })

  it('shows the message between what the run said before and after it', async () => {
    const { send, release, resultOf } = busyWorld('queue', async (context) => {
      const { session } = context
      if ((await session?.takeMessages())?.length === 0) {
        return (await session?.messages())?.map(({ role, parts }) => [
          role,
          ...parts.map((part) => 'text' in part && part.text),
        ])
      }
      context.text('and more')
      return 'done'
    })
    await send('one')
    await send('two')
    await release()
    const later = await send('three')
    await release()

    expect(await resultOf(later)).toMatchObject({
      result: [
        ['user', 'one'],
        ['assistant', 'to one'],
        ['user', 'two'],
        ['assistant', 'and more'],
        ['user', 'three'],
        ['assistant', 'to three'],
      ],
    })
  })

  it('answers a caller that waits for the outcome of the message, and a repeated request', async () => {
    const { run, send, release, clock } = busyWorld('queue')
    const first = await send('one')
    const key = { id: 'k1', fingerprint: 'f', ttlMs: 1_000 } as never
    const waiting = run('chat', { body: { input: 'two', sessionId: 'ada' }, key })
    await untilIdle(clock)
    await release()

    const outcome = outcomeOf(await waiting)
    expect(outcome).toMatchObject({ finishReason: 'joined', joinedTo: first })
  })
})

/** The storage, with work that is done once, before the first commit that takes a message. */
function interleaved(work: () => Promise<unknown>) {
  const storage = createInMemoryStorage()
  let isDone = false
  const commit: typeof storage.unitOfWork.commit = async (writes) => {
    const takes = writes.some((write) => write.type === 'run.transition' && write.change.finishReason === 'joined')
    if (takes && !isDone) {
      isDone = true
      await work()
    }
    return storage.unitOfWork.commit(writes)
  }
  return { ...storage, unitOfWork: { ...storage.unitOfWork, commit } }
}

describe('a message that waits', () => {
  const asked = (runId: string) => ({ runId, principal: ALICE, visibility: EVERY_ROW }) as const

  it('is taken as it was edited while a run was about to take it', async () => {
    let second = ''
    const world = busyWorld(
      'queue',
      undefined,
      interleaved(() => world.editMessage({ ...asked(second), input: 'edited' })),
    )
    const first = await world.send('one')
    second = await world.send('two')
    await world.release()

    expect(await world.resultOf(first)).toMatchObject({ result: ['edited'] })
    expect(await world.resultOf(second)).toEqual(joinedTo(first))
  })

  it('is not taken when it was withdrawn while a run was about to take it', async () => {
    let second = ''
    const world = busyWorld(
      'queue',
      undefined,
      interleaved(() => world.withdrawMessage(asked(second))),
    )
    const first = await world.send('one')
    second = await world.send('two')
    await world.release()

    expect(await world.resultOf(first)).toMatchObject({ result: [] })
    expect(await world.resultOf(second)).toMatchObject({ status: 'aborted', withdrawnBy: second })
  })

  it('starts as another process has edited it', async () => {
    const { send, release, storage, clock, ids, find } = busyWorld('queue', async () => 'done')
    await send('one')
    const second = await send('two')
    const other = createSessionWorld({ storage, clock, ids, agents: [agentOf('chat', async (input) => input)] })
    await other.editMessage({ ...asked(second), input: 'edited' })
    await release()

    expect(await find(second)).toMatchObject({ status: 'completed', input: '"edited"' })
    const texts = (await storage.events.read({ runId: second }, { after: 0, limit: 100 })).map(({ payload }) => payload)
    expect(texts.join()).toContain('to edited')
  })

  it('keeps its position when it is edited', async () => {
    const { send, release, resultOf, editMessage } = busyWorld('queue')
    const first = await send('one')
    const second = await send('two')
    await send('three')
    await editMessage({ ...asked(second), input: 'edited' })
    await release()

    expect(await resultOf(first)).toMatchObject({ result: ['edited', 'three'] })
  })

  it.each([
    ['of another owner', { owner: 'bob' }, 'scope-denied'],
    ['that a run has started', { parentRunId: 'run_parent', parentSeq: 1, depth: 1 }, 'run-not-queued'],
    ['that repeats another one', { forkOf: { runId: 'run_source', seq: 1 } }, 'run-not-queued'],
    ['that a trigger has started', { triggerId: 'nightly' }, 'run-not-queued'],
    ['without a session', { sessionId: undefined }, 'run-not-queued'],
  ])('is not a run %s', async (_, over, code) => {
    const { storage, editMessage, withdrawMessage, find } = busyWorld('queue')
    await storage.unitOfWork.commit([{ type: 'session.insert', session: aSession({ id: 'ada', owner: 'alice' }) }])
    const run = aRun({ targetId: 'chat', owner: 'alice', sessionId: 'ada', status: 'queued', execution: 0, ...over })
    await storage.unitOfWork.commit([{ type: 'run.insert', run }])

    await expect(editMessage({ ...asked(run.id), input: 'more' })).rejects.toMatchObject({ code })
    await expect(withdrawMessage(asked(run.id))).rejects.toMatchObject({ code })
    expect(await find(run.id)).toEqual(run)
  })

  it('is edited in the transcript without a read of newer messages', async () => {
    const storage = createInMemoryStorage()
    let reads = 0
    const messages: typeof storage.sessions.messages = (...asked) => {
      reads += 1
      return storage.sessions.messages(...asked)
    }
    const sessions = { ...storage.sessions, messages }
    const { send, editMessage } = busyWorld('queue', undefined, { ...storage, sessions })
    await send('one')
    const second = await send('two')
    for (let newer = 0; newer < 3; newer++) await send('newer')
    reads = 0
    await editMessage({ ...asked(second), input: 'edited' })

    expect(reads).toBe(0)
    const { items } = await storage.sessions.messages('ada', { limit: 9, order: 'asc' })
    expect(items.map(({ content }) => JSON.parse(content))).toEqual(['one', 'edited', 'newer', 'newer', 'newer'])
  })

  it('can no longer be changed once a run has taken it', async () => {
    const { send, release, editMessage, withdrawMessage } = busyWorld('queue')
    const first = await send('one')
    const second = await send('two')
    await release()

    const message = `the run ${first} has taken the message`
    const refusal = { code: 'run-not-queued', message }
    await expect(editMessage({ ...asked(second), input: 'edited' })).rejects.toMatchObject(refusal)
    await expect(withdrawMessage(asked(second))).rejects.toMatchObject(refusal)
  })
})

describe('onBusy of a request', () => {
  it('is refused when the registration does not offer it', async () => {
    const { send } = busyWorld(['queue', 'steer'])
    await send('one')

    await expect(send('two', { onBusy: 'interrupt' })).rejects.toMatchObject({
      code: 'validation-failed',
      message: 'body.onBusy: the agent chat offers queue, steer, not interrupt',
    })
  })

  it('interrupts only the turn that works, and starts behind the messages that wait', async () => {
    const ends: unknown[] = []
    const world = busyWorld(['queue', 'interrupt'], async () => ends.length)
    world.observeRuns(({ status, input }) => ends.push([JSON.parse(input), status]))
    await world.send('one')
    await world.send('two')
    await world.send('three', { onBusy: 'interrupt' })
    await world.send('four', { onBusy: 'interrupt' })
    await world.release()

    expect(ends).toEqual([['one', 'aborted'], ...['two', 'three', 'four'].map((input) => [input, 'completed'])])
  })

  it.each(['running', 'suspended'] as const)(
    'still interrupts a turn that is %s when the server dies before its abort',
    async (status) => {
      const shared = { storage: createInMemoryStorage(), clock: createManualClock(), ids: createSequenceIds() }
      const { commit } = shared.storage.unitOfWork
      const dying: typeof commit = (writes) =>
        writes.some((write) => write.type === 'run.transition' && write.change.status === 'aborted')
          ? new Promise(() => undefined)
          : commit(writes)
      const said: unknown[] = []
      const code = async (input: unknown, { waitForEvent }: RunContext) => {
        said.push(input)
        if (input !== 'one') return
        await (status === 'running' ? new Promise(() => undefined) : waitForEvent('go'))
      }
      const options = { concurrency: 'session', onBusy: ['queue', 'interrupt'], onBusyWaiting: 'queue' } as const
      const agents = [agentOf('chat', code, { ...options, onCrash: 'retry' })]
      const open = (storage: Storage) => createSessionWorld({ ...shared, agents, createSessionOnInvoke: true, storage })
      const world = open({ ...shared.storage, unitOfWork: { ...shared.storage.unitOfWork, commit: dying } })
      const send = (input: string, body: StartRunRequest['body'] = {}) =>
        world.run('chat', { body: { input, sessionId: 'ada', ...body }, answer: 'accepted' })
      const first = outcomeOf(await send('one')).runId
      await untilIdle(shared.clock)
      void send('two', { onBusy: 'interrupt' })
      await untilIdle(shared.clock)
      expect((await world.find(first))?.status).toBe(status)

      const later = open(shared.storage)
      await later.recover()
      await later.start()
      await untilIdle(shared.clock)

      expect(await later.find(first)).toMatchObject({ status: 'aborted', abortReason: 'interrupted by a newer run' })
      expect(said).toEqual(['one', 'two'])
    },
  )

  it('interrupts the run ahead, which then takes nothing', async () => {
    const { send, release, resultOf } = busyWorld(['queue', 'interrupt'])
    const first = await send('one')
    const second = await send('two', { onBusy: 'interrupt' })
    await release()

    expect(await resultOf(first)).toMatchObject({ status: 'aborted' })
    expect(await resultOf(second)).toMatchObject({ finishReason: 'completed', result: [] })
  })
})
