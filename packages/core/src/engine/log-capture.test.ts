import { createInMemoryStorage } from '@perdure/in-memory'
import { EVERY_ROW, utf8Length } from '@perdure/ports'
import { createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { processes, startFlow } from '../durable/processes.fixture.ts'
import { parsedItems } from '../json/page-items.fixture.ts'
import type { RunContext } from '../targets/run-context.ts'
import { agentOf, createTestEngine, outcomeOf, untilIdle } from './test-engine.fixture.ts'

type Engine = ReturnType<typeof createTestEngine>

interface Line {
  readonly eventId: string
  readonly level: string
  readonly message: string
  readonly fields?: object
}

const PAGE = { limit: 200, order: 'asc' } as const

async function linesOf({ readRuns }: Pick<Engine, 'readRuns'>, runId: string, over = {}) {
  const lines: Line[] = []
  let cursor: string | undefined
  do {
    const page = await readRuns.logs({ runId, ...over }, { ...PAGE, cursor }, EVERY_ROW)
    lines.push(...(await parsedItems(page.items)))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return lines
}

const messagesOf = async (engine: Engine, runId: string) => (await linesOf(engine, runId)).map(({ message }) => message)

async function logged(code: (context: RunContext) => unknown, over = {}) {
  const engine = createTestEngine({ agents: [agentOf('talks', async (_, context) => void code(context))], ...over })
  const { runId } = outcomeOf(await engine.run('talks'))
  return { engine, runId, lines: await linesOf(engine, runId) }
}

describe('the captured log of a run', () => {
  it('contains every line with its level, message and fields, in the order of the events', async () => {
    const { engine, runId, lines } = await logged(({ log, emit }) => {
      log.debug('a')
      void emit('note.one', {})
      log.info('b', { size: 1, ok: true })
      log.warn('c')
      log.error('d', new TypeError('broken'), { at: 'x' })
    })

    expect(lines).toMatchObject([
      { level: 'debug', message: 'a' },
      { level: 'info', message: 'b', fields: { size: 1, ok: true } },
      { level: 'warn', message: 'c' },
      { level: 'error', message: 'd', fields: { error: 'TypeError: broken', at: 'x' } },
    ])
    expect(lines[0]).not.toHaveProperty('fields')
    expect((await engine.eventsOf(runId)).map(({ type }) => type).slice(1, -1)).toEqual([
      ...['run.log', 'note.one', 'run.log', 'run.log', 'run.log'],
    ])
  })

  it('is empty when capturing is off', async () => {
    const { engine, runId, lines } = await logged(({ log }) => log.info('a'), { captureLogs: false })

    expect(lines).toEqual([])
    expect((await engine.eventsOf(runId)).map(({ type }) => type)).not.toContain('run.log')
  })

  it('filters by the least severe level, also across pages', async () => {
    const { engine, runId } = await logged(({ log }) => {
      for (let n = 0; n < 300; n++) log[n % 100 === 99 ? 'warn' : 'info'](`${n}`)
      log.error('300', 'broken')
    })

    const warned = await linesOf(engine, runId, { level: 'warn' })
    expect(warned.map(({ message }) => message)).toEqual(['99', '199', '299', '300'])
    const first = await engine.readRuns.logs({ runId, level: 'warn' }, { limit: 2, order: 'desc' }, EVERY_ROW)
    expect(((await parsedItems(first.items)) as Line[]).map(({ message }) => message)).toEqual(['300', '299'])
    expect(first.nextCursor).not.toBeNull()
  })

  it('does not repeat the lines that a re-execution writes again', async () => {
    const begin = processes()
    const code = async ({ log, sleep }: RunContext) => {
      log.info('before')
      await sleep('a', 1_000)
      log.info('between')
      await sleep('b', 1_000)
      log.info('after')
    }
    const engine = await begin(code)
    const runId = await startFlow(engine)
    await engine.advance(1_000)
    const second = await begin(code)
    await second.advance(1_000)

    expect(await messagesOf(second, runId)).toEqual(['before', 'between', 'after'])
  })

  it('keeps 1,000 lines of a run, over all of its executions, and then says so once', async () => {
    const begin = processes()
    const code = async ({ log, sleep }: RunContext) => {
      for (let n = 0; n < 400; n++) log.info(`first ${n}`)
      await sleep('a', 1_000)
      for (let n = 0; n < 400; n++) log.info(`second ${n}`)
      await sleep('b', 1_000)
      for (let n = 0; n < 400; n++) log.info(`third ${n}`)
    }
    const engine = await begin(code)
    const runId = await startFlow(engine)
    await engine.advance(1_000)
    await (await begin(code)).advance(1_000)

    const messages = await messagesOf(engine, runId)
    expect(messages).toHaveLength(1_001)
    expect(messages.slice(-2)).toEqual(['third 199', expect.stringContaining('more than 1000 log lines')])
  })

  it('counts the lines of a run whose first execution ended exactly at the limit', async () => {
    const begin = processes()
    const code = async ({ log, sleep }: RunContext) => {
      for (let n = 0; n < 1_001; n++) log.info(`${n}`)
      await sleep('a', 1_000)
      log.info('too late')
    }
    const engine = await begin(code)
    const runId = await startFlow(engine)
    await (await begin(code)).advance(1_000)

    expect(await linesOf(engine, runId)).toHaveLength(1_001)
  })

  it('truncates a long line to 8 KiB and marks it', async () => {
    const { engine, runId, lines } = await logged(({ log }) => {
      log.info('ü'.repeat(100_000), { size: 1 })
      log.info('short', { text: '"'.repeat(9_000) })
      log.info('\u0000'.repeat(8_000))
    })

    const marked = expect.stringMatching(/… \[truncated\]$/)
    expect(lines).toMatchObject([{ message: marked, fields: { size: 1 } }, { message: marked }, { message: marked }])
    expect(lines[1]).not.toHaveProperty('fields')
    const sizes = (await engine.eventsOf(runId)).map(({ payload }) => utf8Length(payload))
    expect(Math.max(...sizes)).toBeLessThanOrEqual(8_192)
  })

  it('accepts a message and fields that are not JSON', async () => {
    const { lines } = await logged(({ log }) => {
      log.info(7 as never)
      log.info('big', { n: 1n } as never)
    })

    expect(lines.map(({ message }) => message)).toEqual(['7', 'big… [truncated]'])
  })

  it('redacts credentials on delivery', async () => {
    const { lines } = await logged(({ log }) => log.info('sent Authorization: Bearer abcdefghijklmnopqrstuvwxyz123456'))

    expect(lines[0]?.message).toContain('[redacted')
  })

  it('ignores lines that code writes after its run has ended', async () => {
    let late: RunContext | undefined
    const { engine, runId } = await logged((context) => {
      late = context
    })
    late?.log.info('late')
    await untilIdle(engine.clock)

    expect(await linesOf(engine, runId)).toEqual([])
  })

  it('survives a crash: the lines of the new attempt follow those of the first', async () => {
    const shared = { storage: createInMemoryStorage(), clock: createManualClock(), ids: createSequenceIds() }
    const { promise: never } = Promise.withResolvers<void>()
    const engineOf = (isStuck: boolean) =>
      createTestEngine({
        ...shared,
        agents: [
          agentOf(
            'crashes',
            async (_, { attempt, log }) => {
              log.info(`attempt ${attempt}`)
              if (isStuck) await never
            },
            { onCrash: 'retry' },
          ),
        ],
      })
    const first = engineOf(true)
    const { runId } = outcomeOf(await first.run('crashes', { answer: 'accepted' }))
    await untilIdle(shared.clock)
    const second = engineOf(false)
    await second.recover()
    await second.start()
    await second.advance(0)

    expect(await messagesOf(second, runId)).toEqual(['attempt 1', 'attempt 2'])
  })
})
