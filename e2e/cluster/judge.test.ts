import { describe, expect, it } from 'vitest'
import type { Dump, DumpedEvent, DumpedRun, Exchange, History, LedgerLine } from './history.ts'
import { type INVARIANTS, judge } from './judge.ts'

let position = 0
const event = (type: string, payload: DumpedEvent['payload'] = {}, at = ++position): DumpedEvent => ({
  ...{ eventId: `e.${at}`, type, payload },
})

const run = (id: string, over: Partial<DumpedRun> = {}): DumpedRun => ({
  ...{ id, targetId: 'again', status: 'completed', finishReason: 'completed', attempt: 1, name: `name of ${id}` },
  events: [event('run.started'), event('run.completed')],
  ...over,
})

const exchange = (over: Partial<Exchange> = {}): Exchange => ({
  ...{ method: 'POST', path: '/agents/ledger/run', token: 'admin', sentAt: 0, status: 200, text: '{}', ...over },
})

const line = (what: LedgerLine['what'], over: Partial<LedgerLine> = {}): LedgerLine => ({
  ...{ name: 'a', what, runId: 'a', attempt: 1, pid: 1, ...over },
})

const RUN = run('a', { targetId: 'ledger', result: 1 })
const TEXT = '{"runId":"a","status":"completed","finishReason":"completed","result":1}'

const GOOD_HISTORY: History = {
  exchanges: [
    exchange({ key: 'k', text: TEXT }),
    exchange({ key: 'k', text: TEXT, sentAt: 5 }),
    exchange({ key: 'k', status: 202, text: '{"runId":"a","status":"queued"}' }),
    exchange({ method: 'PATCH', path: '/sessions/s', key: 'k1', text: '{"id":"s","title":"old"}' }),
    exchange({ method: 'PATCH', path: '/sessions/s', key: 'k2', text: '{"id":"s","title":"new"}' }),
    exchange({ method: 'PATCH', path: '/sessions/s', key: 'k1', text: '{"id":"s","title":"old"}' }),
    exchange({ method: 'DELETE', path: '/tokens/t', status: 204, text: '' }),
    exchange({ token: 'gone', method: 'GET', path: '/tokens/self', sentAt: 900 }),
    exchange({ token: 'gone', method: 'GET', path: '/tokens/self', sentAt: 1_500, status: 401 }),
  ],
  ledger: [
    line('effect'),
    ...[line('first', { runId: 'w', nonce: 'x' }), line('first', { runId: 'w', nonce: 'y', attempt: 2 })],
    ...[line('second', { runId: 'w', nonce: 'y', attempt: 2 }), line('first', { runId: 'v', nonce: 'z' })],
  ],
  readings: [{ reader: 'r', eventIds: ['e.2', 'e.3'], gaps: 0 }],
  revocations: [{ token: 'gone', acknowledgedAt: 0 }],
  ticketUses: [{ name: 't', accepted: 1 }],
  leftovers: [{ what: 'a run', ms: 100 }],
}

const NAP = run('nap', {
  targetId: 'nap',
  events: [
    ...[event('nap.turn', { nonce: 'x' }), event('nap.late', { nonce: 'x' }), event('run.suspended')],
    ...[event('run.resumed'), event('nap.turn', { nonce: 'y' }), event('run.completed')],
  ],
})

const GOOD_DUMP: Dump = {
  runs: [RUN, NAP],
  sessions: new Map([['s', { title: 'new' }]]),
  followed: ['e.1', 'e.2', 'e.3'],
  fires: [{ scheduledAt: '2026-01-01T00:00:01.000Z', runId: 'a' }, { scheduledAt: '2026-01-01T00:00:02.000Z' }],
  audit: { ok: true, entries: new Set(['tokens.revoke t']) },
  executingKeys: [],
  repeated: new Map([['k', { answer: `200 ${TEXT}`, isReplayed: true }]]),
}

