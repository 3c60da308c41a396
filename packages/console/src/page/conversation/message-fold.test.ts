import { describe, expect, it } from 'vitest'
import type { Event } from '../client/resources.ts'
import { messagesOf } from './message-fold.ts'

let position = 0

const event = (type: string, payload: unknown): Event => ({
  eventId: `e1.${++position}`,
  subject: 'agent:a/events',
  type,
  payload,
  at: '2026-03-02T09:00:00.000Z',
  runId: 'run_1',
})

describe('messagesOf', () => {
  it('joins the pieces of a text and of the reasoning, and shows tools where they were called', () => {
    const parts = messagesOf([
      event('reasoning.delta', { delta: 'Think', messageId: 'm1' }),
      event('text.delta', { delta: 'Hel', messageId: 'm1' }),
      event('text.delta', { delta: 'lo', messageId: 'm1' }),
      event('tool.execute.start', { toolCallId: 'c1', toolName: 'search', args: { q: 1 } }),
      event('tool.execute.end', { toolCallId: 'c1', result: 7 }),
      event('text.delta', { delta: 'Seven', messageId: 'm1' }),
    ])

    expect(parts).toMatchObject([
      { kind: 'reasoning', text: 'Think' },
      { kind: 'text', text: 'Hello' },
      { kind: 'tool', name: 'search', args: { q: 1 }, answer: 7, state: 'done' },
      { kind: 'text', text: 'Seven' },
    ])
  })

  it('has the file with the result of a tool, until another execution replaces it', () => {
    const file = { id: 'file_1', url: '/v1/files/file_1', name: 'search.json', mediaType: 'application/json', bytes: 9 }
    const start = event('tool.execute.start', { toolCallId: 'c1', toolName: 'search' })
    const end = event('tool.execute.end', { toolCallId: 'c1', result: { file }, isResultInFile: true })

    const { url, name, mediaType } = file
    expect(messagesOf([start, end])).toMatchObject([{ state: 'done', file: { url, name, mediaType } }])
    expect(messagesOf([start, end, start])).toMatchObject([{ state: 'executing', file: undefined }])
  })

  it('appends to a block that was started, also after a tool', () => {
    const parts = messagesOf([
      event('text.start', { messageId: 'm1' }),
      event('text.delta', { delta: 'Hel', messageId: 'm1' }),
      event('tool.execute.start', { toolCallId: 'c1', toolName: 'search' }),
      event('text.delta', { delta: 'lo', messageId: 'm1' }),
      event('text.end', { messageId: 'm1' }),
    ])

    expect(parts).toMatchObject([{ text: 'Hello' }, { kind: 'tool', state: 'executing' }])
  })

  it('withdraws the text of a block that starts again', () => {
    const parts = messagesOf([
      event('text.start', { messageId: 'm1' }),
      event('text.delta', { delta: 'wrong', messageId: 'm1' }),
      event('text.start', { messageId: 'm1' }),
      event('text.delta', { delta: 'right', messageId: 'm1' }),
    ])

    expect(parts).toMatchObject([{ kind: 'text', text: 'right' }])
  })

  it('shows a whole text only if its pieces were not sent', () => {
    expect(messagesOf([event('text.complete', { text: 'all' })])).toMatchObject([{ text: 'all' }])
    expect(messagesOf([event('text.delta', { delta: 'al' }), event('text.complete', { text: 'all' })])).toMatchObject([
      { text: 'all' },
    ])
  })

  it('withdraws what a new attempt emits again, and keeps what the server has recorded', () => {
    const asked = event('approval.requested', { runId: 'run_1', approvalId: 'apr_1', name: 'pay' })
    const step = event('step.end', { runId: 'run_1', seq: 1 })
    const parts = messagesOf([
      event('text.delta', { delta: 'kept', messageId: 'm1' }),
      step,
      event('text.delta', { delta: 'lost', messageId: 'm2' }),
      asked,
      event('run.rewound', { runId: 'run_1', attempt: 2, after: step.eventId }),
      event('text.delta', { delta: 'again', messageId: 'm2' }),
    ])

    expect(parts).toMatchObject([{ text: 'kept' }, { kind: 'approval', name: 'pay' }, { text: 'again' }])
  })

  it('shows the approval of a tool with the call, and its decision', () => {
    const request = {
      ...{ runId: 'run_1', approvalId: 'apr_1', toolCallId: 'c1', name: 'order', title: 'Order paper?' },
      ...{ toolName: 'order', args: { what: 'paper' } },
    }
    const asked = [event('approval.requested', request), event('tool.approval.requested', request)]

    expect(messagesOf(asked)).toMatchObject([
      { kind: 'approval', state: 'pending', toolCallId: 'c1' },
      { kind: 'tool', state: 'waiting', approvalId: 'apr_1', title: 'Order paper?', args: { what: 'paper' } },
    ])
    const denied = event('approval.resolved', { approvalId: 'apr_1', decision: 'denied', by: 'ann', reason: 'no' })
    expect(messagesOf([...asked, denied])).toMatchObject([
      { state: 'denied', by: 'ann', reason: 'no' },
      { state: 'denied' },
    ])
    expect(messagesOf([...asked, event('run.aborted', {})])).toMatchObject([{ state: 'expired' }, { state: 'denied' }])
  })

  it('collects the arguments that a model writes, and names the tools of the client', () => {
    const call = { toolCallId: 'c1', toolName: 'pick', executor: 'client' }
    const parts = messagesOf([
      event('tool.call.start', call),
      event('tool.call.delta', { ...call, argsDelta: '{"of":' }),
      event('tool.call.delta', { ...call, argsDelta: '[1]}' }),
      event('tool.call.end', call),
    ])

    expect(parts).toMatchObject([{ kind: 'tool', isClient: true, state: 'called', args: { of: [1] } }])
  })

  it('shows files, sources, data, children and messages that were sent in between', () => {
    const parts = messagesOf([
      event('part.file', { fileId: 'f', mediaType: 'image/png', url: '/v1/files/file_1', name: 'a.png' }),
      event('part.source', { sourceId: 's', url: 'https://example.com', title: 'Example' }),
      event('part.data', { name: 'weather', id: 'w', data: 1 }),
      event('part.data', { name: 'weather', id: 'w', data: 2 }),
      event('part.data', { name: 'gone', data: 3, transient: true }),
      event('run.child.started', { runId: 'run_1', childRunId: 'run_2', agentId: 'helper', seq: 1 }),
      event('run.child.ended', { runId: 'run_1', childRunId: 'run_2', agentId: 'helper', seq: 1, status: 'completed' }),
      event('run.message', { runId: 'run_1', from: 'run_3', content: 'and tea' }),
      event('own.event', { n: 1 }),
    ])

    expect(parts).toMatchObject([
      { kind: 'file', name: 'a.png' },
      { kind: 'source', title: 'Example' },
      { kind: 'data', name: 'weather', data: 2 },
      { kind: 'child', name: 'helper', status: 'completed' },
      { kind: 'sent', content: 'and tea' },
      { kind: 'data', name: 'own.event', data: { n: 1 } },
    ])
  })

  it('keeps the error of a tool, and ignores payloads of another form', () => {
    const parts = messagesOf([
      event('tool.execute.start', { toolCallId: 'c1', toolName: 'send' }),
      event('tool.execute.error', { toolCallId: 'c1', error: { kind: 'timeout' } }),
      event('text.delta', 'text'),
    ])

    expect(parts).toMatchObject([{ kind: 'tool', state: 'failed', answer: { kind: 'timeout' } }])
  })
})
