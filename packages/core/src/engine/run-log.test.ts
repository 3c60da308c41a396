import type { LogFields, Logger } from '@perdure/ports'
import { describe, expect, it } from 'vitest'
import { agentOf, createTestEngine, outcomeOf } from './test-engine.fixture.ts'

const TRACE = 'a'.repeat(32)
const traceparent = `00-${TRACE}-${'b'.repeat(16)}-01`

function recorder() {
  const lines: { readonly message: string; readonly fields: LogFields | undefined }[] = []
  const record = (message: string, fields?: LogFields) => void lines.push({ message, fields })
  const logger: Logger = {
    debug: record,
    info: record,
    warn: record,
    error: (message, _, fields) => record(message, fields),
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

  it('records the identifier of an error, not its message', async () => {
    const { logger, lines } = recorder()
    const fail = () => Promise.reject(Object.assign(new Error('key sk-private refused'), { code: 'quota' }))
    const engine = createTestEngine({ logger, agents: [agentOf('fails', fail)] })

    await engine.run('fails')

    expect(lines.at(-1)).toMatchObject({ message: 'run failed', fields: { error: 'quota' } })
    expect(JSON.stringify(lines)).not.toContain('sk-private')
  })

  it('includes lines that the code of the run writes, always with the real run id', async () => {
    const { logger, lines } = recorder()
    const talk = agentOf('talk', async (_, { log }) => log.warn('hello', { runId: 'forged', size: 1 }))
    const engine = createTestEngine({ logger, agents: [talk] })

    const { runId } = outcomeOf(await engine.run('talk', { traceparent }))

    expect(lines).toContainEqual({ message: 'hello', fields: { size: 1, runId, traceId: TRACE } })
  })
})
