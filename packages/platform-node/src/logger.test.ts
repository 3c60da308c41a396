import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLogger, type LoggerOptions } from './logger.ts'

const TOKEN_PATTERN = /perdure_(live|test|local)_v1_\w+/
const ESC = String.fromCharCode(27)

function recorder(options: LoggerOptions = {}) {
  const written: string[] = []
  const logger = createLogger({ ...options, stream: { write: (text: string) => written.push(text) } })
  return { logger, written, entry: (index = 0) => JSON.parse(written[index]!) as Record<string, unknown> }
}

describe('createLogger', () => {
  it('writes one JSON line per call', () => {
    const { logger, written, entry } = recorder()
    logger.info('run started', { runId: 'run_1', attempt: 1, retried: undefined })
    logger.warn('slow commit')

    expect(written).toHaveLength(2)
    expect(written.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true)
    expect(entry()).toEqual({ level: 'info', time: expect.any(String), msg: 'run started', runId: 'run_1', attempt: 1 })
    expect(new Date(entry().time as string).toISOString()).toBe(entry().time)
    expect(entry(1)).toMatchObject({ level: 'warn', msg: 'slow commit' })
  })

  it('drops lines below its level', () => {
    const { logger, written } = recorder({ level: 'warn' })
    logger.debug('a')
    logger.info('b')
    logger.warn('c')
    logger.error('d', new Error('e'))

    expect(written.map((line) => JSON.parse(line).msg)).toEqual(['c', 'd'])
  })

  it('writes nothing when silent', () => {
    const { logger, written } = recorder({ level: 'silent' })
    logger.error('a', new Error('b'))

    expect(written).toEqual([])
  })

  it('logs an error with its identifier, stack and causes', () => {
    const { logger, entry } = recorder()
    const cause = Object.assign(new Error('disk full'), { code: 'ENOSPC' })
    logger.error('commit failed', new Error('cannot write', { cause }), { runId: 'run_1' })

    expect(entry()).toMatchObject({
      runId: 'run_1',
      err: {
        name: 'Error',
        message: 'cannot write',
        stack: expect.stringContaining('logger.test.ts'),
        causes: [{ message: 'disk full', code: 'ENOSPC' }],
      },
    })
  })

  it.each([
    ['a string', 'boom', 'boom'],
    ['nothing', undefined, 'undefined'],
    ['an object', { a: 1 }, '{"a":1}'],
  ])('logs a thrown value: %s', (_, thrown, message) => {
    const { logger, entry } = recorder()
    logger.error('failed', thrown)

    expect(entry()).toMatchObject({ err: { message } })
  })

  it('logs circular causes and objects that cannot be serialized', () => {
    const { logger, written } = recorder()
    const circular: Record<string, unknown> = {}
    circular.self = circular
    const error = new Error('a')
    error.cause = error
    logger.error('failed', error)
    logger.error('failed', circular)

    expect(written).toHaveLength(2)
  })

  it('renames a field whose name is reserved', () => {
    const { logger, written, entry } = recorder()
    logger.info('hello', { msg: 'other', level: 5, error: 'auth-invalid' })

    expect(entry()).toMatchObject({ msg: 'hello', level: 'info', msg_: 'other', level_: 5, error: 'auth-invalid' })
    expect(written[0]!.match(/"msg"/g)).toHaveLength(1)
  })

  it('writes human-readable lines without JSON', () => {
    const { logger, written } = recorder({ json: false })
    logger.info('listening', { host: '127.0.0.1', port: 8080, note: 'two words' })

    expect(written[0]).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} info {2}listening host=127\.0\.0\.1 port=8080 note="two words"\n$/,
    )
  })

  it('writes the stack and the causes below the line', () => {
    const { logger, written } = recorder({ json: false })
    logger.error('failed', new Error('outer', { cause: new Error('inner') }))

    expect(written[0]).toMatch(/^\S+ error failed\n {2}Error: outer\n/)
    expect(written[0]).toContain('\n  caused by:\n  Error: inner\n')
  })

  it('prevents a message from forging a line or controlling the terminal', () => {
    const { logger, written } = recorder({ json: false })
    logger.info(`a\n00:00:00.000 error b${ESC}[2J\r`, { field: `c${ESC}[1m\nd\u009b` })

    expect(written[0]!.indexOf('\n')).toBe(written[0]!.length - 1)
    expect(written[0]).not.toMatch(new RegExp(`[${ESC}\\r\\u009b]`))
  })

  it('never writes text that looks like a token', () => {
    const token = fc
      .tuple(fc.constantFrom('live', 'test', 'local'), fc.stringMatching(/^\w{1,60}$/))
      .map(([env, secret]) => `perdure_${env}_v1_${secret}`)
    const text = fc
      .array(fc.oneof(token, fc.string(), fc.constantFrom('perdure_', 'live_', 'v1_', ESC)))
      .map((parts) => parts.join(''))

    fc.assert(
      fc.property(text, text, fc.boolean(), (message, detail, json) => {
        const { logger, written } = recorder({ json })
        logger.info(message, { detail, [`name ${detail}`]: 1 })
        logger.error(message, new Error(detail, { cause: detail }))

        expect(written.join('')).not.toMatch(TOKEN_PATTERN)
      }),
    )
  })

  it('shows where a token was removed', () => {
    const { logger, entry } = recorder()
    logger.info('caller sent perdure_live_v1_abc123 and left')

    expect(entry()).toMatchObject({ msg: 'caller sent [token] and left' })
  })
})
