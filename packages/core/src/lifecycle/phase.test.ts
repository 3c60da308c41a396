import { describe, expect, it } from 'vitest'
import { createPhase } from './phase.ts'

describe('createPhase', () => {
  it('starts in the phase "starting" and returns the last phase entered', () => {
    const phase = createPhase()

    expect(phase.current()).toBe('starting')
    for (const next of ['ready', 'draining', 'stopped'] as const) {
      phase.enter(next)
      expect(phase.current()).toBe(next)
    }
  })
})
