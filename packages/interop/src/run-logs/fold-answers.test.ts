import { beginFold, foldLog, transcriptOf } from '@perdure/core'
import { describe, expect, it } from 'vitest'
import { logOf, RUN } from './events.fixture.ts'

type Logged = Parameters<typeof logOf>[0][number]

const fold = (events: readonly Logged[]) => transcriptOf(foldLog(logOf(events), beginFold(RUN)))
const itemsOf = (events: readonly Logged[]) => fold(events).items

describe('the fold of an answer', () => {
  it('marks a call as invalid if it failed before its tool began, because of its input', () => {
    const call = { toolCallId: 'c', toolName: 'look', args: { of: 1 } }
    const failure = (kind: string): Logged => ['tool.result', { toolCallId: 'c', error: { kind, message: 'no' } }]
    const said: Logged = ['tool.call.end', { ...call, declared: 'static' }]
    expect(itemsOf([said, failure('invalid_input')])).toMatchObject([{ status: 'failed', isInvalid: true }])
    expect(itemsOf([said, failure('unknown_tool')])).toMatchObject([{ status: 'failed', isInvalid: true }])
    expect(itemsOf([said, failure('execution_failed')])[0]).not.toHaveProperty('isInvalid')
    expect(itemsOf([said, ['tool.execute.start', call], failure('invalid_input')])[0]).not.toHaveProperty('isInvalid')
  })

  it('knows the executor of a call by the declaration of the complete call', () => {
    const start = { toolCallId: 'c', toolName: 'look', declared: 'static', executor: 'server' }
    const { executor: _, ...undecided } = start
    expect(itemsOf([['tool.call.start', start]])).toMatchObject([{ isOnServer: true }])
    expect(
      itemsOf([
        ['tool.call.start', start],
        ['tool.call.end', start],
      ]),
    ).toMatchObject([{ isOnServer: true }])
    expect(
      itemsOf([
        ['tool.call.start', start],
        ['tool.call.end', undecided],
      ])[0],
    ).not.toHaveProperty('isOnServer')
  })

  it('tells why the model stopped in its last answer', () => {
    const end = (finishReason?: string): Logged => ['step.end', { seq: 1, step: 'model', kind: 'step', finishReason }]
    expect(fold([end('tool-calls'), end(), end('length'), end()])).toMatchObject({ modelFinishReason: 'length' })
    expect(fold([end()])).not.toHaveProperty('modelFinishReason')
  })
})
