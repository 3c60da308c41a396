import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, fromJsonText, type RunRecord, type Storage } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { createCrashingStorage } from '../engine-model/crashing-storage.fixture.ts'
import { startingWorld } from './start-call.fixture.ts'
import { untilIdle } from './test-engine.fixture.ts'

/** Ends the run as another process does that crashes before it tells the conversation. */
async function complete(storage: Storage, run: RunRecord | undefined): Promise<void> {
  const change = { status: 'completed', finishReason: 'completed', result: '"short"' as never } as const
  const runId = run?.id ?? ''
  await storage.unitOfWork.commit([
    { type: 'run.transition', runId, from: ['running'], attempt: 1, change, needsFollowUp: true },
  ])
}

const SAYS = /^The agent digest, which this conversation started as run_\w+, has completed\. Result: "short"$/

describe("the end of a run that was started with onEnd: 'message'", () => {
  it('becomes a turn of the session, in the transcript and with the id of the run', async () => {
    const { send, work, asked, clock, runsOf, storage } = startingWorld()
    await send('digest')
    work.resolve('short')
    await untilIdle(clock)

    expect(asked).toEqual(['digest', expect.stringMatching(SAYS)])
    const [background] = await runsOf('digest')
    expect((await runsOf('chat')).at(-1)).toMatchObject({
      ...{ status: 'completed', owner: 'alice', sessionId: 'ada', metadata: { endedRunId: background?.id } },
    })
    const { items } = await storage.sessions.messages('ada', { limit: 9, order: 'asc' })
    expect(items.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    expect(fromJsonText(items[2]?.content ?? ('null' as never))).toMatchObject({
      messages: [{ role: 'user', metadata: { endedRun: { runId: background?.id, status: 'completed' } } }],
    })
    expect(await storage.runs.needingFollowUp(9)).toEqual([])
  })

  it('says that the run has failed, without the message of the error', async () => {
    const fails = () => Promise.reject(new Error('the password is hunter2'))
    const { send, asked } = startingWorld({ digest: fails })
    await send('digest')

    expect(asked.at(-1)).toMatch(/which this conversation started as run_\w+, has failed\.$/)
  })

  it('says that the run was aborted', async () => {
    const { send, asked, runsOf, abortRun, clock } = startingWorld()
    await send('digest')
    await abortRun({ runId: (await runsOf('digest'))[0]?.id ?? '', visibility: EVERY_ROW })
    await untilIdle(clock)

    expect(asked.at(-1)).toMatch(/was aborted\.$/)
  })

  it.each([
    [1_000, `Result: "${'x'.repeat(1_000)}"`],
    [3_900, `The first 1024 of 3902 characters of its result: "${'x'.repeat(1_023)}`],
  ])('shows as much of a result of %i characters as a message may have', async (length, shown) => {
    const { send, asked } = startingWorld({ digest: async () => 'x'.repeat(length) })
    await send('digest')
    expect(asked.at(-1)?.endsWith(shown)).toBe(true)
  })

  it('waits for the turn that works', async () => {
    const { send, work, held, asked, clock, runsOf } = startingWorld()
    await send('digest')
    await send('hold')
    work.resolve('short')
    await untilIdle(clock)
    expect([asked.length, (await runsOf('chat')).at(-1)?.status]).toEqual([2, 'queued'])

    held.resolve()
    await untilIdle(clock)

    expect(asked.slice(2)).toEqual([expect.stringMatching(SAYS)])
  })

  it('steers the turn that works', async () => {
    const { send, work, held, clock, find } = startingWorld({ onBusy: 'steer' })
    await send('digest')
    const turn = await send('hold')
    work.resolve('short')
    await untilIdle(clock)
    held.resolve()
    await untilIdle(clock)

    const { result = '[]' } = (await find(turn)) ?? {}
    expect(fromJsonText(result as never)).toEqual([expect.stringMatching(SAYS)])
  })

  it('interrupts the turn that works', async () => {
    const { send, work, asked, clock, find, advance } = startingWorld({ onBusy: 'interrupt' })
    await send('digest')
    const turn = await send('hold')
    work.resolve('short')
    await untilIdle(clock)
    await advance(5_000) // the code of the turn ignores its signal

    expect(await find(turn)).toMatchObject({ status: 'aborted' })
    expect(asked.at(-1)).toMatch(SAYS)
  })

  it('interrupts the turn that a crash has cut off, instead of executing it again', async () => {
    const { send, open, find, runsOf, storage, clock, asked } = startingWorld({ onBusy: 'interrupt' })
    await send('digest')
    const turn = await send('hold')
    await complete(storage, (await runsOf('digest'))[0])

    const next = open()
    await next.recover()
    await next.start()
    await untilIdle(clock)

    expect(await find(turn)).toMatchObject({ status: 'aborted' })
    expect(asked).toEqual(['digest', 'hold', expect.stringMatching(SAYS)])
  })

  it('waits also with reject, because nobody could send it again', async () => {
    const { send, work, held, asked, clock } = startingWorld({ onBusy: 'reject' })
    await send('digest')
    await send('hold')
    work.resolve('short')
    await untilIdle(clock)
    held.resolve()
    await untilIdle(clock)

    expect(asked.at(-1)).toMatch(SAYS)
  })

  it('stays out of a conversation that no longer shows the turn that has started the run', async () => {
    const { send, run, runsOf, work, asked, clock, storage } = startingWorld()
    const replaces = await send('digest')
    await run('chat', { body: { input: 'other', sessionId: 'ada', replaces }, answer: 'accepted' })
    work.resolve('short')
    await untilIdle(clock)

    expect(asked).toEqual(['digest', 'other'])
    expect(await runsOf('digest')).toMatchObject([{ status: 'completed' }])
    expect(await storage.runs.needingFollowUp(9)).toEqual([])
  })

  it('is dropped with the session', async () => {
    const { send, work, asked, clock, storage } = startingWorld()
    await send('digest')
    const { sessions } = storage
    const find: typeof sessions.find = async () => undefined
    Object.assign(sessions, { find })
    work.resolve('short')
    await untilIdle(clock)

    expect(asked).toEqual(['digest'])
    expect(await storage.runs.needingFollowUp(9)).toEqual([])
  })

  it('is told once when two processes apply the same end', async () => {
    const storage = createInMemoryStorage()
    const { send, open, clock, runsOf } = startingWorld({ storage })
    await send('digest')
    await complete(storage, (await runsOf('digest'))[0])
    await Promise.all([open().recover(), open().recover()])
    await untilIdle(clock)

    expect(await runsOf('chat')).toHaveLength(2)
  })

  it('is told once, and the run started once, whichever commit is the last before a crash', async () => {
    let commits = 1
    for (let isCut = true; isCut; commits++) {
      const storage = createInMemoryStorage()
      const crashing = createCrashingStorage(storage)
      crashing.crashAfter(commits)
      const first = startingWorld({ storage: crashing.storage, digest: async () => 'short' })
      void first.send('digest').catch(() => undefined)
      await untilIdle(first.clock)
      await untilIdle(first.clock)
      isCut = crashing.hasCrashed()
      // Keys of requests are forgotten by then.
      first.clock.advance(172_800_000)
      const next = first.open(storage)
      await next.recover()
      await next.start()
      await untilIdle(first.clock)

      const [turn, ...messages] = await first.runsOf('chat')
      const background = await first.runsOf('digest')
      expect([commits, turn?.status, background.map(({ status }) => status)]).toEqual([
        commits,
        'completed',
        ['completed'],
      ])
      expect([commits, messages]).toMatchObject([
        commits,
        [{ status: 'completed', metadata: { endedRunId: background[0]?.id } }],
      ])
      expect([commits, await storage.runs.needingFollowUp(9)]).toEqual([commits, []])
    }
    expect(commits).toBeGreaterThan(5)
  })
})
