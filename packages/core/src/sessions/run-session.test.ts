import { EVERY_ROW } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { agentOf, untilIdle, workflowOf } from '../engine/test-engine.fixture.ts'
import { parsedItems } from '../json/page-items.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'
import { createSessionWorld, ME } from './sessions.fixture.ts'

const runCode = async (code: (context: RunContext) => Promise<unknown>, sessionId: string | null = 'chat') => {
  const world = createSessionWorld({ agents: [agentOf('code', (_, context) => code(context))] })
  const reply = await world.run('code', { body: { input: 'question', sessionId: sessionId ?? undefined } })
  return {
    ...world,
    outcome: JSON.parse(reply.json ?? '') as { result?: unknown; error?: { code: string; message: string } },
  }
}

describe('ctx.session', () => {
  it('is undefined for a run without a session', async () => {
    const { outcome } = await runCode(async ({ session }) => session === undefined, null)

    expect(outcome.result).toBe(true)
  })

  it('reads the newest messages in chronological order', async () => {
    const { outcome } = await runCode(async ({ session }) => {
      for (const text of ['one', 'two', 'three']) await session?.append('assistant', { text })
      const messages = await session?.messages({ limit: 2 })
      return { id: session?.id, messages: messages?.map(({ seq, role, content }) => [seq, role, content]) }
    })

    expect(outcome.result).toEqual({
      id: 'chat',
      messages: [
        [3, 'assistant', { text: 'two' }],
        [4, 'assistant', { text: 'three' }],
      ],
    })
  })

  it('changes title and metadata separately', async () => {
    const { storage, outcome } = await runCode(async ({ session }) => {
      await session?.update({ title: 'About ships' })
      return session?.update({ metadata: { topic: 'ships' } })
    })

    expect(outcome.result).toMatchObject({ title: 'About ships', metadata: { topic: 'ships' } })
    expect(await storage.sessions.find('chat', EVERY_ROW)).toMatchObject({ title: 'About ships' })
  })

  it('applies many concurrent changes', async () => {
    const { outcome } = await runCode(async ({ session }) => {
      const changes = Array.from({ length: 40 }, (_, n) => session?.update({ title: `title ${n}` }))
      return (await Promise.all(changes)).length
    })

    expect(outcome).toMatchObject({ result: 40 })
  })

  it.each([
    ['limit', ({ session }: RunContext) => session?.messages({ limit: 201 })],
    ['limti', ({ session }: RunContext) => session?.messages({ limti: 2 } as never)],
    ['role', ({ session }: RunContext) => session?.append('system' as 'user', 'x')],
    ['content', ({ session }: RunContext) => session?.append('user', 'x'.repeat(1_001))],
    ['title', ({ session }: RunContext) => session?.update({ title: 'x'.repeat(513) })],
    ['metadata', ({ session }: RunContext) => session?.update({ metadata: { a: 1 } as never })],
  ])('rejects an invalid %s before it records a step', async (name, call) => {
    const { outcome, storage, find } = await runCode(async (context) => call(context))

    expect(outcome.error).toMatchObject({ code: 'validation-failed', message: expect.stringContaining(name) })
    const [run] = (await storage.runs.list({}, { limit: 1, order: 'asc' }, EVERY_ROW)).items
    expect(await storage.steps.list((await find(run?.id ?? ''))?.id ?? '')).toEqual([])
  })

  it('appends each message once when its run is re-executed after a crash', async () => {
    const clock = createManualClock()
    const shared = { clock, ids: createSequenceIds() }
    const workflows = [
      workflowOf('talk', async (_, { session, waitForEvent }) => {
        await session?.append('assistant', 'before')
        await waitForEvent('go')
        await session?.append('assistant', 'after')
        return 'done'
      }),
    ]
    const first = createSessionWorld({ ...shared, workflows })
    await first.execute('talk', { body: { sessionId: 'chat' } })
    await untilIdle(clock)
    const second = createSessionWorld({ ...shared, workflows, storage: first.storage })
    await second.recover()
    await second.start()
    await untilIdle(clock)

    await second.emitEvent({ name: 'go', payload: null })
    await untilIdle(clock)

    const { items } = await second.readSessions.messages('chat', { limit: 50, order: 'asc' }, ME)
    expect((await parsedItems(items)).map(({ content }: { content: unknown }) => content)).toEqual([
      'before',
      'after',
      'done',
    ])
  })
})

describe('ctx.session.compact', () => {
  it('stands for the earlier conversation, in this turn and in later ones', async () => {
    const seen: Array<Record<'compacted' | 'all', unknown>> = []
    const code = async (input: unknown, { session }: RunContext) => {
      if (input === 'three') {
        await session?.append('assistant', 'before')
        await session?.compact(() => ({ text: 'one and two' }))
        await session?.append('assistant', 'after')
      }
      const read = async (compacted: boolean) =>
        (await session?.messages({ compacted }))?.map(({ role, content }) => [role, content])
      seen.push({ compacted: await read(true), all: await read(false) })
      return `answer to ${input}`
    }
    const world = createSessionWorld({ agents: [agentOf('code', code)] })
    for (const input of ['one', 'two', 'three', 'four']) await world.run('code', { body: { input, sessionId: 'chat' } })

    const turn = (input: string, ...said: string[]) => [['user', input], ...said.map((text) => ['assistant', text])]
    const before = [...turn('one', 'answer to one'), ...turn('two', 'answer to two')]
    const third = turn('three', 'before', 'after')
    const summary = [
      ['summary', { text: 'one and two' }],
      ['assistant', 'after'],
    ]
    expect(seen[1]?.compacted).toEqual(before.slice(0, -1))
    expect(seen[2]).toEqual({ compacted: summary, all: [...before, ...third] })
    const answered = [['assistant', 'answer to three'], ...turn('four')]
    expect(seen[3]).toEqual({ compacted: [...summary, ...answered], all: [...before, ...third, ...answered] })
  })

  it('keeps the summary within the limit of messages', async () => {
    const { outcome } = await runCode(async ({ session }) => {
      await session?.compact(() => 'so far')
      for (const text of ['one', 'two', 'three']) await session?.append('assistant', text)
      const read = async (limit: number) =>
        (await session?.messages({ compacted: true, limit }))?.map(({ content }) => content)
      return [await read(1), await read(3), await read(50)]
    })

    expect(outcome.result).toEqual([['so far'], ['so far', 'two', 'three'], ['so far', 'one', 'two', 'three']])
  })

  it('stands for the earlier conversation when it is long enough for a file', async () => {
    const summary = { text: 'so far '.repeat(1_000) }
    const contents: unknown[] = []
    const code = async (input: unknown, { session }: RunContext) => {
      if (input === 'one') await session?.compact(() => summary)
      contents.push((await session?.messages({ compacted: true }))?.map(({ content }) => content))
      return 'answer'
    }
    const world = createSessionWorld({
      agents: [agentOf('code', code)],
      fileLimits: { maxBytes: 100_000, maxBytesPerOwner: 1_000_000 },
    })
    for (const input of ['one', 'two']) await world.run('code', { body: { input, sessionId: 'chat' } })

    expect(contents).toEqual([[summary], [summary, 'answer', 'two']])
    expect((await world.storage.files.usage('alice')).files).toBeGreaterThan(0)
  })

  it('refuses a function that returns nothing', async () => {
    const { outcome } = await runCode(async ({ session }) => session?.compact(() => undefined))

    expect(outcome.error?.message).toContain('must return what stands for the conversation')
  })
})
