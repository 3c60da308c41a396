import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, type EventLog, type RunRecord, toJsonText } from '@perdure/ports'
import { aRun } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createTurnReader } from './turn-cache.ts'

/** A turn that has said `hello`, and a log that counts its reads. */
async function worldWith({ maxLength, ...over }: Partial<RunRecord> & { readonly maxLength?: number } = {}) {
  const { unitOfWork, events, runs } = createInMemoryStorage()
  const run = aRun({ id: 'run_1', sessionId: 'ses_1', status: 'completed', input: toJsonText('hi'), ...over })
  const { epoch } = await events.head()
  const reads: number[] = []
  const read: EventLog['read'] = (stream, range) => {
    reads.push(range.after)
    return events.read(stream, range)
  }
  const readTurn = createTurnReader({ read }, maxLength)
  const say = async (messageId: string, delta: string, runId = run.id) => {
    const event = { runId, sessionId: 'ses_1', type: 'text.delta', at: run.createdAt } as const
    const payload = toJsonText({ runId, messageId, delta })
    const outcome = await unitOfWork.commit([{ type: 'event.append', events: [{ ...event, payload }] }])
    return outcome.committed ? (outcome.events[0]?.position ?? 0) : 0
  }
  await unitOfWork.commit([{ type: 'run.insert', run }])
  await say('m1', 'of another run', 'run_0')
  const first = await say('m1', 'hello')
  const ask = async (through = Number.MAX_SAFE_INTEGER, more: { readonly maxLength?: number; runId?: string } = {}) => {
    reads.length = 0
    const { maxLength = 10_000, runId = run.id } = more
    const found = await runs.find(runId, EVERY_ROW)
    const turn = await readTurn(found ?? run, { epoch, through, maxLength, isCompacted: false })
    return { turn, text: JSON.stringify(turn?.messages.at(-1)?.parts ?? null), reads: [...reads] }
  }
  return { ask, say, first, unitOfWork }
}

describe('a turn', () => {
  it.each([
    ['many events', 450, 1],
    ['exactly two pages', 399, 1],
    ['long events', 5, 60_000],
  ])('is read to its end when it has %s', async (_, count, length) => {
    const { ask, say } = await worldWith()
    for (let n = 1; n <= count; n++) await say('m1', 'z'.repeat(length))

    const { text } = await ask(undefined, { maxLength: 1_000_000 })
    expect(text.split('z')).toHaveLength(count * length + 1)
  })
})

describe('a turn that is read again', () => {
  it('is not folded again once it has ended', async () => {
    const { ask, first } = await worldWith()
    const { reads, turn } = await ask()
    const again = await ask()

    expect([reads, again.reads]).toEqual([[0], [first - 1]])
    expect(again.turn).toEqual(turn)
    expect(again.text).toContain('hello')
  })

  it('shows nothing of what one of its readers has changed', async () => {
    const { ask } = await worldWith()
    await ask()
    const changed = (await ask()).turn?.messages.at(-1)
    Object.assign(changed?.parts?.[0] ?? {}, { text: 'changed' })

    expect((await ask()).text).toContain('hello')
  })

  it('has what has been said since', async () => {
    const { ask, say } = await worldWith()
    await ask()
    await say('m2', 'more')

    expect((await ask()).text).toContain('more')
  })

  it('has nothing of what was said after the cut, whichever cut was read first', async () => {
    const { ask, say, first } = await worldWith()
    const second = await say('m2', 'more')
    await ask(second)
    expect((await ask(first)).text).not.toContain('more')
    expect((await ask(second)).text).toContain('more')
    expect((await ask(first)).text).not.toContain('more')
  })

  it('has nothing of the events that retention has deleted', async () => {
    const { ask, first, unitOfWork } = await worldWith()
    await ask()
    await unitOfWork.commit([{ type: 'event.delete', positions: [first] }])

    expect((await ask()).text).not.toContain('hello')
  })

  it('is read in full while it works', async () => {
    const { ask } = await worldWith({ status: 'running' })
    await ask()
    expect((await ask()).reads).toEqual([0])
  })

  it('is read in full when it has ended again after a retry', async () => {
    const { ask, unitOfWork } = await worldWith({ status: 'failed' })
    await ask()
    const change = { status: 'queued', attempt: 2 } as const
    await unitOfWork.commit([{ type: 'run.transition', runId: 'run_1', from: ['failed'], attempt: 1, change }])
    await unitOfWork.commit([
      { type: 'run.transition', runId: 'run_1', from: ['queued'], attempt: 2, change: { status: 'completed' } },
    ])
    expect((await ask()).reads).toEqual([0])
  })

  it('is left out when it is longer than the rest of the answer may be', async () => {
    const { ask } = await worldWith()
    await ask()
    expect((await ask(undefined, { maxLength: 10 })).turn).toBeUndefined()
  })

  it('is forgotten first that was not read for the longest time', async () => {
    const { ask, say, unitOfWork } = await worldWith({ maxLength: 900 })
    for (const id of ['run_2', 'run_3']) {
      await unitOfWork.commit([{ type: 'run.insert', run: aRun({ id, sessionId: 'ses_1', status: 'completed' }) }])
      await say('m1', 'hello', id)
    }
    const of = async (runId: string) => (await ask(undefined, { runId })).reads[0] === 0
    expect([await of('run_1'), await of('run_2'), await of('run_1')]).toEqual([true, true, false])
    expect([await of('run_3'), await of('run_1'), await of('run_2')]).toEqual([true, false, true])
  })
})
