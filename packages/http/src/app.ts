import type { AppError } from '@berth/ports'
import { finishResponse, toResponse } from './answer.ts'
import { noteOf } from './answer-note.ts'
import { endWithCredential } from './credential-stream.ts'
import { toAppError, toErrorResponse } from './error-envelope.ts'
import { createExchange, type Exchange } from './exchange.ts'
import type { HttpAppDeps } from './http-app-deps.ts'
import type { HttpEnv } from './http-env.ts'
import { type Mounted, mountAll } from './mount.ts'
import { createPipeline } from './pipeline.ts'
import { createReporter } from './reporter.ts'
import { createRouter } from './router.ts'
import { agentRoutes } from './routes/agents.ts'
import { approvalRoutes } from './routes/approvals.ts'
import { auditRoutes } from './routes/audit.ts'
import { docsRoutes } from './routes/docs.ts'
import { healthRoutes } from './routes/health.ts'
import { metricRoutes } from './routes/metrics.ts'
import { namedEventRoutes } from './routes/named-events.ts'
import { runRoutes } from './routes/runs.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { tokenRoutes } from './routes/tokens.ts'
import { triggerRoutes } from './routes/triggers.ts'
import { workflowRoutes } from './routes/workflows.ts'

export interface HttpApp {
  /** Answers a request; never rejects. */
  fetch(request: Request, env?: HttpEnv): Promise<Response>
}

/** The REST face: every operation of the table, behind one pipeline. */
export function createHttpApp(deps: HttpAppDeps): HttpApp {
  const { clock, config, openRunStream, watchCredential, onAnswer } = deps
  const router = createRouter(config.basePath, mountRoutes(deps))
  const pipeline = createPipeline(deps)
  const reporter = createReporter(deps)

  return {
    async fetch(request, env = {}) {
      const exchange = createExchange(request, env, { router, startedMs: clock.monotonicMs() })
      const { response, error } = await guarded(exchange, async () => {
        const answer = await toResponse(exchange, await pipeline(exchange), openRunStream)
        return endWithCredential(answer, exchange.principal, watchCredential)
      })
      const sent = await guarded(exchange, async () => {
        await onAnswer?.(noteOf(exchange, { status: response.status, error }, deps))
        return response
      })
      if (sent.response !== response) await response.body?.cancel()
      reporter.answered(exchange, sent.response.status, sent.error ?? error)
      return finishResponse(exchange, sent.response)
    },
  }
}

interface Answered {
  readonly response: Response
  readonly error?: AppError
}

/** What is thrown becomes the answer. */
async function guarded(exchange: Exchange, work: () => Promise<Response>): Promise<Answered> {
  try {
    return { response: await work() }
  } catch (thrown) {
    const error = toAppError(thrown)
    return { response: toErrorResponse(error, exchange.requestId), error }
  }
}

function mountRoutes(deps: HttpAppDeps): readonly Mounted[] {
  const { docsEnabled, metricsEnabled } = deps.config
  const handlers = {
    agents: agentRoutes(deps),
    runs: runRoutes(deps),
    approvals: approvalRoutes(deps),
    audit: auditRoutes(deps),
    workflows: workflowRoutes(deps),
    sessions: sessionRoutes(deps),
    tokens: tokenRoutes(deps),
    triggers: triggerRoutes(deps),
    events: namedEventRoutes(deps),
    health: healthRoutes(deps),
    metrics: metricRoutes(deps),
    docs: docsRoutes(deps),
  }
  const switches: Readonly<Record<string, boolean>> = { docs: docsEnabled, metrics: metricsEnabled }
  return mountAll(handlers, (group) => switches[group] ?? true)
}
