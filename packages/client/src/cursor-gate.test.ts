import { describe, expect, it } from 'vitest'
import { createCursorGate, isAtOrAfter } from './cursor-gate.ts'

describe('createCursorGate', () => {
  it('admits each event once, in order', () => {
    const gate = createCursorGate(undefined)

    expect(['e.1', 'e.3', 'e.3', 'e.2', 'e.10', 'e.9'].map((id) => gate.admits(id))).toEqual([
      true,
      true,
      false,
      false,
      true,
      false,
    ])
    expect(gate.cursor()).toBe('e.10')
  })

  it('admits only events after its initial cursor', () => {
    const gate = createCursorGate('e.5')

    expect([gate.admits('e.5'), gate.admits('e.4'), gate.admits('e.6')]).toEqual([false, false, true])
  })

  it('moves to a position that the server sends without an event, but never backwards', () => {
    const gate = createCursorGate(undefined)

    gate.prime('e.7')
    gate.prime('e.3')

    expect(gate.cursor()).toBe('e.7')
    expect(gate.admits('e.7')).toBe(false)
  })

  it('admits events of a log that restarted below its cursor only after a gap', () => {
    const gate = createCursorGate('e.90')
    expect(gate.admits('e.4')).toBe(false)

    expect(gate.admitsGap('e.90')).toBe(true)

    expect([gate.admits('e.4'), gate.admits('e.4'), gate.admits('e.5')]).toEqual([true, false, true])
    expect(gate.cursor()).toBe('e.5')
  })

  it('admits events of another epoch after a gap and continues in that epoch', () => {
    const gate = createCursorGate('old.90')

    gate.admitsGap('old.90')

    expect([gate.admits('new.1'), gate.admits('new.1')]).toEqual([true, false])
  })

  it('reports the same gap again only after an event', () => {
    const gate = createCursorGate('old.9')
    expect([gate.admitsGap('old.9'), gate.admitsGap('old.9')]).toEqual([true, false])
    gate.admits('new.5')
    expect(gate.admitsGap('new.5')).toBe(true)
  })

  it('checks an id of unknown form only for equality with the last id', () => {
    const gate = createCursorGate(undefined)

    expect(['x', 'x', 'w'].map((id) => gate.admits(id))).toEqual([true, false, true])
  })
})

describe('isAtOrAfter', () => {
  it.each([
    ['e.5', 'e.5', true],
    ['e.6', 'e.5', true],
    ['e.4', 'e.5', false],
    ['f.9', 'e.5', false],
  ])('for cursor %s and event %s, returns %s', (cursor, eventId, expected) => {
    expect(isAtOrAfter(cursor, eventId)).toBe(expected)
  })
})
