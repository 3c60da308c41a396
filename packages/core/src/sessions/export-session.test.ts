import { type EventRange, type EventStream, type PageQuery, perdureError, toJsonText } from '@perdure/ports'
import { aMessage, anEvent } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { testDigest } from '../auth/tokens.fixture.ts'
import { agentOf, gate, ALICE as OWNER, untilIdle } from '../engine/test-engine.fixture.ts'
import { parsedItems } from '../json/page-items.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'
import { ALICE, createSessionWorld, ME, refusal, worldWith } from './sessions.fixture.ts'

const _PAGE: PageQuery = { limit: 50, order: 'desc' }

describe('exportSession', () => {
  const linesOf = async (lines: AsyncIterable<string | Uint8Array>) => {
    const parts: Uint8Array[] = []
    for await (const part of lines) parts.push(Buffer.from(part as string))
    return Buffer.concat(parts).toString()
  }
  const request = { sessionId: 'chat', visibility: ME, principal: ALICE }

  it('contains what the reads of the session return and ends with a checksum of all preceding bytes', async () => {
    const { exportSession, readSessions, run, storage, digest } = { ...(await worldWith()), digest: testDigest }
    for (let turn = 0; turn < 12; turn++) await run('echo', { body: { input: { turn }, sessionId: 'chat' } })
    const all: PageQuery = { limit: 200, order: 'asc' }

    const text = await linesOf(await exportSession(request))

    const lines = text.trimEnd().split('\n')
    const records = lines.map((line) => JSON.parse(line))
    const of = (type: string) => records.filter((one) => one.type === type).map(({ record }) => record)
    expect(of('session')).toEqual([await readSessions.get('chat', ME)])
    const include = ['input', 'result'] as const
    const messages = await readSessions.messages('chat', all, ME)
    const runs = await readSessions.runs('chat', { ...all, include }, ME)
    expect(of('message')).toEqual(await parsedItems(messages.items))
    expect(of('run')).toEqual(await parsedItems(runs.items))
    const events = await storage.events.read({ sessionId: 'chat' }, { after: 0, limit: 200 })
    expect(of('event').map(({ type }) => type)).toEqual(events.map(({ type }) => type))
    const body = text.slice(0, text.lastIndexOf('{"type":"checksum"'))
    expect(records.at(-1)).toEqual({
      ...{ type: 'checksum', algorithm: 'sha256', records: records.length - 1 },
      value: digest.sha256(body),
    })
  })

  it('marks the messages that the conversation does not show any more, as the transcript does', async () => {
    const open = gate()
    const code = async (input: unknown, { step, session }: RunContext) => {
      if (input === 'one') await step('work', () => open.promise)
      await session?.takeMessages()
      return `to ${input}`
    }
    const agents = [agentOf('chat', code, { concurrency: 'session', onBusy: 'queue' })]
    const { run, clock, exportSession, readSessions, withdrawMessage } = createSessionWorld({
      ...{ agents, createSessionOnInvoke: true },
    })
    const send = async (input: string, replaces?: string) => {
      const { runId = '' } = await run('chat', { body: { input, sessionId: 'chat', replaces }, answer: 'accepted' })
      await untilIdle(clock)
      return runId
    }
    const first = await send('one')
    const [second] = [await send('two'), await send('three')]
    const third = await send('four')
    await withdrawMessage({ runId: third, principal: OWNER, visibility: ME })
    const shown = async () => {
      const { items } = await readSessions.messages('chat', { limit: 50, order: 'asc' }, ME)
      const messages = (await parsedItems(items)) as ReadonlyArray<{ content: unknown; withdrawn?: true }>
      const text = await linesOf(await exportSession({ ...request, principal: { ...ALICE } }))
      const lines = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(lines.filter(({ type }) => type === 'message').map(({ record }) => record)).toEqual(messages)
      return messages.map(({ content, withdrawn }) => [content, withdrawn])
    }
    open.resolve()
    await untilIdle(clock)
    expect(await shown()).toEqual([
      ...['one', 'two', 'three'].map((content) => [content, undefined]),
      ...[
        ['four', true],
        ['to one', undefined],
      ],
    ])

    await send('again', first)
    expect(second).not.toBe('')
    expect(await shown()).toEqual([
      ...['one', 'two', 'three', 'four', 'to one'].map((content) => [content, true]),
      ...[
        ['again', undefined],
        ['to again', undefined],
      ],
    ])
  })

  it('writes the audit entry before it reads anything, and exports nothing if that write fails', async () => {
    const world = await worldWith()
    await world.exportSession(request)
    expect(await world.storage.audit.read({ afterSeq: 0, limit: 9 })).toMatchObject([
      { action: 'sessions.export', target: 'chat' },
    ])

    const unitOfWork = { commit: () => Promise.reject(perdureError('storage-full')) }
    const failing = createSessionWorld({ storage: { ...world.storage, unitOfWork } })
    expect(await refusal(failing.exportSession(request))).toBe('audit-unavailable')
  })

  it('reads long records in parts, only as fast as they are taken', async () => {
    const world = await worldWith()
    const text = 'é'.repeat(400_000)
    const messages = Array.from({ length: 12 }, (_, n) =>
      aMessage({ id: `m${n}`, sessionId: 'chat', content: toJsonText({ n, text }) }),
    )
    const events = messages.map(({ content }) => anEvent({ sessionId: 'chat', type: 'page.read', payload: content }))
    await world.storage.unitOfWork.commit([
      ...messages.map((message) => ({ type: 'message.append', message }) as const),
      { type: 'event.append', events },
    ])
    const read = async (stream: EventStream, range: EventRange) => {
      const found = await world.storage.events.read(stream, range)
      expect(found.length).toBeLessThanOrEqual(2)
      return found
    }
    const { exportSession } = createSessionWorld({
      storage: { ...world.storage, events: { ...world.storage.events, read } },
    })

    let longest = 0
    const parts: Uint8Array[] = []
    for await (const part of await exportSession(request)) {
      parts.push(Buffer.from(part as string))
      longest = Math.max(longest, part.length)
    }

    expect(longest).toBeLessThanOrEqual(256 * 1024)
    const records = Buffer.concat(parts)
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const of = (type: string) => records.filter((one) => one.type === type).map(({ record }) => record)
    const contents = messages.map((_, n) => ({ n, text }))
    expect(of('message').map(({ content }) => content)).toEqual(contents)
    expect(of('event').map(({ payload }) => payload)).toEqual(contents)
    expect(records.at(-1)).toMatchObject({ records: records.length - 1 })
  })

  it('fails without a checksum if the session is deleted during the export', async () => {
    const { exportSession, deleteSession } = await worldWith()
    const lines = await exportSession(request)
    await lines.next()
    await deleteSession(request)

    expect(await refusal(linesOf(lines))).toBe('session-not-found')
  })

  it('rejects the export of a session that the caller cannot see', async () => {
    const { exportSession, storage } = await worldWith({ owner: 'bob' })

    expect(await refusal(exportSession(request))).toBe('session-not-found')
    expect(await storage.audit.read({ afterSeq: 0, limit: 9 })).toEqual([])
  })
})
