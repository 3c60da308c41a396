import { afterEach, describe, expect, it, vi } from 'vitest'
import { createShownState } from './shown-state.ts'

afterEach(() => vi.restoreAllMocks())

const MEMBERS = 5_000
const PATCHES = 200

describe('createShownState', () => {
  it('does not copy a state with many members for each patch that is checked, emitted, or rejected', () => {
    const shown = createShownState()
    const state = Object.fromEntries(Array.from({ length: MEMBERS }, (_, index) => [`k${index}`, index]))
    shown.read('part.state', { state })()
    const keys = vi.spyOn(Object, 'keys')

    for (let index = 0; index < PATCHES; index++) {
      const patch = [
        { op: 'test', path: `/k${index}`, value: index },
        { op: 'remove', path: `/k${index}` },
      ]
      expect(shown.patched([...patch, { op: 'remove', path: '/unknown' }]).ok).toBe(false)
      expect(shown.patched(patch).ok).toBe(true)
      // The event is not accepted, so the state stays.
      shown.read('part.state-delta', { patch })
      shown.read('part.state-delta', { patch })()
    }

    const listed = keys.mock.results.reduce((sum, { value }) => sum + (value as readonly string[]).length, 0)
    vi.restoreAllMocks()
    expect(listed).toBeLessThan(4 * MEMBERS + 100 * PATCHES)
    const rest = Object.fromEntries(Object.entries(state).slice(PATCHES))
    expect(shown.patched([{ op: 'test', path: '', value: rest }]).ok).toBe(true)
  })
})
