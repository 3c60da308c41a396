import { createInMemoryStorage, shareInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import type { AgentRegistration } from '../targets/agent.ts'
import type { WorkflowRegistration } from '../targets/workflow.ts'
import { slowStorage } from './slow-storage.fixture.ts'
import { agentOf, createTestEngine, outcomeOf, workflowOf } from './test-engine.fixture.ts'

interface Registered {
  readonly agents?: readonly AgentRegistration[]
  readonly workflows?: readonly WorkflowRegistration[]
}

/**
 * Two processes that follow each other's commits; one of them fires the timers. The clock moves by less than two seconds, so
 * nothing is noticed by a repeated look at the storage.
 */
function twoProcesses(registered: Registered, { timers = 'mine', storage = createInMemoryStorage() } = {}) {
  const shared = { clock: createManualClock(), ids: createSequenceIds(), createSessionOnInvoke: true }
  const join = shareInMemoryStorage(storage)
  const open = (executor: string) =>
    createTestEngine({
      ...registered,
      ...shared,
      executor,
      storage: join(),
      isStorageShared: true,
      isMine: () => executor === timers,
    })
  return { mine: open('mine'), other: open('other') }
}

type Process = ReturnType<typeof createTestEngine>

const onlyRunOf = async ({ storage }: Process, targetId: string) => {
  const { items } = await storage.runs.list({ targetId }, { limit: 2, order: 'asc' }, EVERY_ROW)
  expect(items).toHaveLength(1)
  return { runId: items[0]?.id ?? '', visibility: EVERY_ROW } as const
}

const never = () => new Promise<never>(() => undefined)

describe('a run of this process', () => {
  it('is aborted at once when another process aborts it, and its caller gets the outcome', async () => {
    const signals: AbortSignal[] = []
    const stuck = agentOf('stuck', (_, { signal }) => {
      signals.push(signal)
      return never()
    })
    const { mine, other } = twoProcesses({ agents: [stuck] })
    const reply = mine.run('stuck')
    await mine.advance(0)

    await other.abortRun(await onlyRunOf(other, 'stuck'))
    await mine.advance(0)

    expect(outcomeOf(await reply)).toMatchObject({ status: 'aborted' })
    expect(signals.map(({ aborted, reason }) => [aborted, reason])).toEqual([[true, 'aborted']])
  })

  it('keeps its signal when this process ends it', async () => {
    const signals: AbortSignal[] = []
    const quick = agentOf('quick', async (_, { signal }) => void signals.push(signal))
    const { mine } = twoProcesses({ agents: [quick] })

    expect(outcomeOf(await mine.run('quick'))).toMatchObject({ status: 'completed' })
    await mine.advance(0)

    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
  })

  it('continues when another process emits the event that it waits for', async () => {
    const seen: unknown[] = []
    const flow = workflowOf('flow', async (_, { waitForEvent }) => {
      const paid = waitForEvent('paid').then((event) => seen.push(event))
      await Promise.all([paid, never()])
    })
    const { mine, other } = twoProcesses({ workflows: [flow] })
    await mine.execute('flow')
    await mine.advance(0)

    await other.emitEvent({ name: 'paid', payload: { amount: 7 } })
    await mine.advance(0)

    expect(seen).toHaveLength(1)
  })
})

describe('a caller of this process', () => {
  it('gets the outcome of a run that another process resumes, whose timers know of the wait', async () => {
    const naps = workflowOf('naps', async (_, { sleep }) => {
      await sleep('short', 1_000)
      return 'awake'
    })
    const { mine, other } = twoProcesses({ workflows: [naps] }, { timers: 'other' })
    await mine.start()
    await other.start()
    const reply = mine.execute('naps', { answer: 'outcome', waitMs: 600_000 })
    await mine.advance(0)

    await mine.advance(1_000)

    expect(outcomeOf(await reply)).toMatchObject({ status: 'completed', result: 'awake' })
  })

  it('gets a run started that another process has to start later', async () => {
    const later = agentOf('later', async () => 'done')
    const { mine, other } = twoProcesses({ agents: [later] }, { timers: 'other' })
    await mine.start()
    await other.start()
    const { runId = '' } = await mine.run('later', { answer: 'accepted', body: { delayMs: 1_000 } })

    await mine.advance(1_000)

    expect(await mine.find(runId)).toMatchObject({ status: 'completed' })
  })

  it('is rejected when another process deletes the run', async () => {
    const { mine, other } = twoProcesses({ workflows: [workflowOf('flow', never)] })
    await mine.start()
    const reply = mine.execute('flow', { answer: 'outcome' }).catch((error: unknown) => error)
    await mine.advance(0)
    const { runId } = await onlyRunOf(mine, 'flow')
    const { threadId = '' } = (await mine.find(runId)) ?? {}

    await other.deleteThread({ workflowId: 'flow', threadId, visibility: EVERY_ROW })
    await mine.advance(0)

    // The run is aborted before it is deleted; the caller may see either.
    expect(await reply).toSatisfy(
      (seen: unknown) =>
        (seen as { code?: string }).code === 'run-not-found' || outcomeOf(seen as never).status === 'aborted',
    )
  })
})

describe('a message that waits here for a suspended turn', () => {
  const asking = agentOf(
    'chat',
    async (input, { approval }) => (input === 'pay' ? (await approval('pay')).approved : input),
    { concurrency: 'session', onBusy: 'queue', onBusyWaiting: 'queue' },
  )
  const send = async ({ run }: Process, input: string) =>
    outcomeOf(await run('chat', { body: { input, sessionId: 'ada' }, answer: 'accepted' })).runId

  it.each([1, 2, 3])('starts when another process ends the turn, also during read %i of its start', async (n) => {
    const storage = slowStorage()
    const { mine, other } = twoProcesses({ agents: [asking] }, { storage })
    const turn = await send(other, 'pay')
    await other.advance(0)
    storage.slowDown(n)
    const sending = send(mine, 'hello')
    await mine.advance(0)

    const aborted = other.abortRun({ runId: turn, visibility: EVERY_ROW })
    await other.advance(0)
    storage.open()
    await aborted
    const message = await sending
    await mine.advance(0)

    expect(await mine.find(message)).toMatchObject({ status: 'completed', result: '"hello"' })
  })

  it('starts when commits were skipped, the end of the turn among them, and listens until then', async () => {
    const storage = createInMemoryStorage()
    const { mine, other } = twoProcesses({ agents: [asking] }, { storage })
    const turn = await send(other, 'pay')
    await other.advance(0)
    const message = await send(mine, 'hello')
    await mine.advance(0)
    expect(mine.foreignChanges.isWaiting()).toBe(true)
    const change = { status: 'aborted', finishReason: 'aborted', completedAt: mine.clock.now() } as const
    await storage.unitOfWork.commit([{ type: 'run.transition', runId: turn, from: ['suspended'], attempt: 1, change }])

    mine.foreignChanges.checkAll()
    await mine.advance(0)

    expect(await mine.find(message)).toMatchObject({ status: 'completed' })
    expect(mine.foreignChanges.isWaiting()).toBe(false)
  })
})
