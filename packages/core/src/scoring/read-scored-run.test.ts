import { type EventLog, toJsonText } from '@perdure/ports'
import { aRun } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createReadScoredRun } from './read-scored-run.ts'

const event = (position: number, type: string, payload: object) => ({
  ...{ id: String(position), position, type, payload: toJsonText(payload), at: position as never },
  ...{ epoch: 'e', runId: 'run_1' },
})

/** A log whose events have the given payloads, and the number of its batches that were read. */
function logOf(payloads: readonly (readonly [string, object])[]) {
  const all = payloads.map(([type, payload], at) => event(at + 1, type, payload))
  let batches = 0
  const read: EventLog['read'] = async (_, { after, limit }) => {
    batches++
    return all.filter(({ position }) => position > after).slice(0, limit) as never
  }
  return { events: { read }, batches: () => batches }
}

const readerOf = (log: ReturnType<typeof logOf>, result: unknown) =>
  createReadScoredRun({
    events: log.events,
    runs: { find: async () => aRun({ id: 'run_1', status: 'completed', result: toJsonText(result) }) },
  })

const ANSWER = [
  ['step.start', { seq: 1, step: 'model' }],
  ['text.delta', { messageId: 'run_1.1', blockId: 'b', delta: 'from ' }],
  ['text.delta', { messageId: 'run_1.1', blockId: 'b', delta: 'the log' }],
  ['step.end', { seq: 1, finishReason: 'stop' }],
] as const

describe('readScoredRun', () => {
  it.each([
    [['usage'], { text: 'from the result' }, 0, 'from the result'],
    [['text'], { text: 'from the result' }, 0, 'from the result'],
    [['text'], { other: 1 }, 2, 'from the log'],
    [['log'], { text: 'from the result' }, 2, 'from the result'],
    [undefined, { text: 'from the result' }, 2, 'from the result'],
  ] as const)('for a scorer that reads %j of a run with %j reads %i batches of the log', async (reads, ...more) => {
    const [result, batches, text] = more
    const log = logOf(ANSWER)

    const run = await readerOf(log, result)('run_1', reads)

    expect(log.batches()).toBe(batches)
    expect(run).toMatchObject({ text, result, case: { id: 'run_1' } })
    expect(run?.recordings[0]?.calls).toHaveLength(batches === 0 ? 0 : 1)
  })

  it('refuses a log that is too long, and keeps no part of it', async () => {
    const delta = 'x'.repeat(1_024 * 1_024)
    const log = logOf(Array.from({ length: 20 }, () => ['text.delta', { messageId: 'run_1.1', blockId: 'b', delta }]))

    await expect(readerOf(log, {})('run_1')).rejects.toThrow('the log of the run run_1 is too long to judge')
    expect(await readerOf(log, {})('run_1', ['usage'])).toMatchObject({ status: 'completed' })
  })
})
