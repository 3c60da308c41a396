import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type Storage, toJsonText } from '@perdure/ports'
import { aRun, createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createSessionWorld } from '../sessions/sessions.fixture.ts'
import type { OnBusy, OnBusyWaiting } from '../targets/registration.ts'
import type { RunContext } from '../targets/run-context.ts'
import { slowStorage } from './slow-storage.fixture.ts'
import { agentOf, outcomeOf, untilIdle } from './test-engine.fixture.ts'

interface Over {
  readonly onBusyWaiting?: OnBusyWaiting
  readonly onBusy?: OnBusy
  readonly storage?: Storage
}

const askedOf = (input: unknown) => (input === 'pay by staff' ? { assignee: 'staff' } : {})

/** An agent that asks for an approval when it is asked to pay. `reopen` starts another server on the same storage. */
function askingWorld({ onBusyWaiting = 'queue', onBusy = 'queue', storage = createInMemoryStorage() }: Over = {}) {
  const shared = { storage, clock: createManualClock(), ids: createSequenceIds() }
  const ended: unknown[] = []
  const open = () => {
    const code = async (input: unknown, { approval, sleep }: RunContext) => {
      if (input === 'pay later') await sleep('think', '1s')
      const said = String(input).startsWith('pay')
        ? `${input} ${(await approval('pay', askedOf(input))).approved}`
        : input
      ended.push(said)
      return said
    }
    const agents = [agentOf('chat', code, { concurrency: 'session', onBusy, onBusyWaiting })]
    return createSessionWorld({ ...shared, agents, createSessionOnInvoke: true })
  }
  const world = open()
  const send = async (input: unknown, sessionId = 'ada') => {
    const reply = await world.run('chat', { body: { input, sessionId }, answer: 'accepted' })
    await untilIdle(world.clock)
    return outcomeOf(reply).runId
  }
  const pending = async () =>
    (await shared.storage.approvals.list({ status: 'pending' }, { limit: 10, order: 'asc' }, EVERY_ROW)).items
  const decide = async (approved: boolean) => {
    const [first] = await pending()
    await world.resolveApproval({ approvalId: first?.id ?? '', approved, by: 'boss', visibility: EVERY_ROW })
    await untilIdle(world.clock)
  }
  const statusOf = async (runId: string) => (await world.find(runId))?.status
  return { ...world, ended, send, pending, decide, statusOf, open }
}

