import { describe, expect, it } from 'vitest'
import { begin, next } from './supervision-machine.ts'
import type { Phase, SupervisionState } from './supervision-state.ts'
import {
  CANDIDATE,
  EVENTS,
  type EventName,
  end,
  FACTS,
  forward,
  fresh,
  kill,
  NEXT,
  PHASES,
  type PhaseName,
  postponing,
  REFUSAL,
  restartAt,
  SERVER,
  showListening,
  showRefused,
  spawn,
  TABLE,
} from './supervision-table.fixture.ts'

const stateIn = (phase: Phase): SupervisionState => ({ phase, spawned: NEXT, restartsAfterExit: true })

const pairs = (Object.keys(PHASES) as PhaseName[]).flatMap((phase) =>
  (Object.keys(EVENTS) as EventName[]).map((event) => ({ phase, event, row: TABLE[phase][event] })),
)
const handled = pairs.flatMap(({ phase, event, row }) => (row === undefined ? [] : [{ phase, event, row }]))
const ignored = pairs.filter(({ row }) => row === undefined)

describe('the supervision machine', () => {
  it.each(handled)('handles $event while $phase', ({ phase, event, row: [expected, ...commands] }) => {
    const [state, executed] = next(stateIn(PHASES[phase]), EVENTS[event])

    expect(state.phase).toEqual(expected)
    expect(executed).toEqual(commands)
    expect(state.spawned).toBe(executed.some(({ type }) => type === 'spawn') ? NEXT + 1 : NEXT)
  })

  it.each(ignored)('ignores $event while $phase', ({ phase, event }) => {
    const state = stateIn(PHASES[phase])

    expect(next(state, EVENTS[event])).toEqual([state, []])
  })

  it.each(Object.values(PHASES))('ignores reports of a discarded process while $name', (phase) => {
    const state = stateIn(phase)
    for (const type of ['prepared', 'listening', 'refused', 'exited', 'replace-timed-out'] as const) {
      const event = { type, id: 9, facts: FACTS, refusal: REFUSAL, exitCode: 3 }
      expect(next(state, event), type).toEqual([state, []])
    }
  })
})

describe('the supervision machine at the first start', () => {
  const [first] = begin(true)

  it('spawns a process that prepares its configuration', () => {
    expect(begin(true)).toEqual([
      {
        phase: {
          name: 'preparing',
          candidate: { id: 0, restart: undefined, firstChangeMs: undefined, postponed: undefined },
        },
        spawned: 1,
        restartsAfterExit: true,
      },
      [spawn(0)],
    ])
  })

  it('ends with the exit code of a refusal', () => {
    const [state, commands] = next(first, { type: 'refused', id: 0, refusal: REFUSAL })

    expect(state.phase).toEqual(PHASES.ended)
    expect(commands).toEqual([showRefused(false), end(2)])
  })

  it.each([
    [3, 3],
    [0, 1],
  ])('ends with an error when the process exits with %i before it listens', (exitCode, expected) => {
    const [state, commands] = next(first, { type: 'exited', id: 0, exitCode })

    expect(state.phase).toEqual(PHASES.ended)
    expect(commands.at(-1)).toEqual(end(expected))
  })

  it('postpones a change until the server listens', () => {
    const [postponed, none] = next(first, EVENTS.restart)
    expect(none).toEqual([])
    const [starting] = next(postponed, { type: 'prepared', id: 0 })
    const [state, commands] = next(starting, { type: 'listening', id: 0, facts: FACTS })

    expect(state.phase).toEqual({ name: 'checking', server: 0, candidate: { ...fresh, id: 1 } })
    expect(commands).toEqual([{ type: 'show-listening', facts: FACTS, restart: undefined }, spawn(1)])
  })
})

describe('the supervision machine with a postponed change', () => {
  it.each([
    ['starting', 'listening', { name: 'checking', server: CANDIDATE, candidate: fresh }, showListening],
    ['starting', 'refused', { name: 'preparing', candidate: fresh }, showRefused(false)],
    ['checking', 'refused', { name: 'checking', server: SERVER, candidate: fresh }, showRefused(true)],
    ['replacing', 'refused', { name: 'rechecking', server: SERVER, candidate: fresh }, showRefused(false)],
  ] as const)(
    'spawns a process for the change when, in the phase %s, the candidate reports %s',
    (phase, event, expected, shown) => {
      const [state, commands] = next(stateIn({ ...PHASES[phase], candidate: postponing }), EVENTS[event])

      expect(state.phase).toEqual(expected)
      expect(commands).toEqual([shown, spawn(NEXT)])
    },
  )

  it('discards the change on a signal', () => {
    const [stopping] = next(stateIn({ ...PHASES.starting, candidate: postponing }), EVENTS.signal)
    const [state, commands] = next(stopping, EVENTS.listening)

    expect(state.phase).toEqual({ name: 'stopping', server: CANDIDATE, isForced: false })
    expect(commands).toEqual([showListening])
  })
})

describe('the supervision machine in a burst of changes', () => {
  it.each(['preparing', 'checking', 'rechecking', 'replacing'] as const)(
    'keeps the candidate in the phase %s once changes have continued for three seconds',
    (phase) => {
      const [early, discarding] = next(stateIn(PHASES[phase]), { type: 'restart', restart: restartAt(3_999) })
      const [late, none] = next(stateIn(PHASES[phase]), { type: 'restart', restart: restartAt(4_000) })

      expect(discarding).toEqual([kill(CANDIDATE), spawn(NEXT)])
      expect(early.phase).toMatchObject({ candidate: { id: NEXT, firstChangeMs: 1_000 } })
      expect(none).toEqual([])
      expect(late.phase).toMatchObject({ name: phase, candidate: { id: CANDIDATE, postponed: restartAt(4_000) } })
    },
  )
})

describe('the supervision machine at its end', () => {
  it('ends with the exit code of the server when no files are watched', () => {
    const [state, commands] = next(
      { ...stateIn(PHASES.serving), restartsAfterExit: false },
      EVENTS['exit of the server'],
    )

    expect(state.phase).toEqual(PHASES.ended)
    expect(commands).toEqual([end(70)])
  })

  it.each(['stopping', 'stopping-start'] as const)(
    'forwards a third signal in the phase %s without setting another timer',
    (name) => {
      const [forced] = next(stateIn(PHASES[name]), EVENTS.signal)
      const [state, commands] = next(forced, EVENTS.signal)

      expect(state).toEqual(forced)
      expect(commands).toEqual([forward(name === 'stopping' ? SERVER : CANDIDATE)])
    },
  )

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 1],
  ] as const)('kills a server that a second %s does not stop, and ends with code %i', (signal, exitCode) => {
    const [, commands] = next(stateIn({ ...PHASES.stopping, isForced: true }), { type: 'stop-timed-out', signal })

    expect(commands).toEqual([kill(SERVER), end(exitCode)])
  })
})
