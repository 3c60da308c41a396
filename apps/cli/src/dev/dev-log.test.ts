import { createLogger } from '@perdure/platform-node'
import { describe, expect, it } from 'vitest'
import { createDevLog, OWN_REQUEST_ID } from './dev-log.ts'
import { createDevTracer } from './dev-tracer.ts'

function setUp(env: Readonly<Record<string, string>> = {}) {
  const written: string[] = []
  const stderr = { write: (text: string) => written.push(text), isTTY: env.TERM !== undefined }
  const rest = createLogger({ json: false, stream: stderr })
  return {
    log: createDevLog({ env, stderr, cwd: '/srv/app' }, rest),
    tracer: createDevTracer({ env, stderr }),
    text: () => written.join(''),
  }
}

describe('the log of perdure dev', () => {
  it('writes one line per request', () => {
    const { log, text } = setUp()
    log.info('request', {
      requestId: 'req_1',
      method: 'POST',
      route: '/v1/agents/:agentId/run',
      status: 200,
      durationMs: 39,
    })
    log.warn('request', {
      requestId: 'req_2',
      method: 'GET',
      route: null,
      status: 404,
      durationMs: 1,
      error: 'route-not-found',
    })

    expect(text()).toBe('POST /v1/agents/:agentId/run 200 39 ms\nGET (no such route) 404 1 ms route-not-found\n')
  })

  it('does not report a request without an operation as an unknown route if it was answered', () => {
    const { log, text } = setUp()
    log.info('request', { requestId: 'req_1', method: 'GET', route: null, status: 302, durationMs: 1 })

    expect(text()).toBe('GET (no operation) 302 1 ms\n')
  })

  it('does not write the request of the command itself', () => {
    const { log, text } = setUp()
    log.info('request', { requestId: OWN_REQUEST_ID, method: 'POST', route: '/v1/console/codes', status: 201 })

    expect(text()).toBe('')
  })

  it('writes one line when a run starts and ends, with its error', () => {
    const { log, text } = setUp()
    log.info('run started', { agentId: 'triage', attempt: 2, runId: 'run_1' })
    log.info('run aborted', { agentId: 'triage', attempt: 1, runId: 'run_1', durationMs: 12 })
    log.error('run failed', 'no', { agentId: 'triage', attempt: 1, runId: 'run_1', durationMs: 12 })

    expect(text()).toBe(
      '  ▶ triage started (attempt 2)  run_1\n  ✗ triage aborted 12 ms  run_1\n  ✗ run failed triage: no  12 ms  run_1\n',
    )
  })

  it('writes every other line unchanged', () => {
    const { log, text } = setUp()
    log.warn('slow commit', { ms: 3 })
    log.error('stop failed', new Error('no'))

    expect(text()).toMatch(/ warn {2}slow commit ms=3\n.* error stop failed\n {2}Error: no\n/)
  })

  it('uses colours only on a terminal', () => {
    const [plain, coloured] = [setUp(), setUp({ TERM: 'xterm' })]
    for (const { log } of [plain, coloured]) log.info('run completed', { agentId: 'a', runId: 'run_1', durationMs: 1 })

    expect(plain.text()).not.toContain('\u001b')
    expect(coloured.text()).toContain('\u001b[32m✓ a completed')
  })

  it('writes one indented line per try of a step and per tool', () => {
    const { tracer, text } = setUp()
    const run = tracer.start('run.agent', { 'perdure.run.id': 'run_1' } as never, undefined)
    run.start('step', { 'perdure.step.name': 'charge', 'perdure.step.attempt': 2 } as never).end({ error: 'card' })
    run.start('tool', { 'gen_ai.tool.name': 'pay' } as never).end()
    run.end()

    expect(text()).toMatch(/^ {4}✗ step charge \(try 2\) \d+ ms card\n {4}✓ tool pay \d+ ms\n$/)
  })

  it.each([
    ['rejects', () => Promise.reject(new TypeError('no\nplan'))],
    [
      'throws',
      () => {
        throw new TypeError('no\nplan')
      },
    ],
  ])('names the error of a step whose code %s', async (_, code) => {
    const { tracer, text } = setUp()
    const step = tracer.start('step', { 'perdure.step.name': 'look up' } as never, undefined)

    await expect((async () => step.within(code))()).rejects.toThrow('no\nplan')
    step.end({ error: 'run-failed' })

    expect(text()).toMatch(/^ {4}✗ step look up \d+ ms TypeError: no plan\n$/)
  })

  it('redacts the error of a step', async () => {
    const { tracer, text } = setUp()
    const step = tracer.start('step', { 'perdure.step.name': 'look up' } as never, undefined)
    const code = () => Promise.reject(new Error('the key sk-proj-abcdefghijklmnop is wrong'))

    await expect((async () => step.within(code))()).rejects.toThrow('sk-proj')
    step.end({ error: 'run-failed' })

    expect(text()).toContain('Error: the key [redacted:credential] is wrong')
    expect(text()).not.toContain('sk-proj')
  })
})
