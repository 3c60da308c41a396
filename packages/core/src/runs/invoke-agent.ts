import { AppError, fromJsonText, type JsonText, type Logger, type RunRecord, toJsonText } from '@berth/ports'
import type { AgentContext, AgentEvent, EmitOptions } from '../agents/agent.ts'
import type { RegisteredAgent } from '../agents/registry.ts'
import { isLongerThan } from '../json-members.ts'
import type { Emitter } from './emitter.ts'

export interface Invocation {
  readonly run: RunRecord
  readonly agent: RegisteredAgent
  readonly signal: AbortSignal
  readonly emitter: Emitter
  readonly logger: Logger
  readonly maxResultBytes: number
}

/** Calls the agent's code and returns its result as JSON text. @throws whatever the code throws; AppError `validation-failed` */
export async function invokeAgent(invocation: Invocation): Promise<JsonText> {
  const { run, agent, emitter, maxResultBytes } = invocation
  const started = agent.agent.run(fromJsonText(run.input), contextOf(invocation))
  const result = isGenerator(started) ? await consume(started, emitter) : await started
  return checkedResult(result, maxResultBytes)
}

function contextOf({ run, signal, emitter, logger }: Invocation): AgentContext {
  return {
    runId: run.id,
    agentId: run.targetId,
    sessionId: run.sessionId,
    userId: run.userId,
    attempt: run.attempt,
    traceparent: run.traceparent,
    metadata: run.metadata,
    signal,
    emit: (type, payload, options: EmitOptions = {}) => {
      try {
        return emitter.emit(type, payload, options.phase)
      } catch (error) {
        logger.error('event refused', error, { runId: run.id, type })
        return handledRejection(error)
      }
    },
    log: logger,
  }
}

/** A rejection that may stay unobserved: emitting need not be awaited. */
function handledRejection(error: unknown): Promise<never> {
  const rejection = Promise.reject(error)
  rejection.catch(() => undefined)
  return rejection
}

const EVENTS_AHEAD = 128

/** Emits what the generator yields, up to `EVENTS_AHEAD` events ahead of the log. */
async function consume(events: AsyncGenerator<AgentEvent, unknown, void>, emitter: Emitter): Promise<unknown> {
  for (let count = 1; ; count++) {
    const next = await events.next()
    if (next.done) return next.value
    const { type, payload, phase } = next.value
    const durable = emitter.emit(type, payload, phase)
    if (count % EVENTS_AHEAD === 0) await durable
  }
}

function isGenerator(value: unknown): value is AsyncGenerator<AgentEvent, unknown, void> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value && 'next' in value
}

function checkedResult(result: unknown, maxResultBytes: number): JsonText {
  const text = toJsonText(result)
  if (!isLongerThan(text, maxResultBytes)) return text
  throw new AppError('validation-failed', {
    message: `the result is longer than ${maxResultBytes} bytes`,
    hint: 'return a reference to it, or raise runs.maxResultBytes',
  })
}