describe('a message while an earlier turn is suspended', () => {
  it('starts at once by default', async () => {
    const { send, ended } = askingWorld({ onBusyWaiting: 'start' })
    await send('pay')
    await send('hello')

    expect(ended).toEqual(['hello'])
  })

  it('waits for the end of the turn with queue, in order, and holds no slot meanwhile', async () => {
    const { send, ended, decide, statusOf } = askingWorld()
    await send('pay')
    const waiting = await send('hello')
    await send('bye')
    await send('other', 'bob')
    expect([await statusOf(waiting), ended]).toEqual(['queued', ['other']])

    await decide(true)

    expect(ended).toEqual(['other', 'pay true', 'hello', 'bye'])
  })

  it('still waits after a restart, and starts when the turn is aborted', async () => {
    const { send, statusOf, open, clock, ended } = askingWorld()
    const asking = await send('pay')
    const waiting = await send('hello')
    const later = open()
    await later.recover()
    await later.start()
    await untilIdle(clock)
    expect(await statusOf(waiting)).toBe('queued')

    await later.abortRun({ runId: asking, visibility: EVERY_ROW })
    await untilIdle(clock)

    expect(ended).toEqual(['hello'])
  })

  it('finds out by itself that the turn has ended when nothing tells it', async () => {
    const { send, ended, storage, advance, clock } = askingWorld()
    const asking = await send('pay')
    await send('hello')
    const change = { status: 'aborted', finishReason: 'aborted', completedAt: clock.now() } as const
    await storage.unitOfWork.commit([
      { type: 'run.transition', runId: asking, from: ['suspended'], attempt: 1, change },
    ])
    await advance(5_000)

    expect(ended).toEqual(['hello'])
  })

  it('reads the turn once for all the messages that wait for it, and no more when it has ended', async () => {
    const storage = createInMemoryStorage()
    const read: string[] = []
    const find: typeof storage.runs.find = (id, visibility) => {
      read.push(id)
      return storage.runs.find(id, visibility)
    }
    const { send, ended, advance, decide } = askingWorld({ storage: { ...storage, runs: { ...storage.runs, find } } })
    const asking = await send('pay')
    for (const message of ['1', '2', '3', '4', '5', '6', '7']) await send(message)
    const readsDuring = async (ms: number) => {
      read.length = 0
      await advance(ms)
      return read.filter((id) => id === asking).length
    }
    expect([await readsDuring(5_000), await readsDuring(5_000)]).toEqual([1, 1])

    await decide(true)
    expect(ended).toHaveLength(8)
    expect(await readsDuring(10_000)).toBe(0)
  })

  it.each([1, 2, 3, 4, 5].flatMap((n) => (['queue', 'deny'] as const).map((onBusyWaiting) => ({ n, onBusyWaiting }))))(
    'starts without a timer when the turn ends during read $n of its start, with $onBusyWaiting',
    async ({ n, onBusyWaiting }) => {
      const storage = slowStorage()
      const { send, run, ended, clock, abortRun, statusOf } = askingWorld({ storage, onBusyWaiting })
      const asking = await send('pay')
      storage.slowDown(n)
      const accepted = run('chat', { body: { input: 'hello', sessionId: 'ada' }, answer: 'accepted' })
      await untilIdle(clock)
      const aborted = abortRun({ runId: asking, visibility: EVERY_ROW }).catch(() => undefined)
      await untilIdle(clock)
      storage.open()
      await aborted
      const { runId } = outcomeOf(await accepted)
      await untilIdle(clock)

      expect(['aborted', 'completed']).toContain(await statusOf(asking))
      expect([await statusOf(runId), ended.at(-1)]).toEqual(['completed', 'hello'])
    },
  )

  it.each(
    (['read', 'late'] as const).flatMap((when) =>
      [false, true].flatMap((restarts) => Array.from({ length: 20 }, (_, index) => ({ n: index + 1, when, restarts }))),
    ),
  )(
    'starts in order with other messages when the turn ends while read $n is slow ($when), restarts: $restarts',
    async ({ n, when, restarts }) => {
      const storage = slowStorage()
      const { send, ended, clock, abortRun, open, advance } = askingWorld({ storage })
      const asking = await send('pay')
      for (const input of ['one', 'two', 'three']) {
        await advance(1)
        await send(input)
      }
      const later = restarts ? open() : undefined
      storage.slowDown(n, when)
      const started = later?.recover().then(later.start)
      await untilIdle(clock)
      const aborted = (later?.abortRun ?? abortRun)({ runId: asking, visibility: EVERY_ROW }).catch(() => undefined)
      await untilIdle(clock)
      storage.open()
      await Promise.all([started, aborted])
      await untilIdle(clock)
      await untilIdle(clock)

      expect(ended).toEqual(['one', 'two', 'three'])
    },
  )

  it.each(['pay', 'pay by staff'])(
    'denies the open approvals of %s with deny, and starts when the turn has ended',
    async (asking) => {
      const { send, ended, pending, storage } = askingWorld({ onBusyWaiting: 'deny' })
      await send(asking)
      const [asked] = await pending()
      await send('hello')

      expect(ended).toEqual([`${asking} false`, 'hello'])
      expect(await storage.approvals.find(asked?.id ?? '', EVERY_ROW)).toMatchObject({
        ...{ status: 'denied', reason: 'superseded', by: 'alice' },
      })
    },
  )

  it('denies the approvals also when the server dies after it has accepted the message', async () => {
    const { send, ended, storage, clock, ids, open } = askingWorld({ onBusyWaiting: 'deny' })
    const asking = await send('pay')
    const message = aRun({
      ...{ id: ids.newId('run'), targetId: 'chat', sessionId: 'ada', owner: 'alice', status: 'queued' },
      ...{ input: toJsonText('hello'), createdAt: clock.now(), execution: 0 },
    })
    await storage.unitOfWork.commit([{ type: 'run.insert', run: message }])
    const later = open()
    await later.recover()
    await later.start()
    await untilIdle(clock)

    expect((await storage.runs.find(asking, EVERY_ROW))?.status).toBe('completed')
    expect(ended).toEqual(['pay false', 'hello'])
  })

  it('leaves an approval open that was asked for after the message came', async () => {
    const { send, pending, advance, decide, ended } = askingWorld({ onBusyWaiting: 'deny' })
    await send('pay later')
    await advance(500)
    await send('hello')
    await advance(500)
    await advance(10_000)
    expect([(await pending()).length, ended]).toEqual([1, []])

    await decide(true)

    expect(ended).toEqual(['pay later true', 'hello'])
  })

  it('leaves the approvals of another owner open', async () => {
    const { send, pending, run } = askingWorld({ onBusyWaiting: 'deny' })
    await send('pay')
    const mallory = { subject: 'mallory', scopes: ['agents:invoke', 'sessions:write'] }
    await run('chat', { body: { input: 'hello', sessionId: 'ada' }, answer: 'accepted', principal: mallory }).catch(
      () => undefined,
    )

    expect(await pending()).toHaveLength(1)
  })

  it('is rejected when the agent rejects messages while it is busy, and leaves the approval open', async () => {
    const { send, pending } = askingWorld({ onBusy: 'reject', onBusyWaiting: 'deny' })
    await send('pay')

    await expect(send('hello')).rejects.toMatchObject({ code: 'agent-busy' })
    expect(await pending()).toHaveLength(1)
  })

  it('aborts the turn when it interrupts', async () => {
    const { send, statusOf, ended } = askingWorld({ onBusy: 'interrupt' })
    const asking = await send('pay')
    await send('hello')

    expect([await statusOf(asking), ended]).toEqual(['aborted', ['hello']])
  })
})

describe('register', () => {
  it.each([
    [{ onBusyWaiting: 'deny' }, 'onBusyWaiting is for agents with concurrency'],
    [{ onBusyWaiting: 'wait', concurrency: 'session' }, 'onBusyWaiting must be start, queue, deny'],
    [{ onBusy: 'steer' }, "onBusy: 'steer' is for agents with concurrency: 'session'"],
    [{ onBusy: ['queue', 'halt'], concurrency: 'session' }, 'onBusy must be reject, queue, steer, interrupt'],
    [{ onBusy: [], concurrency: 'session' }, 'or a list of them'],
  ])('refuses %o', (over, message) => {
    expect(() => createSessionWorld({ agents: [agentOf('chat', async () => 1, over as never)] })).toThrow(message)
  })
})
