import { beginFold, type FoldState, foldEvent, foldLog, transcriptOf } from '@perdure/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agentEvent, anyLog, logOf, markEvent, RUN, serverEvent } from './events.fixture.ts'

const START = beginFold(RUN)
const fold = (events: Parameters<typeof logOf>[0]) => transcriptOf(foldLog(logOf(events), START))
const itemsOf = (events: Parameters<typeof logOf>[0]) => fold(events).items

const frozen = (state: FoldState): FoldState => {
  const freeze = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
    Object.freeze(value)
    for (const one of Object.values(value)) freeze(one)
  }
  freeze(state)
  return state
}

describe('foldEvent', () => {
  it('shows a message of the user before the answer only if the run has said nothing before', () => {
    const received = (from: string) => ['run.message', { from, content: from, isFirst: true }] as const
    const said = ['text.complete', { text: 'Hello.', messageId: 'a' }] as const
    const firstIn = (events: Parameters<typeof logOf>[0]) =>
      itemsOf(events).flatMap((item) => (item.kind === 'user-message' ? [item.isFirst] : []))

    expect(firstIn([received('run_2'), received('run_3'), said, received('run_4'), received('run_5')])).toEqual([
      ...[true, true],
      ...[false, false],
    ])
  })

  it('has a fold for every log, and changes no earlier fold', () => {
    fc.assert(
      fc.property(anyLog, (events) => {
        const folded = events.reduce((state, event) => foldEvent(frozen(state), event), START)
        expect(transcriptOf(folded).runId).toBe(RUN)
      }),
    )
  })

  it('gives the same for a log that is folded in two parts, whatever else was folded in between', () => {
    fc.assert(
      fc.property(anyLog, anyLog, fc.nat(), (events, others, cut) => {
        const at = cut % (events.length + 1)
        const prefix = foldLog(events.slice(0, at), START)
        foldLog(others, prefix)
        expect(transcriptOf(foldLog(events.slice(at), prefix))).toEqual(transcriptOf(foldLog(events, START)))
      }),
    )
  })

  it('shows after run.rewound what a log without the withdrawn events shows', () => {
    const before = fc.array(fc.oneof(agentEvent, serverEvent, markEvent), { maxLength: 12 })
    const withdrawn = fc.array(
      fc.oneof(
        agentEvent.map((event) => [event, true] as const),
        serverEvent.map((event) => [event, false] as const),
      ),
      { maxLength: 8 },
    )
    const after = fc.array(fc.oneof(agentEvent, serverEvent), { maxLength: 8 })
    fc.assert(
      fc.property(before, markEvent, withdrawn, after, (first, mark, second, last) => {
        const restart = ['run.started', { status: 'running', attempt: 2 }] as const
        const log = logOf([...first, mark, ...second.map(([event]) => event), restart, ...last])
        const [position, cut] = [first.length, first.length + 1 + second.length]
        const rewound = {
          ...log[cut]!,
          eventId: 'e.rewound',
          type: 'run.rewound',
          payload: { attempt: 2, after: log[position]?.eventId },
        }
        const whole = [...log.slice(0, cut + 1), rewound, ...log.slice(cut + 1)]
        const kept = log.filter(
          (_, index) => index <= position || index >= cut || second[index - position - 1]?.[1] === false,
        )

        const { items, state } = transcriptOf(foldLog(whole, START))
        const expected = transcriptOf(foldLog(kept, START))
        expect({ items, state }).toEqual({ items: expected.items, state: expected.state })
      }),
    )
  })

  it('folds 10,000 deltas, and 10,000 blocks, within a time that allows a slow machine', () => {
    const deltas = logOf(Array.from({ length: 10_000 }, () => ['text.delta', { delta: 'word ' }] as const))
    const blocks = logOf(
      Array.from({ length: 10_000 }, (_, n) => ['text.complete', { text: 'word', messageId: `m${n}` }] as const),
    )
    // The time of this process, because the machine may be busy with others.
    const before = process.cpuUsage()
    foldLog(deltas, START)
    foldLog(blocks, START)
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1_000).toBeLessThan(1_500)
  })
})

