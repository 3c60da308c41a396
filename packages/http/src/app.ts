import { finishResponse, toResponse } from './answer.ts'
import { endWithCredential } from './credential-stream.ts'
import { toAppError, toErrorResponse } from './error-envelope.ts'
import { createExchange } from './exchange.ts'
import type { HttpAppDeps } from './http-app-deps.ts'
import type { HttpEnv } from './http-env.ts'
import { type Mounted, mountAll } from './mount.ts'
import { createPipeline } from './pipeline.ts'
import { createReporter } from './reporter.ts'
import { createRouter } from './router.ts'
import { agentRoutes } from './routes/agents.ts'
import { approvalRoutes } from './routes/approvals.ts'
import { consolidatorRoutes } from './routes/consolidator.ts'
import { docsRoutes } from './routes/docs.ts'
import { healthRoutes } from './routes/health.ts'
import { memoryRoutes } from './routes/memory.ts'
import { metricRoutes } from './routes/metrics.ts'
import { namedEventRoutes } from './routes/named-events.ts'
import { runRoutes } from './routes/runs.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { tokenRoutes } from './routes/tokens.ts'
import { workflowRoutes } from './routes/workflows.ts'

export interface HttpApp {
  /** Answers a request; never rejects. */
  fetch(request: Request, env?: HttpEnv): Promise<Response>
}

/** The REST face: every operation of the table, behind one pipeline. */
export function createHttpApp(deps: HttpAppDeps): HttpApp {
  const { clock, config, openRunStream, watchCredential } = deps
  const router = createRouter(config.basePath, mountRoutes(deps))
  const pipeline = createPipeline(deps)
  const reporter = createReporter(deps)

  return {
    async fetch(request, env = {}) {
      const exchange = createExchange(request, env, { router, startedMs: clock.monotonicMs() })
      try {
        const answer = await toResponse(exchange, await pipeline(exchange), openRunStream)
        const response = endWithCredential(answer, exchange.principal, watchCredential)
        reporter.answered(exchange, response.status, undefined)
        return finishResponse(exchange, response)
      } catch (thrown) {
        const error = toAppError(thrown)
        const response = toErrorResponse(error, exchange.requestId)
        reporter.answered(exchange, response.status, error)
        return finishResponse(exchange, response)
      }
    },
  }
}

function mountRoutes(deps: HttpAppDeps): readonly Mounted[] {
  const { docsEnabled, metricsEnabled } = deps.config
  const handlers = {
    agents: agentRoutes(deps),
    runs: runRoutes(deps),
    approvals: approvalRoutes(deps),
    workflows: workflowRoutes(deps),
    sessions: sessionRoutes(deps),
    tokens: tokenRoutes(deps),
    memory: memoryRoutes(deps),
    consolidator: consolidatorRoutes(deps),
    events: namedEventRoutes(deps),
    health: healthRoutes(deps),
    metrics: metricRoutes(deps),
    docs: docsRoutes(deps),
  }
  const switches: Readonly<Record<string, boolean>> = { docs: docsEnabled, metrics: metricsEnabled }
  return mountAll(handlers, (group) => switches[group] ?? true)
}