interface Planted {
  readonly history?: Partial<History>
  readonly dump?: Partial<Dump>
}

const lane = (id: string, types: readonly DumpedEvent[], over: Partial<DumpedRun> = {}) =>
  run(id, { targetId: 'lane', events: types, ...over })

/** Histories that are good but for one violation, by invariant. */
const PLANTED: Readonly<Record<keyof typeof INVARIANTS, Readonly<Record<string, Planted>>>> = {
  'each key has one run and one answer': {
    'another answer': { history: { exchanges: [exchange({ key: 'k', text: TEXT }), exchange({ key: 'k' })] } },
    'another answer at the end': { dump: { repeated: new Map([['k', { answer: '200 {}', isReplayed: true }]]) } },
    'a key that is executed again': {
      dump: { repeated: new Map([['k', { answer: `200 ${TEXT}`, isReplayed: false }]]) },
    },
    'two runs of one request': { dump: { runs: [RUN, run('b', { name: RUN.name ?? '' })] } },
    'two runs of one key': {
      history: {
        exchanges: [exchange({ key: 'k', text: TEXT }), exchange({ key: 'k', status: 202, text: '{"runId":"b"}' })],
      },
    },
    'a key without a response': { dump: { executingKeys: ['k'] } },
  },
  'nothing acknowledged is missing': {
    'a run': { dump: { runs: [] } },
    'the result of a run': { dump: { runs: [{ ...RUN, result: 2 }] } },
    'the end of a run': { dump: { runs: [{ ...RUN, finishReason: 'interrupted' }] } },
    'a session': { dump: { sessions: new Map() } },
    'the change of a session': { dump: { sessions: new Map([['s', { title: 'old' }]]) } },
    'an audit entry': { dump: { audit: { ok: true, entries: new Set() } } },
  },
  'a client that only follows cursors receives each event once, in order': {
    'a missing event': { dump: { followed: ['e.2', 'e.25', 'e.3'] } },
    'a missing last event': { dump: { followed: ['e.2', 'e.3', 'e.4'] } },
    'a repeated event': { history: { readings: [{ reader: 'r', eventIds: ['e.2', 'e.2', 'e.3'], gaps: 0 }] } },
    'an unknown event': { history: { readings: [{ reader: 'r', eventIds: ['e.2', 'e.3', 'e.9'], gaps: 0 }] } },
    'a gap': { history: { readings: [{ reader: 'r', eventIds: ['e.2', 'e.3'], gaps: 1 }] } },
    'an empty stream': { history: { readings: [{ reader: 'r', eventIds: [], gaps: 0 }] } },
  },
  'a revoked token is refused': {
    'a late success': { history: { exchanges: [exchange({ token: 'gone', sentAt: 1_001 })] } },
  },
  'a ticket opens one socket': { 'two sockets': { history: { ticketUses: [{ name: 't', accepted: 2 }] } } },
  'the audit chain verifies': { 'a broken chain': { dump: { audit: { ...GOOD_DUMP.audit, ok: false } } } },
  'nothing belongs to a dead process': { 'a run': { history: { leftovers: [{ what: 'a run', ms: 3_001 }] } } },
  'a run has one end, which is its last event': {
    'two ends': { dump: { runs: [{ ...RUN, events: [event('run.failed'), event('run.completed')] }] } },
    'an event after the end': { dump: { runs: [{ ...RUN, events: [event('run.completed'), event('text.delta')] }] } },
    'another end': { dump: { runs: [{ ...RUN, events: [event('run.failed')] }] } },
    'no end': { dump: { runs: [RUN, run('b', { status: 'running', events: [event('run.started')] })] } },
  },
  'positions increase': {
    'a repeated position': {
      dump: { runs: [{ ...RUN, events: [event('run.started', {}, 7), event('run.completed', {}, 7)] }] },
    },
    'a position of two runs': {
      dump: { runs: [RUN, run('b', { events: [...RUN.events] })] },
    },
  },
  'one run at a time executes in a lane': {
    'an overlap': {
      dump: {
        runs: [
          ...[RUN, lane('b', [event('run.started', {}, 101), event('run.completed', {}, 103)])],
          lane('c', [event('run.started', {}, 102), event('run.completed', {}, 104)]),
        ],
      },
    },
    'an overlap after a suspension': {
      dump: {
        runs: [
          RUN,
          lane('b', [
            ...[event('run.started', {}, 101), event('run.suspended', {}, 102), event('run.resumed', {}, 105)],
            event('run.completed', {}, 107),
          ]),
          lane('c', [event('run.started', {}, 103), event('run.completed', {}, 106)]),
        ],
      },
    },
  },
  'a step with a recorded result is not entered again': {
    'a step that was entered after its result was used': {
      history: { ledger: [line('effect'), line('first'), line('second'), line('first', { attempt: 2 })] },
    },
    'two executions of one attempt': { history: { ledger: [line('effect'), line('first'), line('first')] } },
    'two results of one step': {
      history: {
        ledger: [line('effect'), line('second', { nonce: 'x' }), line('second', { nonce: 'y', attempt: 2 })],
      },
    },
    'two recorded results': {
      dump: {
        runs: [{ ...RUN, events: [event('step.end', { seq: 0 }), event('step.end', { seq: 0 }), ...RUN.events] }],
      },
    },
  },
  'an effect happens once': {
    'no effect': { history: { ledger: [] } },
    'two effects': { history: { ledger: [line('effect'), line('effect', { attempt: 2 })] } },
    'two effects of one attempt': {
      history: { ledger: [line('effect'), line('effect', { runId: 'b' }), line('effect', { runId: 'b', pid: 2 })] },
      dump: { runs: [RUN, run('b')] },
    },
    'a completed run without an effect': { dump: { runs: [RUN, run('b')] } },
  },
  'an occurrence fires once': {
    'two fires': { dump: { fires: [...GOOD_DUMP.fires, ...GOOD_DUMP.fires] } },
    'two runs': {
      dump: {
        runs: [RUN, ...['b', 'c'].map((id) => run(id, { targetId: 'beat', scheduledAt: '2026-01-01T00:00:01.000Z' }))],
      },
    },
    'a fire without its run': { dump: { fires: [{ scheduledAt: '2026-01-01T00:00:01.000Z', runId: 'lost' }] } },
    'a missing occurrence': { dump: { fires: [...GOOD_DUMP.fires, { scheduledAt: '2026-01-01T00:00:04.000Z' }] } },
  },
  'an earlier attempt writes nothing after the next one starts': {
    'a late event': {
      dump: {
        runs: [
          {
            ...RUN,
            events: [
              ...[event('run.started', { attempt: 1 }), event('run.started', { attempt: 2 })],
              ...[event('text.delta', { attempt: 1 }), event('run.completed', { attempt: 2 })],
            ],
          },
        ],
      },
    },
  },
  'an earlier execution writes nothing after the run was resumed': {
    'a late event': {
      dump: {
        runs: [
          {
            ...RUN,
            events: [
              ...[event('nap.turn', { nonce: 'x' }), event('run.suspended'), event('run.resumed')],
              ...[event('nap.late', { nonce: 'x' }), event('run.completed')],
            ],
          },
        ],
      },
    },
  },
}

describe('judge', () => {
  it('finds nothing in a good history', () => {
    expect(judge(GOOD_HISTORY, GOOD_DUMP)).toEqual([])
  })

  for (const [invariant, planted] of Object.entries(PLANTED)) {
    for (const [what, { history, dump }] of Object.entries(planted)) {
      it(`finds ${what}: ${invariant}`, () => {
        const found = judge({ ...GOOD_HISTORY, ...history }, { ...GOOD_DUMP, ...dump })

        expect(found.map((violation) => violation.split(': ')[0])).toContain(invariant)
      })
    }
  }
})