describe('a block', () => {
  it('is opened by a delta that names no message, with the id of the continuation', () => {
    const started = ['run.started', { status: 'running', attempt: 1 }] as const
    expect(itemsOf([started, ['text.delta', { delta: 'Hel' }], ['text.delta', { delta: 'lo' }]])).toMatchObject([
      { kind: 'text', id: 'run_1.1', messageId: 'run_1.1', text: 'Hello', isOpen: true },
    ])
  })

  it('is closed by an item of another kind, and continued by a block with a number', () => {
    const said = (delta: string) => ['text.delta', { delta, messageId: 'm' }] as const
    expect(
      itemsOf([said('a'), ['tool.call.start', { toolCallId: 't', toolName: 'x' }], said('b'), said('c')]),
    ).toMatchObject([
      { id: 'm', text: 'a', isOpen: false },
      { id: 't', kind: 'tool' },
      { id: 'm.2', messageId: 'm', text: 'bc', isOpen: true },
    ])
  })

  it('says only the new text after a second start', () => {
    const start = ['text.start', { messageId: 'm', blockId: 'b' }] as const
    const said = (delta: string) => ['text.delta', { delta, messageId: 'm', blockId: 'b' }] as const
    expect(itemsOf([start, said('wro'), start, said('right'), ['text.end', { messageId: 'm', blockId: 'b' }]])).toEqual(
      [{ kind: 'text', id: 'b', messageId: 'm', text: 'right', isOpen: false, isExplicit: true, restarts: 1 }],
    )
  })

  it('keeps blocks apart that are open at the same time', () => {
    const start = (id: string) => ['text.start', { messageId: id }] as const
    const said = (messageId: string, delta: string) => ['text.delta', { delta, messageId }] as const
    expect(itemsOf([start('a'), start('b'), said('a', '1'), said('b', '2'), said('a', '3')])).toMatchObject([
      { id: 'a', text: '13' },
      { id: 'b', text: '2' },
    ])
  })

  it.each([
    ['repeats its deltas', [['text.delta', { delta: 'Hello' }]], ['Hello']],
    ['is all there is', [], ['Hello']],
    [
      'covers two blocks',
      [
        ['text.delta', { delta: 'Hel' }],
        ['part.data', { name: 'x', data: 1 }],
        ['text.delta', { delta: 'lo' }],
      ],
      ['Hel', 'lo'],
    ],
  ] as const)('shows no text twice when the complete text %s', (_, before, texts) => {
    const items = itemsOf([...before, ['text.complete', { text: 'Hello' }]]).filter(({ kind }) => kind === 'text')
    expect(items).toMatchObject(texts.map((text) => ({ text, isOpen: false })))
  })

  it('is closed when the run is suspended', () => {
    const suspended = ['run.suspended', { status: 'suspended', attempt: 1, waitingFor: [{ kind: 'sleep' }] }] as const
    const transcript = fold([['text.start', { messageId: 'm' }], suspended])
    expect(transcript).toMatchObject({
      status: 'suspended',
      waitingFor: [{ kind: 'sleep' }],
      items: [{ isOpen: false }],
    })
  })

  it('keeps what it says during a commentary apart', () => {
    expect(itemsOf([['text.delta', { delta: 'hm', phase: 'commentary' }]])).toMatchObject([{ phase: 'commentary' }])
  })
})

describe('a tool call', () => {
  it('is declared like the first one of its tool if the model uses the id again', () => {
    const repeated = (toolName: string) =>
      itemsOf([
        ['tool.call.start', { toolCallId: 't', toolName: 'pay', declared: 'static' }],
        ['tool.call.end', { toolCallId: 't', toolName: 'pay', args: {}, declared: 'static' }],
        ['tool.execute.start', { toolCallId: 't.2', toolName, args: {} }],
      ]).at(-1)

    expect(repeated('pay')).toMatchObject({ id: 't.2', declared: 'static' })
    expect(repeated('other')).not.toHaveProperty('declared')
  })

  const asked = { approvalId: 'apr_1', runId: RUN, name: 'send', toolCallId: 't' }

  it('is made of its parts', () => {
    expect(
      itemsOf([
        ['tool.call.start', { toolCallId: 't', toolName: 'send' }],
        ['tool.call.delta', { toolCallId: 't', toolName: 'send', argsDelta: '{"to":' }],
        ['tool.call.delta', { toolCallId: 't', toolName: 'send', argsDelta: '"ann"}' }],
        ['tool.call.end', { toolCallId: 't', toolName: 'send', title: 'Send mail' }],
        ['tool.execute.start', { toolCallId: 't', toolName: 'send' }],
        ['tool.execute.end', { toolCallId: 't', toolName: 'send', result: 'sent' }],
      ]),
    ).toEqual([
      {
        ...{ kind: 'tool', id: 't', name: 'send', title: 'Send mail', executor: 'server', status: 'done' },
        ...{ argsText: '{"to":"ann"}', args: { to: 'ann' }, result: 'sent' },
      },
    ])
  })

  it('is known from its execution alone', () => {
    const execution = ['tool.execute.start', { toolCallId: 't', toolName: 'send', args: { to: 'ann' } }] as const
    expect(itemsOf([execution])).toMatchObject([{ name: 'send', args: { to: 'ann' }, status: 'executing' }])
  })

  it.each([
    ['its name and arguments', { toolName: 'send', args: { to: 'ann' } }],
    ['a payload of an old log', { payload: { toolName: 'send', args: { to: 'ann' } } }],
  ])('is known from its approval with %s', (_, more) => {
    expect(
      itemsOf([
        ['approval.requested', asked],
        ['tool.approval.requested', { ...asked, ...more }],
      ]),
    ).toMatchObject([
      { kind: 'approval', status: 'pending' },
      { kind: 'tool', id: 't', name: 'send', args: { to: 'ann' }, status: 'awaiting-approval', approvalId: 'apr_1' },
    ])
  })

  it.each([
    ['approved', ['approval.resolved', { approvalId: 'apr_1', decision: 'approved', by: 'bob' }], 'called'],
    ['denied', ['approval.resolved', { approvalId: 'apr_1', decision: 'denied', reason: 'no' }], 'denied'],
    ['expired', ['approval.expired', { approvalId: 'apr_1' }], 'denied'],
  ] as const)('follows its approval when it is %s', (status, event, ofTool) => {
    expect(itemsOf([['approval.requested', asked], event])).toMatchObject([{ status }, { status: ofTool }])
  })

  it('of a descendant is only an approval', () => {
    expect(itemsOf([['approval.requested', { ...asked, runId: 'run_2' }]])).toMatchObject([
      { kind: 'approval', runId: 'run_2' },
    ])
  })

  it('has the last preliminary result until it ends', () => {
    const result = (value: number, preliminary?: boolean) =>
      ['tool.result', { toolCallId: 't', result: value, preliminary }] as const
    expect(itemsOf([result(1, true), result(2, true)])).toMatchObject([{ result: 2, isPreliminary: true }])
    const [ended] = itemsOf([result(1, true), result(3)])
    expect(ended).toMatchObject({ result: 3, status: 'done' })
    expect(ended).not.toHaveProperty('isPreliminary')
  })
})

