import type { LogFields, Logger } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import type { RunContext } from '../targets/run-context.ts'
import { agentOf, createTestEngine, outcomeOf } from './test-engine.fixture.ts'

const TRACE = 'a'.repeat(32)
const traceparent = `00-${TRACE}-${'b'.repeat(16)}-01`

interface Line {
  readonly level: string
  readonly message: string
  readonly fields: LogFields | undefined
  readonly error?: unknown
}

function recorder() {
  const lines: Line[] = []
  const recordAs = (level: string) => (message: string, fields?: LogFields) =>
    void lines.push({ level, message, fields })
  const logger: Logger = {
    debug: recordAs('debug'),
    info: recordAs('info'),
    warn: recordAs('warn'),
    error: (message, error, fields) => void lines.push({ level: 'error', message, fields, error }),
  }
  return { logger, lines }
}

describe('the log of a run', () => {
  it('contains one line for the start and one for the end, with run id and trace id but without content', async () => {
    const { logger, lines } = recorder()
    const engine = createTestEngine({ logger, agents: [agentOf('echo', async (input) => input)] })

    const { runId } = outcomeOf(await engine.run('echo', { body: { input: 'a-private-word' }, traceparent }))

    const own = { runId, traceId: TRACE, agentId: 'echo', attempt: 1 }
    expect(lines).toMatchObject([
      { message: 'run started', fields: own },
      { message: 'run completed', fields: { ...own, finishReason: 'completed', durationMs: 0 } },
    ])
    expect(JSON.stringify(lines)).not.toContain('a-private-word')
  })

  it('contains the error of a failed run with its stack and its causes, at the level error', async () => {
    const { logger, lines } = recorder()
    const cause = new TypeError('card declined')
    const fail = () => Promise.reject(Object.assign(new RangeError('cannot pay', { cause }), { code: 'payment' }))
    const engine = createTestEngine({ logger, agents: [agentOf('fails', fail)] })

    const { runId } = outcomeOf(await engine.run('fails'))

    const { level, message, error, fields } = lines.at(-1) ?? {}
    expect({ level, message, fields }).toMatchObject({
      level: 'error',
      message: 'run failed',
      fields: { runId, error: 'payment' },
    })
    expect(error).toMatchObject({ name: 'RangeError', message: 'cannot pay', code: 'payment' })
    expect((error as Error).stack).toMatch(/^RangeError: cannot pay\n[\s\S]*run-log\.test\.ts/)
    const logged = (error as { cause: Error }).cause
    expect([logged.name, logged.message]).toEqual(['TypeError', 'card declined'])
    expect(logged.stack).toMatch(/^TypeError: card declined\n[\s\S]*run-log\.test\.ts/)
  })

  it('does not contain credentials of the error', async () => {
    const { logger, lines } = recorder()
    const cause = new Error('connect postgres://app:s3cret-word@db.example/tickets')
    const fail = () => Promise.reject(new Error('sent Authorization: Bearer s3cret-word-0123456789', { cause }))
    const engine = createTestEngine({ logger, agents: [agentOf('fails', fail)] })

    await engine.run('fails')

    const error = lines.at(-1)?.error as Error
    expect([error.message, error.stack, (error.cause as Error).message, (error.cause as Error).stack]).toEqual(
      Array(4).fill(expect.stringContaining('[redacted')),
    )
    expect([error.stack, (error.cause as Error).stack].join()).not.toContain('s3cret')
  })

  it('names the step that ended the run', async () => {
    const { logger, lines } = recorder()
    const code = (_: unknown, { step }: RunContext) => step('charge', () => Promise.reject(new Error('declined')))
    const engine = createTestEngine({ logger, agents: [agentOf('pays', code)] })

    await engine.run('pays')

    expect(lines.at(-1)).toMatchObject({ message: 'run failed', fields: { error: 'step-failed', step: 'charge' } })
    expect(lines.at(-1)?.error).toMatchObject({ cause: { stack: expect.stringContaining('run-log.test.ts') } })
  })

  it.each<[call: string, code: (context: RunContext) => unknown]>([
    ['step charge', ({ step }) => step('charge', () => new Promise(() => undefined))],
    ['sleep a while', ({ sleep }) => sleep('a while', 1_000)],
    ['approval refund', ({ approval }) => approval('refund')],
    ['child talk', ({ invoke }) => invoke('talk')],
  ])('warns about a durable call that a completed run did not await: %s', async (call, code) => {
    const { logger, lines } = recorder()
    const forgets = agentOf('forgets', async (_, context) => {
      Promise.resolve(code(context)).catch(() => undefined)
    })
    const engine = createTestEngine({ logger, agents: [forgets, agentOf('talk', async () => 'hi')] })

    const { runId } = outcomeOf(await engine.run('forgets'))

    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        message: `the run completed while the ${call} was open: await it`,
        fields: expect.objectContaining({ runId, agentId: 'forgets' }),
      }),
    )
  })

  it('does not warn when every durable call was awaited, also not after a re-execution', async () => {
    const { logger, lines } = recorder()
    const awaits = agentOf('awaits', async (_, { step, sleep, emit }) => {
      void emit('note.one', {})
      await Promise.all([step('a', () => 1), step('b', () => 2), sleep('c', 1_000)])
    })
    const engine = createTestEngine({ logger, agents: [awaits] })

    const answer = engine.run('awaits', { answer: 'accepted' })
    await engine.advance(0)
    await engine.advance(1_000)

    const { runId } = outcomeOf(await answer)
    expect(await engine.find(runId)).toMatchObject({ status: 'completed' })
    expect(lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])
  })

  it('names the call that code makes after its run has ended', async () => {
    let context: RunContext | undefined
    const leaves = agentOf('leaves', async (_, own) => {
      context = own
    })
    const engine = createTestEngine({ agents: [leaves] })
    await engine.run('leaves')

    const refusal = { code: 'run-not-active', hint: expect.stringMatching(/^await /) }
    await expect(context?.step('charge', () => 1)).rejects.toMatchObject({
      ...refusal,
      message: 'the run has ended; the durable call charge was not made',
    })
    await expect(context?.emit('note.one', {})).rejects.toMatchObject({
      ...refusal,
      message: 'the run has ended; the event note.one was not recorded',
    })
  })

  it('includes lines that the code of the run writes, always with the real run id', async () => {
    const { logger, lines } = recorder()
    const talk = agentOf('talk', async (_, { log }) => log.warn('hello', { runId: 'forged', size: 1 }))
    const engine = createTestEngine({ logger, agents: [talk] })

    const { runId } = outcomeOf(await engine.run('talk', { traceparent }))

    expect(lines).toContainEqual({ level: 'warn', message: 'hello', fields: { size: 1, runId, traceId: TRACE } })
  })

  it('never fails the run, whatever the code logs', async () => {
    const circular: Record<string, never> = {}
    Object.assign(circular, { self: circular })
    const { logger, lines } = recorder()
    const strict = (message: string, fields?: object) =>
      void lines.push({ level: 'info', message: `${message.length}`, fields: JSON.parse(JSON.stringify(fields)) })
    const talk = agentOf('talk', async (_, { log }) => {
      log.info('circular', circular)
      log.info('big', { n: 1n as never })
      log.error('circular', new Error('no'), circular)
      log.info(Symbol('s') as unknown as string)
      log.info({
        toString: () => {
          throw new Error('no text')
        },
      } as unknown as string)
      return 'done'
    })
    const engine = createTestEngine({
      logger: { ...logger, info: strict, error: (message, _, fields) => strict(message, fields) },
      agents: [talk],
    })

    expect(outcomeOf(await engine.run('talk'))).toMatchObject({ status: 'completed', result: 'done' })
    expect(lines.filter(({ message }) => message.startsWith('a log line of the run cannot be written: '))).toHaveLength(
      4,
    )
  })
})
