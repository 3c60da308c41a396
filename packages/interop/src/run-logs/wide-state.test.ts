import { afterEach, describe, expect, it, vi } from 'vitest'
import { createAgUiProjector } from '../ag-ui/projector.ts'
import { createAiSdkProjector } from '../ai-sdk/projector.ts'
import { logOf, RUN } from './events.fixture.ts'

afterEach(() => vi.restoreAllMocks())

const MEMBERS = 5_000
const PATCHES = 200

/** A run whose state has many members and is patched often. */
const logWith = (state: object) =>
  logOf([
    ['run.started', { status: 'running', attempt: 1 }],
    ['part.state', { state }],
    ...Array.from({ length: PATCHES }, (_, index): [string, unknown] => [
      'part.state-delta',
      { patch: [{ op: 'replace', path: `/k${index}`, value: 'new' }] },
    ]),
    ['run.completed', { status: 'completed', attempt: 1, finishReason: 'completed' }],
  ])

const wide = (): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: MEMBERS }, (_, index) => [`k${index}`, index]))

const RUN_VIEW = { runId: RUN, agentId: 'mail' }
const PROJECTORS = [
  ['AG-UI', () => createAgUiProjector({ ...RUN_VIEW, threadId: 't', clientRunId: 'r', history: [] })],
  ['the AI SDK', () => createAiSdkProjector(RUN_VIEW, 7)],
] as const

describe.each(PROJECTORS)('the stream of %s', (_, create) => {
  it.each([
    ['a state of usual length', {}],
    ['a state that is too long to be shown live', { text: 'x'.repeat(300_000) }],
  ])('is written without copying %s for each patch', (__, more) => {
    const projector = create()
    const log = logWith({ ...wide(), ...more })
    const keys = vi.spyOn(Object, 'keys')

    const frames = log.flatMap((event) => projector.next(event))

    const listed = keys.mock.results.reduce((sum, { value }) => sum + (value as readonly string[]).length, 0)
    vi.restoreAllMocks()
    expect(listed).toBeLessThan(4 * MEMBERS + 50 * PATCHES)
    const patched = Object.fromEntries(Array.from({ length: PATCHES }, (___, index) => [`k${index}`, 'new']))
    const states = [...frames, ...projector.opening('all')].flatMap(({ data }) => {
      const { type, snapshot, data: state } = data === '[DONE]' ? { type: '' } : JSON.parse(data)
      return type === 'STATE_SNAPSHOT' ? [snapshot] : type === 'data-state' ? [state] : []
    })
    expect(states.at(-1)).toEqual({ ...wide(), ...more, ...patched })
  })

  it('shows each state as it was when it was shown, though later patches change it', () => {
    const projector = create()
    const frames = logWith({ k0: 0, k1: 1 }).flatMap((event) => projector.next(event))
    const first = frames.map(({ data }) => data).find((data) => /STATE_SNAPSHOT|data-state/.test(data))
    expect(first).toContain('{"k0":0,"k1":1}')
  })
})
