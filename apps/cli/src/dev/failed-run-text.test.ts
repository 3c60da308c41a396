import { describe, expect, it } from 'vitest'
import { failedRunText } from './failed-run-text.ts'

const FIELDS = { agentId: 'triage', runId: 'run_1', durationMs: 12, error: 'run-failed' }
const VIEW = { cwd: '/srv/app', paint: (_: string, text: string) => text }

const errorOf = (message: string, stack: string, over: object = {}) =>
  Object.assign(new TypeError(message), { stack: `TypeError: ${message}\n${stack}` }, over)

const OWN = '    at lookUp (file:///srv/app/agents/triage%20v2.ts:12:40)\n    at async run (/srv/lib/run.ts:3:5)'
const FOREIGN = '    at send (/srv/app/node_modules/mail/index.js:1:2)\n    at tick (node:internal/process:1:1)'

describe('failedRunText', () => {
  it('shows the error and the frames of the user with file, line and column', () => {
    expect(failedRunText(errorOf('no c', `${OWN}\n${FOREIGN}`), FIELDS, VIEW)).toBe(
      [
        '  ✗ run failed triage: TypeError: no c  12 ms  run_1',
        '      at lookUp (agents/triage v2.ts:12:40)',
        '      at async run (/srv/lib/run.ts:3:5)',
        '',
      ].join('\n'),
    )
  })

  it('shows the causes with their frames', () => {
    const cause = errorOf('declined', OWN.split('\n')[0] ?? '', { cause: new Error('') })

    expect(failedRunText(errorOf('no c', FOREIGN, { cause }), FIELDS, VIEW)).toMatch(
      /\n {6}at tick \(.*\n {4}caused by TypeError: declined\n {6}at lookUp \(.*\n {4}caused by Error\n/,
    )
  })

  it('shows what a step threw', () => {
    const failed = errorOf('charge: declined', FOREIGN, { code: 'step-failed', cause: errorOf('declined', OWN) })
    const text = failedRunText(failed, { ...FIELDS, step: 'charge' }, VIEW)

    expect(text).toMatch(/^ {2}✗ run failed triage in step charge: TypeError: declined {2}12 ms/)
    expect(text).not.toContain('caused by')
  })

  it('prints the error in red', () => {
    const paint = (colour: string, text: string) => `<${colour}>${text}</>`

    expect(failedRunText('no', FIELDS, { ...VIEW, paint })).toContain('<red>✗ run failed triage: no</>')
  })

  it('does not let a message control the terminal or forge a line', () => {
    const text = failedRunText(errorOf('a\n  ✓ triage completed\u001b[2J', OWN), FIELDS, VIEW)

    expect(text.split('\n')).toHaveLength(4)
    expect(text).not.toContain('\u001b')
  })
})