describe('the transcript', () => {
  it('has the folded state, and ignores a patch that does not apply', () => {
    const patch = (value: string) => ['part.state-delta', { patch: [{ op: 'replace', path: '/city', value }] }] as const
    expect(fold([patch('Rome'), ['part.state', { state: { city: 'Bern' } }], patch('Basel')]).state).toEqual({
      city: 'Basel',
    })
  })

  it('ignores a patch of an old log that multiplies the state, and folds the events after it', () => {
    const doubling = Array.from({ length: 40 }, (_, index) => ({ op: 'copy', from: '/a', path: `/a/b${index}` }))
    const nested = [{ op: 'add', path: '/deep', value: JSON.parse('['.repeat(64) + ']'.repeat(64)) as unknown }]
    const patches = [doubling, nested, [{ op: 'add', path: '/b', value: 1 }]]
    const { state } = fold([
      ['part.state', { state: { a: { x: 'x' } } }],
      ...patches.map((patch) => ['part.state-delta', { patch }] as const),
    ])
    expect(state).toEqual({ a: { x: 'x' }, b: 1 })
  })

  it('has data, sources and files once per id, and leaves out transient data', () => {
    expect(
      itemsOf([
        ['part.data', { name: 'weather', id: 'w', data: 1 }],
        ['part.data', { name: 'weather', id: 'w', data: 2 }],
        ['part.data', { name: 'weather', data: 3, transient: true }],
        ['part.source', { sourceId: 's', url: 'https://example.com' }],
        ['part.file', { fileId: 'f', mediaType: 'text/plain', data: 'aGk=' }],
      ]),
    ).toEqual([
      { kind: 'data', id: 'weather/w', name: 'weather', data: 2 },
      { kind: 'source', id: 's', url: 'https://example.com' },
      { kind: 'file', id: 'f', mediaType: 'text/plain', data: 'aGk=' },
    ])
  })

  it('has the events of types that the agent invented', () => {
    expect(itemsOf([['weather.seen', { celsius: 3 }]])).toEqual([
      { kind: 'custom', id: 'e.1', type: 'weather.seen', payload: { celsius: 3 } },
    ])
  })

  it('tells how the run ended, and nothing that follows', () => {
    const usage = { provider: 'p', model: 'm', inputTokens: 1, cachedInputTokens: 1, outputTokens: 2, costUsd: 0 }
    const transcript = fold([
      ['run.started', { status: 'running', attempt: 1 }],
      ['step.start', { seq: 1, step: 'one', kind: 'step' }],
      ['usage', usage],
      ['usage', usage],
      ['run.completed', { status: 'completed', attempt: 1, finishReason: 'completed', result: 7 }],
      ['text.delta', { delta: 'late' }],
    ])
    expect(transcript).toMatchObject({
      ...{ status: 'completed', finishReason: 'completed', result: 7, items: [], continuation: 1, lastEventId: 'e.5' },
      ...{
        usage: [{ ...usage, inputTokens: 2, cachedInputTokens: 2, outputTokens: 4 }],
        openSteps: [{ seq: 1, step: 'one' }],
      },
    })
  })
})
