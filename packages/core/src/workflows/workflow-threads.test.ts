import { EVERY_ROW, fromJsonText } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { createTestEngine, outcomeOf, untilIdle, workflowOf } from '../engine/test-engine.fixture.ts'
import { textOfParts } from '../json/json-page.ts'
import { parsedItems } from '../json/page-items.fixture.ts'
import type { ThreadRef } from '../runs/find-thread.ts'

const waiting = workflowOf('flow', async (_, { step, waitForEvent }) => {
  await step('one', () => 1)
  await step('two', () => 2)
  await waitForEvent('go', {})
})

async function executeFlow() {
  const engine = createTestEngine({ workflows: [waiting] })
  await engine.start()
  const { runId, threadId = '' } = outcomeOf(await engine.execute('flow'))
  await untilIdle(engine.clock)
  return { engine, runId, thread: { workflowId: 'flow', threadId } }
}

type Engine = ReturnType<typeof createTestEngine>
const stateOf = async ({ threads }: Engine, thread: ThreadRef) =>
  fromJsonText(await textOfParts(await threads.state(thread))) as ThreadState
interface ThreadState {
  readonly status: string
  readonly waitingFor: readonly { readonly kind: string; readonly name: string }[]
  readonly steps: readonly { readonly seq: number; readonly name: string; readonly status: string }[]
  readonly checkpointId: string | null
}

describe('WorkflowThreads.state', () => {
  it('lists any number of calls in order, in parts that stay short', async () => {
    const COUNT = 3_000
    const many = workflowOf('flow', async (_, { step, waitForEvent }) => {
      for (let n = 1; n <= COUNT; n++) await step(`step ${n} ${'x'.repeat(200)}`, () => n)
      await Promise.all(Array.from({ length: COUNT }, (_, n) => waitForEvent(`event-${n}`, {})))
    })
    const engine = createTestEngine({ workflows: [many] })
    await engine.start()
    const { runId, threadId = '' } = outcomeOf(await engine.execute('flow'))
    for (let turn = 0; turn < 2_000; turn++) {
      if ((await engine.find(runId))?.status === 'suspended') break
      await untilIdle(engine.clock)
    }
    const thread = { workflowId: 'flow', threadId }
    const lengths: number[] = []
    for await (const part of await engine.threads.state(thread)) lengths.push(part.length)

    const { waitingFor, steps, checkpointId } = await stateOf(engine, thread)
    const run = outcomeOf({ status: 200, json: await textOfParts(await engine.readRuns.state(runId, EVERY_ROW)) })
    const stored = outcomeOf(await engine.readRuns.outcome(runId, EVERY_ROW))

    expect(Math.max(...lengths)).toBeLessThan(200_000)
    expect(steps.map(({ seq }) => seq)).toEqual(Array.from({ length: 2 * COUNT }, (_, n) => n + 1))
    expect(waitingFor.map(({ name }) => name)).toEqual(Array.from({ length: COUNT }, (_, n) => `event-${n}`))
    expect(checkpointId).toBe(`${runId}.${COUNT}`)
    expect(run.waitingFor).toEqual(waitingFor)
    expect(stored.waitingFor?.length).toBeGreaterThan(1_000)
    expect(JSON.stringify(stored.waitingFor).length).toBeLessThan(300_000)
  })

  it('lists what the thread waits for, until its run ends', async () => {
    const { engine, runId, thread } = await executeFlow()
    const before = await stateOf(engine, thread)

    await engine.abortRun({ runId, visibility: EVERY_ROW })
    const after = await stateOf(engine, thread)

    expect(before).toMatchObject({ status: 'suspended', waitingFor: [{ kind: 'event', name: 'go' }] })
    expect(after).toMatchObject({ status: 'aborted', waitingFor: [] })
  })
})

describe('WorkflowThreads.checkpoints', () => {
  it('returns pages in both orders', async () => {
    const { engine, thread } = await executeFlow()

    for (const [order, names] of [
      ['asc', ['one', 'two']],
      ['desc', ['two', 'one']],
    ] as const) {
      const first = await engine.threads.checkpoints(thread, { limit: 1, order })
      const second = await engine.threads.checkpoints(thread, { limit: 1, order, cursor: first.nextCursor ?? '' })
      expect(await parsedItems([...first.items, ...second.items])).toMatchObject(names.map((step) => ({ step })))
      expect(second.nextCursor).toBeNull()
    }
  })

  it.each(['', 'nonsense', 'x.5', '-1', '1e0'])('rejects the invalid cursor %j', async (cursor) => {
    const { engine, thread } = await executeFlow()

    const page = engine.threads.checkpoints(thread, { limit: 1, order: 'asc', cursor })

    await expect(page).rejects.toMatchObject({ code: 'validation-failed' })
  })
})

describe('a thread of another owner', () => {
  const mallory = { principal: { subject: 'mallory', scopes: ['workflows:execute'] }, visibility: { owner: 'mallory' } }
  const idOf = (work: Promise<unknown>) =>
    work.then(
      () => 'done',
      ({ code }) => code,
    )

  async function endedThread() {
    const engine = createTestEngine({ workflows: [workflowOf('quick', async () => 1)] })
    await engine.start()
    const body = { threadId: 'thr_1' }
    await engine.execute('quick', { body, answer: 'outcome' })
    const use = () => idOf(engine.execute('quick', { body, visibility: { owner: 'alice' } }))
    const misuse = [
      () => idOf(engine.execute('quick', { body, ...mallory })),
      () => idOf(engine.deleteThread({ workflowId: 'quick', threadId: 'thr_1', visibility: mallory.visibility })),
    ]
    return { use, misuse }
  }

  it('is missing for a caller that may not see it, also while its owner starts a run in it', async () => {
    const { use, misuse } = await endedThread()

    const owner = use()
    const strangers = misuse.map((call) => call())

    expect(await Promise.all(strangers)).toEqual(['thread-not-found', 'thread-not-found'])
    expect(await owner).toBe('done')
  })

  it('is not locked by a caller that may not see it', async () => {
    const { use, misuse } = await endedThread()

    const strangers = misuse.map((call) => call())
    const owner = use()

    expect(await owner).toBe('done')
    expect(await Promise.all(strangers)).toEqual(['thread-not-found', 'thread-not-found'])
  })
})
